// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Synchronization

/// Keeps a running coordinator on the configuration that is on disk: reads it again on SIGHUP, and when the file
/// changes.
///
/// On SIGHUP the file is looked for anew, as at the start. A change is one of the file that is in use: while that is
/// gone, or holds errors, the configuration that runs stays. Nothing happens here while nothing happens to the file.
final class ConfigurationFollower: Sendable {
    private struct State: Sendable {
        var configuration: LoadedConfiguration
        var standing: ConfigurationStanding
        var watcher: ConfigurationWatcher?
        /// Kept for `serviceKey`.
        var serviceKey: String?
        /// Waits until it is quiet.
        var quiet: Task<Void, Never>?
        /// When the first of the changes came that are waited upon.
        var firstChange: MonotonicTime?
    }

    /// How long nothing may happen to the file before it is read: an editor renames, creates and writes.
    private static let quietTime: Duration = .milliseconds(100)
    /// When it is read even if it never is quiet.
    private static let patience: Duration = .seconds(1)

    private let coordinator: PathCoordinator
    private let loop: EventLoop
    private let watchesFile: Bool
    /// Finds, reads and checks a configuration: the file at a path, or, without one, whichever is found.
    private let load: @Sendable (_ path: String?) throws(ConfigurationError) -> LoadedConfiguration
    private let onChange: @Sendable (LoadedConfiguration) -> Void
    private let onStanding: @Sendable (ConfigurationStanding) -> Void
    private let log: MessageLog
    private let state: Mutex<State>

    /// Starts to follow.
    ///
    /// - Parameters:
    ///   - configuration: What the coordinator runs with.
    ///   - options: What the command line says besides.
    ///   - coordinator: Where a new configuration is put in force.
    ///   - loop: Waits for the file; its thread does all the work.
    ///   - watchesFile: Whether to read it again when its file changes too, and not only on SIGHUP.
    ///   - refusal: What is wrong with the one on disk, in place of which the coordinator runs with another one.
    ///   - log: Receives what happened, and gets the level of the new configuration.
    ///   - adapt: Changes each new configuration as the first one was.
    ///   - onChange: Receives each configuration that is put in force, on the thread of the loop.
    ///   - onStanding: Receives what is said of it, whenever the one on disk was accepted or refused, likewise.
    init(
        _ configuration: LoadedConfiguration,
        _ options: GlobalOptions,
        _ coordinator: PathCoordinator,
        loop: EventLoop,
        watchesFile: Bool = true,
        refusal: ConfigurationError? = nil,
        log: MessageLog,
        adapt: @escaping @Sendable (LoadedConfiguration) -> LoadedConfiguration = { $0 },
        onChange: @escaping @Sendable (LoadedConfiguration) -> Void = { _ in },
        onStanding: @escaping @Sendable (ConfigurationStanding) -> Void = { _ in }
    ) {
        self.coordinator = coordinator
        self.loop = loop
        self.onChange = onChange
        self.onStanding = onStanding
        self.log = log
        self.watchesFile = watchesFile
        let context = ToolContext.current
        let (named, overrides) = (options.configurationPath, options.settings.overrides)
        self.load = { path throws(ConfigurationError) in
            try adapt(context.configuration(at: path ?? named, overrides: overrides))
        }
        let watcher = watchesFile ? configuration.path.flatMap(ConfigurationWatcher.init) : nil
        var standing = ConfigurationStanding(configuration, at: ClockReading.now().wall)
        if let refusal { standing.refuse(refusal) }
        self.state = Mutex(State(configuration: configuration, standing: standing, watcher: watcher))
        loop.watch(file: watcher?.fileDescriptor)
    }

    /// The configuration that is in force.
    var configuration: LoadedConfiguration { self.state.withLock { $0.configuration } }
    /// What is said of it, and of the one on disk; from any thread.
    var standing: ConfigurationStanding { self.state.withLock { $0.standing } }

    /// What a question and a service have to have in common: made once for each configuration, not for every question.
    var serviceKey: String? {
        self.state.withLock { state in
            if state.serviceKey == nil { state.serviceKey = state.configuration.serviceKey }
            return state.serviceKey
        }
    }

    /// Does what the thread of the loop was woken for.
    func handle(_ reasons: LoopWakeUp.Reasons) {
        if reasons.contains(.file) { self.await() }
        if reasons.contains(.reload) { self.reload(path: nil) }
    }

    private func await() {
        let now = self.loop.now()
        self.state.withLock { state in
            guard state.watcher?.takeChanges() == true else { return }
            let first = state.firstChange ?? now
            state.firstChange = first
            state.quiet?.cancel()
            let deadline = min(now + Self.quietTime, first + Self.patience)
            state.quiet = Task(executorPreference: self.loop) { [weak self, loop = self.loop] in
                do { try await loop.sleep(until: deadline) } catch { return }
                guard let self else { return }
                self.reload(path: self.configuration.path)
            }
        }
    }

    private func reload(path: String?) {
        let old = self.state.withLock { state in
            state.quiet?.cancel()
            state.quiet = nil
            state.firstChange = nil
            return state.configuration
        }
        let new: LoadedConfiguration
        do throws(ConfigurationError) {
            new = try self.load(path)
        } catch {
            // Without the quoted lines: in a live view each message has one row.
            for line in error.lines { self.log.write(.error, "the old configuration stays in force: \(line)") }
            self.state.withLock { $0.standing.refuse(error) }
            return self.onStanding(self.standing)
        }
        // Editors and tools empty a file before they write it: only the start, or SIGHUP, takes that for the default.
        let emptied = new.emptyFiles.subtracting(old.emptyFiles).sorted().first { file in
            file == old.path || old.dropIns.contains(file)
        }
        if path != nil, let emptied {
            return self.log.write(
                .warning,
                "the old configuration stays in force: \(emptied) is empty; send SIGHUP to use it anyway"
            )
        }
        let reload = ConfigurationReload(from: old, to: new)
        let wasRefused = self.standing.refusal != nil
        // Before it is said to be in force.
        reload.apply(to: self.coordinator)
        self.state.withLock { state in
            state.configuration = new
            state.serviceKey = nil
            let refusals = state.standing.refusals
            state.standing = ConfigurationStanding(new, at: ClockReading.now().wall, refusals: refusals)
            guard self.watchesFile, new.path != old.path else { return }
            state.watcher = new.path.flatMap(ConfigurationWatcher.init)
            self.loop.watch(file: state.watcher?.fileDescriptor)
        }
        self.log.level = new.logLevel
        self.onChange(new)
        self.onStanding(self.standing)
        // Who was told of a refusal is told of its end.
        let end = wasRefused ? "; it is valid again and in use" : ""
        self.log.write(wasRefused ? .warning : .info, "configuration read again from \(new.origin): \(reload)\(end)")
    }
}

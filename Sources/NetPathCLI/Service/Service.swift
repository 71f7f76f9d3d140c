// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathRecording
import NetPathSystem
import Synchronization

/// The long-running monitor: one coordinator, and those who are told of its paths.
final class Service {
    /// How old the last line of the recording becomes while nothing happens, where the watchdog is asked for as often.
    private static let lifeInterval: Duration = .seconds(90)

    private let context: ToolContext
    private let lock: ProcessLock
    private let loop: EventLoop
    private let manager: ServiceManager
    private let coordinator: PathCoordinator
    private let announcement: Announcement
    private let follower: ConfigurationFollower
    private let recorder: Recorder?
    private let hooks: HookRunner
    private let socket: ServiceSocket

    /// Prepares everything; nothing runs yet.
    ///
    /// - Throws: ``ToolFailure`` when another one runs there, or `SystemError`.
    init(
        _ configuration: LoadedConfiguration,
        refusal: ConfigurationError? = nil,
        options: GlobalOptions,
        folders: ServiceFolders
    ) throws {
        self.context = ToolContext.current
        self.lock = try folders.takeLock()
        let loop = try EventLoop()
        self.loop = loop
        self.loop.wakeUp.stopAndReloadOnSignals()
        self.manager = ServiceManager(self.context.environment)
        let log = self.context.log(from: configuration.logLevel)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.keepTally()
        self.coordinator = coordinator
        let recording = configuration.record.isOn ? configuration.record.folder ?? folders.recording : nil
        self.recorder = try recording.map { folder in
            try Recorder(
                coordinator,
                to: RecordingStore(folder: folder),
                configuration,
                isRequired: false,
                loop: loop,
                log: log.write
            )
        }
        // How hooks end is told however little messages matter otherwise.
        let hookLog = self.context.log(from: min(configuration.logLevel, .info)).write
        let usualFolder = folders.runtime == ServiceFolders.system.runtime ? HookFolder.usual : nil
        let hooks = try HookRunner(
            configuration.allHooks(usualFolder: usualFolder, log: hookLog),
            loop: loop,
            log: hookLog
        )
        self.hooks = hooks
        let lastGood = LastGoodConfiguration(folder: folders.state)
        let keep = { @Sendable (configuration: LoadedConfiguration) in
            do throws(SystemError) { try lastGood.keep(configuration) } catch {
                log.write(.warning, "\(error); a start with a refused configuration uses the previous one")
            }
        }
        if refusal == nil { keep(configuration) }
        for line in refusal?.lines ?? [] { log.write(.error, "\(configuration.origin) is in force instead: \(line)") }
        let announcement = Announcement(self.manager)
        self.announcement = announcement
        self.follower = ConfigurationFollower(
            configuration,
            options,
            coordinator,
            loop: loop,
            refusal: refusal,
            log: log,
            onChange: { [recorder] configuration in
                keep(configuration)
                recorder?.setConfiguration(configuration.effective.text)
                hooks.apply(configuration.allHooks(usualFolder: usualFolder, log: hookLog))
            },
            onStanding: { announcement.tell(remark: $0.remark) }
        )
        announcement.tell(remark: self.follower.standing.remark)
        let answers = ServiceAnswers(
            coordinator: coordinator,
            recording: recording,
            recorder: self.recorder,
            follower: self.follower,
            hooks: self.hooks
        )
        self.socket = try ServiceSocket(at: folders.socket) { answers.answer($0, for: $1) }
    }

    /// Runs until a signal ends it.
    ///
    /// - Throws: `SystemError`.
    func run() throws {
        let latest = Mutex<NetworkPath?>(nil)
        self.coordinator.subscribe { [context, announcement, socket, hooks] path in
            let snapshot = StatusSnapshot.now(path, path.backends)
            hooks.show(snapshot)
            let previous = latest.withLock { exchange(&$0, with: path) }
            if previous.map(\.headline) != path.headline {
                context.tell(path.headline, of: path.status)
                announcement.tell(headline: path.headline)
            }
            if socket.isWatched { socket.publish(snapshot.jsonLine, sequence: path.sequence) }
        }
        self.coordinator.start()
        defer { self.stop() }
        guard self.socket.start() else { throw SystemError.last("cannot start a thread") }
        // There is an answer as soon as the first backend has reported, which systemd need not wait for.
        self.manager.tell("READY=1")
        var nextPing = self.manager.watchdogInterval.map { self.loop.now() + $0 }
        var life = self.loop.now()
        while true {
            let reasons = self.loop.reasons(limit: nextPing.map { max(.zero, $0 - self.loop.now()) })
            if reasons.contains(.stop) { return }
            if !reasons.isDisjoint(with: [.reload, .file]) { self.reload(reasons) }
            if let interval = self.manager.watchdogInterval, let due = nextPing, due <= self.loop.now() {
                // A service that cannot tell the path, or does not answer, is not alive.
                _ = self.coordinator.path
                self.socket.confirm { [manager] in manager.tell("WATCHDOG=1") }
                // As seldom as it suffices: each one has the disk written to.
                if due + interval > life + Self.lifeInterval {
                    life = due
                    self.recorder?.flush(isLife: true)
                }
                nextPing = self.loop.now() + interval
            }
        }
    }

    private func reload(_ reasons: LoopWakeUp.Reasons) {
        if reasons.contains(.reload) {
            self.manager.tell("RELOADING=1", "MONOTONIC_USEC=\(self.loop.now().nanoseconds / 1_000)")
        }
        self.follower.handle(reasons)
        if reasons.contains(.reload) { self.manager.tell("READY=1") }
    }

    private func stop() {
        self.manager.tell("STOPPING=1")
        self.socket.stop()
        self.loop.stop(self.coordinator)
        self.hooks.stop(within: .seconds(2))
        self.recorder?.stop()
    }
}

/// What the service manager shows: the path, and what is said of the configuration.
private final class Announcement: Sendable {
    private let manager: ServiceManager
    private let state = Mutex<(headline: String?, remark: String?)>((nil, nil))

    init(_ manager: ServiceManager) {
        self.manager = manager
    }

    func tell(headline: String) { self.tell { $0.headline = headline } }

    func tell(remark: String?) { self.tell { $0.remark = remark } }

    private func tell(_ change: (inout (headline: String?, remark: String?)) -> Void) {
        let parts = self.state.withLock { state in
            change(&state)
            return [state.headline, state.remark].compactMap(\.self)
        }
        if !parts.isEmpty { self.manager.tell("STATUS=\(parts.joined(separator: "; "))") }
    }
}

extension Recorder {
    /// Reads the clocks of the machine.
    @Sendable static func clocks() -> RecorderClocks {
        let now = ClockReading.now()
        return (now.monotonic, now.wall.nanoseconds, max(0, SystemClock.timeAsleep().inNanoseconds))
    }

    /// Records for a program that has a loop.
    convenience init(
        _ coordinator: PathCoordinator,
        to store: RecordingStore,
        _ configuration: LoadedConfiguration,
        isRequired: Bool,
        loop: EventLoop,
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) throws {
        try self.init(
            coordinator,
            to: store,
            header: RecordingHeader(
                netpath: netPathVersion,
                boot: SystemClock.boot,
                configuration: configuration.effective.text
            ),
            isRequired: isRequired,
            now: Self.clocks,
            log: log,
            schedule: { delay, work in
                Task(executorPreference: loop) {
                    try? await loop.sleep(until: .now() + delay)
                    work()
                }
            }
        )
    }
}

extension NetworkPath {
    /// The path on a line of a log.
    fileprivate var headline: String {
        // Without a path the first is only the first of the list, and the sentence names the one that matters.
        let first = self.status == .satisfied ? self.interfaces.first : nil
        let carrier = first.map { " [\($0.name), \($0.type.rawValue)]" } ?? ""
        return "\(self.status.rawValue): \(self.sentence)\(carrier)" + (self.isStale ? " (stale)" : "")
    }
}

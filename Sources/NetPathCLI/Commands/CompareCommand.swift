// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import Synchronization

/// `netpath compare`.
struct CompareCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Show what each backend reports side by side, where they differ, and why they can.",
        discussion: """
            Runs every configured backend, those on standby too, but not those that are off. Without --live and --for it \
            waits until each has reported once and shows the result; with them it follows every change, a line for each.

            '!' marks what differs from the first backend that has a verdict. 'Noticed' is how long after the first \
            backend another one noticed the present status.

            With --for it ends with a summary, and Ctrl-C ends it early, also with a summary. A change begins when one \
            backend's status changes. Every other backend that has a verdict then sees it if its own status changes in \
            the same way, within 5 s or before anything else changes; the time until then is its delay. Otherwise it \
            has missed the change. A transition is false when the backend takes it back within 5 s, no other backend \
            made it, and another one reported the old status in between.

            The exit status is 0 when all backends that have a verdict agree about the status, at the end if they are \
            followed, 1 when they do not, 69 when none has one. A comparison with --live alone ends with 0.
            """
    )

    @Flag(help: "Follow every change until a signal ends it.")
    var live = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Follow every change for this long, for example 10m, and end with a summary.",
            valueName: "duration"
        )
    )
    var duration: TimeLimit?

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let configuration = try self.options.runnableConfiguration(\.comparing)
        return self.live || self.duration != nil ? try self.follow(configuration) : try self.ask(configuration)
    }

    // MARK: Once

    private func ask(_ configuration: LoadedConfiguration) throws -> ToolStatus {
        let inquiry = try OneShotCommand.askBackends(of: configuration, limit: self.timeout.timeout.duration)
        inquiry.noteSilence()
        let snapshot = inquiry.snapshot
        var recorder = ComparisonRecorder(configured: configuration.backends)
        let comparison = recorder.record(inquiry.snapshots, path: snapshot.path, at: snapshot.takenAt)
        try self.options.write(comparison.document, or: comparison.screen)
        return ToolStatus(agreement: comparison.agreement)
    }

    // MARK: Following

    private func follow(_ configuration: LoadedConfiguration) throws -> ToolStatus {
        let loop = try EventLoop()
        loop.wakeUp.stopAndReloadOnSignals()
        guard let descriptor = try WatchDescriptor.ofReader() else { return .satisfied }
        let start = loop.now()
        if let duration = self.duration { loop.stop(at: start + duration.duration) }

        let isJSON = self.options.json
        let output = WatchOutput<Comparison>(descriptor, loop: loop) { comparison, previous in
            if !isJSON { return comparison.lines(since: previous) { $0.local } }
            return comparison == previous ? "" : comparison.document.line + "\n"
        }
        let log = ToolContext.current.log(from: configuration.logLevel)
        let recorder = Mutex(ComparisonRecorder(configured: configuration.backends))
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.subscribeSnapshots { [weak coordinator] snapshots in
            let path = coordinator?.path
            output.show(recorder.withLock { $0.record(snapshots, path: path, at: .now()) })
        }
        let follower = ConfigurationFollower(configuration, self.options, coordinator, loop: loop, log: log) { new in
            recorder.withLock { $0.configured = new.backends }
            return new.comparing
        }
        coordinator.start()
        defer { coordinator.stop() }

        // A backend that stays silent fails, which has a line of its own.
        let end = output.run(onWakeUp: follower.handle, onSilence: {})
        if case .failed(let error) = end { throw error }
        guard self.duration != nil, end != .readerGone else { return .satisfied }
        let (result, now) = (recorder.withLock { $0 }, ClockReading.now())
        try self.options.write(result.tally.document(since: start, at: now)) {
            result.tally.screen($0, since: start, at: now.monotonic)
        }
        return ToolStatus(agreement: result.latest?.agreement)
    }
}

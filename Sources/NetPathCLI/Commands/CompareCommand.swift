// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration

/// `netpath compare`.
struct CompareCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Show what each backend reports side by side, where they differ, and why they can.",
        discussion: """
            Runs every configured backend, those on standby too, but not those that are off. Without --live and --for it \
            waits until each has reported once and shows the result; with them it follows every change, a line for each.

            '!' marks what differs from the first backend that has a verdict. 'Behind' is how long after the first \
            backend another one noticed the present status.

            With --for it ends with a summary. A change begins when a backend goes over to another status; the same \
            transition of another backend belongs to it while the change is the latest one, or began no longer than 5 s \
            ago. A backend has seen a change when its own transition belongs to it, and its delay is the time since the \
            change began. It has missed the change when it had a verdict at the time and its transition has not come \
            within 5 s, unless it comes later and nothing else has changed since. A transition is false when the backend \
            takes it back within 5 s, no other has shared it, and another has reported in between that it was not so. \
            Ctrl-C ends the comparison with the summary so far.

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
        let configuration = try self.options.configuration().comparing
        try ToolContext.current.becomeProgram(running: configuration)
        return self.live || self.duration != nil ? try self.follow(configuration) : try self.ask(configuration)
    }

    // MARK: Once

    private func ask(_ configuration: LoadedConfiguration) throws -> ToolStatus {
        let loop = try EventLoop()
        let recorder = ComparisonRecorder(types: configuration.types)
        let log = ToolContext.current.log(from: .error)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.subscribeSnapshots { _ = recorder.record($0, path: nil, at: .now()) }
        let inquiry = OneShotCommand.ask(coordinator, on: loop, limit: self.timeout.timeout.duration)
        inquiry.noteSilence()
        let snapshot = inquiry.snapshot
        let comparison = recorder.record(inquiry.snapshots, path: snapshot.path, at: snapshot.takenAt)
        try self.options.write(comparison.document, or: comparison.screen)
        return ToolStatus(agreement: comparison.agreement)
    }

    // MARK: Following

    private func follow(_ configuration: LoadedConfiguration) throws -> ToolStatus {
        let context = ToolContext.current
        let loop = try EventLoop()
        loop.wakeUp.stopAndReloadOnSignals()
        guard let descriptor = try WatchDescriptor.ofReader() else { return .satisfied }
        let start = loop.now()
        let end = self.duration.map { start + $0.duration }

        let isJSON = self.options.json
        let output = WatchOutput<Comparison>(descriptor, loop: loop) { comparison, previous in
            isJSON ? comparison.document.line + "\n" : comparison.lines(since: previous) { $0.local }
        }
        let log = context.log(from: configuration.logLevel)
        let recorder = ComparisonRecorder(types: configuration.types)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.subscribeSnapshots { [weak coordinator] snapshots in
            let earlier = recorder.latest
            let comparison = recorder.record(snapshots, path: coordinator?.path, at: .now())
            let isNews = isJSON ? comparison != earlier : !comparison.changes(since: earlier).isEmpty
            if isNews { output.show(comparison) }
        }
        let follower = ConfigurationFollower(
            configuration,
            self.options,
            coordinator,
            loop: loop,
            log: log,
            adapt: { configuration in
                recorder.adapt(to: configuration.types)
                return configuration.comparing
            }
        )
        if let end { loop.stop(at: end) }
        coordinator.start()
        defer { coordinator.stop() }

        let outcome = output.run(onWakeUp: follower.handle) {
            let message = WatchCommand.silenceMessage(coordinator.snapshots.map(\.report))
            context.note("\(context.name): \(message)")
        }
        if case .failed(let error) = outcome { throw error }
        guard self.duration != nil, outcome != .readerGone else { return .satisfied }
        let (tally, now) = (recorder.tally, ClockReading.now())
        try self.options.write(tally.document(since: start, at: now)) {
            tally.screen($0, since: start, at: now.monotonic)
        }
        return ToolStatus(agreement: recorder.latest?.agreement)
    }
}

extension LoadedConfiguration {
    /// The type of each backend by its name.
    fileprivate var types: [String: String] {
        Dictionary(self.backends.map { ($0.name, $0.type) }) { first, _ in first }
    }
}

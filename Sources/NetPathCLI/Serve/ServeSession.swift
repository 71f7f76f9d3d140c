// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// What is served: the paths of the service, or, where none runs, those of a coordinator of its own.
package final class ServeSession: Sendable {
    /// The state to begin with: a line of JSON.
    package let document: [UInt8]
    /// The families of metrics; `netpath_up 0` alone when the service does not answer.
    ///
    /// Callable from any thread, like what follows.
    package let metrics: @Sendable (_ isOpenMetrics: Bool) -> [UInt8]
    /// What explains the path.
    package let details: @Sendable () -> [UInt8]?
    /// Whether the service is asked.
    package var isAttached: Bool { self.coordinator == nil }

    private let context = ToolContext.current
    private let loop: EventLoop
    private let source: RecordingOptions
    /// Where the configuration has the service record; nil where services usually do.
    private let recordingFolder: String?
    private let places: [ServiceFolders]
    private let coordinator: PathCoordinator?
    private let configuration: ConfigurationFollower?

    /// Looks for the service, and makes a coordinator where there is none; nothing is watched yet.
    ///
    /// - Throws: `ConfigurationError`, `SystemError`, or ``ToolFailure``.
    package init(_ command: ServeCommand) throws {
        let loop = try EventLoop()
        loop.wakeUp.stopAndReloadOnSignals()
        self.loop = loop
        self.source = command.source
        let places = ServiceFolders.places(of: self.context.environment)
        self.places = places
        let answer = command.standalone ? nil : try ServiceClient(places)?.ask(.status)
        if let answer {
            self.context.noteNamespace(ofStatus: answer)
            // Metrics of a service tell of a configuration that is refused, and do not need it.
            self.recordingFolder = try? command.options.recordingFolder()
            self.document = answer
            (self.coordinator, self.configuration) = (nil, nil)
            self.metrics = {
                ServiceFollower.text(in: ServiceFollower.ask(.metrics(isOpenMetrics: $0), of: places))
                    ?? MetricsText.down(isOpenMetrics: $0)
            }
            self.details = { ServiceFollower.ask(.details, of: places) }
            return
        }
        let configuration = try command.standingConfiguration()
        self.recordingFolder = configuration.record.folder
        if let backend = configuration.backends.first(where: { $0.mode != .off && $0.program != nil }) {
            throw ToolFailure(
                .failure,
                """
                no service runs, and this program lacks what the backend '\(backend.name)' of type \(backend.type) sends \
                with: start 'netpath run', which has it, or switch it off with --set backends.\(backend.name).mode=off
                """
            )
        }
        let log = self.context.log(from: configuration.logLevel)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.keepTally()
        self.coordinator = coordinator
        let follower = ConfigurationFollower(configuration, command.options, coordinator, loop: loop, log: log)
        self.configuration = follower
        self.document = StatusSnapshot.now(nil, []).jsonLine
        self.metrics = {
            coordinator.metrics(isOpenMetrics: $0, targets: follower.configuration.probeTargets)
        }
        self.details = { Array(coordinator.details(follower.configuration.evaluation).line.utf8) }
    }

    /// What is recorded of the last hours, as `history --json` has it; nil when there is no recording.
    ///
    /// - Parameters:
    ///   - hours: How many.
    ///   - withMessages: Whether the sentences of reasons are told, besides their codes.
    /// - Returns: A line of JSON.
    package func history(hours: Int, withMessages: Bool) -> [UInt8]? {
        // The periods of a day take many times what is sent of them.
        defer { Shortage.returnMemory() }
        return ToolContext.$current.withValue(self.context) {
            let now = ClockReading.now().wall
            let begin = WallTime(nanoseconds: now.nanoseconds - Int64(hours) * 3_600_000_000_000)
            let shown = try? self.source.history(
                self.recordingFolder,
                since: begin,
                now: now,
                withMessages: withMessages
            )
            return Array((shown ?? ShownHistory(periods: [], begin: begin, end: now)).document.line.utf8)
        }
    }

    /// Watches until a signal ends it.
    ///
    /// - Parameters:
    ///   - onReload: Called on SIGHUP, on this thread, before anything else is read again.
    ///   - publish: Receives every state, on any thread; must not wait.
    /// - Throws: `SystemError` when there can be no thread.
    package func run(onReload: () -> Void, _ publish: @escaping @Sendable ([UInt8]) -> Void) throws {
        let context = self.context
        let answers = { @Sendable (isThere: Bool) in
            context.say(
                isThere
                    ? "the service answers again"
                    : "the service has ended: its last state is shown, marked stale, until it answers again"
            )
        }
        if self.isAttached, !ServiceFollower.start(self.places, answers: answers, publish) {
            throw SystemError.last("cannot start a thread")
        }
        self.coordinator?.subscribe { publish(StatusSnapshot.now($0, $0.backends).jsonLine) }
        self.coordinator?.start()
        defer { self.coordinator?.stop() }
        let manager = ServiceManager(self.context.environment)
        manager.tell("READY=1")
        while true {
            let reasons = self.loop.reasons()
            if reasons.contains(.reload) { onReload() }
            self.configuration?.handle(reasons)
            if reasons.contains(.stop) { break }
        }
        manager.tell("STOPPING=1")
    }

    /// What is said of settings that cannot be read again, a line each; nothing where the session itself follows the
    /// configuration, and says so.
    package func lines(of error: any Error) -> [String] {
        if let error = error as? ConfigurationError { return self.isAttached ? error.lines : [] }
        return [(error as? ToolFailure)?.message ?? "\(error)"]
    }

    /// Waits for the first report of the backends, where it watches by itself, for metrics that are written once.
    package func settle(within limit: Duration) {
        guard let coordinator else { return }
        let loop = self.loop
        let subscription = coordinator.subscribe { _ in loop.wakeUp.wake(.output) }
        defer { subscription.cancel() }
        coordinator.start()
        loop.wait(until: loop.now() + limit) { coordinator.path != nil }
    }
}

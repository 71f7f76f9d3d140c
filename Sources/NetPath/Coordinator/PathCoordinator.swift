// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Runs backends, merges what they say into one path, and hands it to subscribers.
///
/// Thread-safe. Nothing happens before ``run()`` or ``start()``; after ``stop()``, or when the last
/// reference is gone, the backends are cancelled and sequences end. From a backend's report to the callbacks there is no
/// queue: callbacks run on the thread that reported, one at a time and in order, while no lock is held. A callback that
/// takes long delays the monitor; use an asynchronous sequence for slow work.
public final class PathCoordinator: Sendable {
    struct State: Sendable {
        var machine: CoordinatorStateMachine
        var delivery = PathDelivery()
        var snapshotDelivery = Delivery<[BackendSnapshot]>()
        /// The backends and their runs by the numbers that the machine gives them.
        var backends: [Int: Backend] = [:]
        var links: [Int: BackendLink] = [:]
        var watched = WatchedHosts()
        /// Who has to be told that routes to hosts may have changed.
        var routeDelivery = Delivery<Void>()
        var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
        /// What happens, where it is recorded.
        var journal: CoordinatorJournal?
        /// The numbers that backends give, and what was wrong with them.
        var metrics: [Int: (metrics: [BackendMetric], complaint: String?)] = [:]
        /// What is counted, where metrics are served.
        var tally: CoordinatorTally?
        var isStopped = false
        var hasStarted = false
        var watchesFiles = true

        /// Feeds the machine, and the journal where there is one.
        mutating func take(_ input: CoordinatorInput, now: MonotonicTime) -> [CoordinatorStateMachine.Action] {
            self.journal?.append(input, to: self.machine, at: now)
            let actions = self.machine.take(input, now: now)
            self.tally?.count(input, actions, at: now) { self.backends[$0]?.name }
            return actions
        }
    }

    /// The source of time.
    package let clock: any MonotonicClock
    /// Where tasks run; nil for the global pool.
    package let executor: (any TaskExecutor)?
    let log: @Sendable (LogLevel, String) -> Void
    let state: Mutex<State>

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - backends: The backends in order of priority; their names are unique.
    ///   - settings: What becomes of what they say.
    ///   - clock: The source of time.
    ///   - executor: Where backends run between their waits; nil for the global pool. Once that pool was used,
    ///     libdispatch wakes the process every second for ever; a program that must be idle brings its own.
    ///   - log: Receives messages for the operator, on any thread.
    public init(
        backends: [Backend],
        settings: CoordinatorSettings = CoordinatorSettings(),
        clock: any MonotonicClock = SystemMonotonicClock(),
        executor: (any TaskExecutor)? = nil,
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) {
        precondition(Set(backends.map(\.name)).count == backends.count, "backends have unique names")
        self.clock = clock
        self.executor = executor
        self.log = log
        var state = State(
            machine: CoordinatorStateMachine(backends: backends.map { ($0.name, $0.mode) }, settings: settings)
        )
        for (member, backend) in zip(state.machine.members, backends) { state.backends[member.id] = backend }
        self.state = Mutex(state)
    }

    deinit {
        self.stop()
    }

    // MARK: Lifetime

    /// Starts the backends; a second call does nothing.
    public func start() { self.start(once: false) }

    /// Starts the backends, for less than everything.
    ///
    /// - Parameters:
    ///   - once: Whether each backend is asked for the present state only (``MonitorContext/asksOnce``). One that returns
    ///     after it has reported stays healthy, and its report counts.
    ///   - watchingFiles: Whether changes of files are of interest (``MonitorContext/watchesFiles``).
    package func start(once: Bool = false, watchingFiles: Bool = true) {
        self.perform { state, now in
            guard !state.hasStarted, !state.isStopped else { return [] }
            state.hasStarted = true
            state.watchesFiles = watchingFiles
            return state.take(.start(once: once), now: now)
        }
    }

    /// Runs the backends until the task is cancelled, then ends them and all sequences; final.
    ///
    /// Starts the coordinator unless it runs already, and returns also when ``stop()`` is called meanwhile. With
    /// swift-service-lifecycle a coordinator is a `Service` whose `run()` is
    /// `try await cancelWhenGracefulShutdown(coordinator.run)`.
    ///
    /// - Throws: ``CoordinatorStoppedError`` when the coordinator was stopped before.
    public func run() async throws {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        guard !self.state.withLock({ $0.isStopped }) else { throw CoordinatorStoppedError() }
        _ = self.subscribe({ _ in }, onStop: { continuation.finish() })
        self.start()
        // Cancellation ends the loop too.
        for await _ in end {}
        self.stop()
    }

    /// Ends the backends and all sequences; final.
    public func stop() { _ = self.end() }

    /// Ends the backends and all sequences; final.
    ///
    /// - Returns: The runs of backends, each of which takes its time to end.
    package func end() -> [Task<Void, Never>] {
        // Of the others none is told; they are released when the lock is free.
        let (links, timer, subscribers, _, _) = self.state.withLock { state in
            state.isStopped = true
            defer {
                state.links = [:]
                state.timer = nil
                state.watched = WatchedHosts()
            }
            return (
                state.links, state.timer, state.delivery.removeAll(), state.snapshotDelivery.removeAll(),
                state.routeDelivery.removeAll()
            )
        }
        timer?.task.cancel()
        for link in links.values { link.task.cancel() }
        for subscriber in subscribers { subscriber.onStop?() }
        return links.values.map(\.task)
    }

    /// Asks every backend to read everything again.
    public func refresh() {
        self.perform { state, now in state.take(.refresh, now: now) }
    }

    /// Replaces the configuration, whether running or not; subscriptions stay.
    ///
    /// The last path stays, marked stale, until the new backends have reported. A backend that is not kept ends after
    /// its successor has started, so the two must not be the same monitor; the successor of the same name answers for
    /// its last report. After ``stop()`` nothing happens.
    ///
    /// - Parameters:
    ///   - backends: The backends in order of priority; their names are unique.
    ///   - settings: What becomes of what they say.
    ///   - keeping: The names of those that keep running with their state, and with the monitor they have, where they
    ///     were there before; a new mode and a new position apply to them too.
    public func apply(backends: [Backend], settings: CoordinatorSettings, keeping: Set<String>) {
        precondition(Set(backends.map(\.name)).count == backends.count, "backends have unique names")
        // Kept until the lock is free: what a monitor does when it is released is not ours.
        var former: [Int: Backend] = [:]
        self.perform { state, now in
            former = state.backends
            let configured = backends.map { CoordinatorInput.ConfiguredBackend(name: $0.name, mode: $0.mode) }
            let actions = state.take(.apply(backends: configured, settings: settings, keeping: keeping), now: now)
            state.backends = [:]
            for (member, backend) in zip(state.machine.members, backends) {
                state.backends[member.id] = former[member.id] ?? backend
            }
            state.metrics = state.metrics.filter { state.backends[$0.key] != nil }
            return actions
        }
    }

    // MARK: Paths

    /// The current path; nil until some backend had a verdict.
    public var path: NetworkPath? { self.state.withLock { $0.machine.path } }

    /// What each backend said and how it is doing now, in order of priority.
    public var snapshots: [BackendSnapshot] { self.state.withLock { $0.machine.snapshots } }

    /// Makes a sequence of the current path and the paths from then on.
    ///
    /// - Parameter buffering: What is kept for a consumer that is too slow: the newest path, unless named; every one with
    ///   `.unbounded`.
    /// - Returns: The sequence; it ends when the coordinator stops.
    public func paths(
        buffering: AsyncStream<NetworkPath>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> PathUpdates {
        PathUpdates(coordinator: self, buffering: buffering)
    }

    /// Makes a sequence of the same paths, each with the one before and what differs.
    ///
    /// - Parameter buffering: Which paths are kept for a consumer that is too slow, as in ``paths(buffering:)``.
    /// - Returns: The sequence; it ends when the coordinator stops.
    public func changes(
        buffering: AsyncStream<NetworkPath>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> PathChanges {
        PathChanges(paths: self.paths(buffering: buffering))
    }

    /// Calls a function with the current path, if there is one, and with every further one.
    ///
    /// The first call may happen before this function returns. The calls are one at a time and in order, on whatever thread
    /// brings the news, and the backend that brought it waits for them: a handler hands on what takes long.
    ///
    /// - Parameter handler: What to call.
    /// - Returns: What ends the calls; they end with ``stop()`` too.
    @discardableResult
    public func subscribe(_ handler: @escaping @Sendable (NetworkPath) -> Void) -> ObservationToken {
        self.subscribe(handler, onStop: nil)
    }

    /// Calls a function with what each backend says and how it is doing, now and after every report and every change of
    /// health, whether or not that changes the path.
    ///
    /// The first call may happen before this function returns. The calls are one at a time and in order among
    /// themselves, like those of ``subscribe(_:)``.
    @discardableResult
    package func subscribeSnapshots(_ handler: @escaping @Sendable ([BackendSnapshot]) -> Void) -> ObservationToken {
        let id: UInt64? = self.state.withLock { state in
            guard !state.isStopped else { return nil }
            return state.snapshotDelivery.add(.init(handler: handler), current: state.machine.snapshots)
        }
        guard let id else { return ObservationToken() }
        self.deliver()
        return ObservationToken { [weak self] in _ = self?.state.withLock { $0.snapshotDelivery.remove(id) } }
    }

    func subscribe(
        _ handler: @escaping @Sendable (NetworkPath) -> Void,
        onStop: (@Sendable () -> Void)?
    ) -> ObservationToken {
        let id: UInt64? = self.state.withLock { state in
            guard !state.isStopped else { return nil }
            return state.delivery.add(.init(handler: handler, onStop: onStop), current: state.machine.path)
        }
        guard let id else {
            onStop?()
            return ObservationToken()
        }
        self.deliver()
        return ObservationToken { [weak self] in _ = self?.state.withLock { $0.delivery.remove(id) } }
    }
}

/// The coordinator was stopped before it was to run; make another one.
public struct CoordinatorStoppedError: Error, Hashable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// What happened, and what to do.
    public var description: String { "the coordinator was stopped, which is final: make another one" }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Runs backends, merges what they say into one path, and hands it to subscribers.
///
/// Thread-safe. Nothing happens before ``start(once:)``; after ``stop()``, or when the last reference is gone, the
/// backends are cancelled and sequences end. From a backend's report to the callbacks there is no queue: callbacks
/// run on the thread that reported, one at a time and in order, while no lock is held. A callback that takes long
/// delays the monitor; use an asynchronous sequence for slow work.
public final class PathCoordinator: Sendable {
    struct State: Sendable {
        var machine: CoordinatorStateMachine
        var delivery = PathDelivery()
        var opinionDelivery = Delivery<[BackendOpinion]>()
        /// The backends and their runs by the numbers that the machine gives them.
        var backends: [Int: Backend] = [:]
        var links: [Int: BackendLink] = [:]
        var watched = WatchedHosts()
        /// Who has to be told that routes to hosts may have changed.
        var routeDelivery = Delivery<Void>()
        var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
        var isStopped = false
        var hasStarted = false
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
    ///
    /// - Parameter once: Whether each backend is asked for the present state only (``MonitorContext/asksOnce``). One that
    ///   returns after it has reported stays healthy, and its word stands.
    public func start(once: Bool = false) {
        self.perform { state, now in
            guard !state.hasStarted, !state.isStopped else { return [] }
            state.hasStarted = true
            return state.machine.start(once: once, now: now)
        }
    }

    /// Ends the backends and all sequences; final.
    public func stop() {
        let (links, timer, subscribers, others, askers) = self.state.withLock { state in
            state.isStopped = true
            defer {
                state.links = [:]
                state.timer = nil
                state.watched = WatchedHosts()
            }
            return (
                state.links, state.timer, state.delivery.removeAll(), state.opinionDelivery.removeAll(),
                state.routeDelivery.removeAll()
            )
        }
        timer?.task.cancel()
        for link in links.values { link.task.cancel() }
        for subscriber in subscribers { subscriber.onStop?() }
        for subscriber in others { subscriber.onStop?() }
        for subscriber in askers { subscriber.onStop?() }
    }

    /// Asks every backend to read everything again.
    public func refresh() {
        self.perform { state, now in state.machine.refresh(now: now) }
    }

    /// Replaces the configuration, whether running or not; subscriptions stay.
    ///
    /// The last path stays, marked stale, until the new backends have spoken. A backend that is not kept ends after
    /// its successor has started, so the two must not be the same monitor; the successor of the same name answers for
    /// its last word. After ``stop()`` nothing happens.
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
            let actions = state.machine.apply(
                backends: backends.map { ($0.name, $0.mode) },
                settings: settings,
                keeping: keeping,
                now: now
            )
            state.backends = [:]
            for (member, backend) in zip(state.machine.members, backends) {
                state.backends[member.id] = former[member.id] ?? backend
            }
            return actions
        }
    }

    // MARK: Paths

    /// The current path; nil until some backend had an opinion.
    public var path: NetworkPath? { self.state.withLock { $0.machine.path } }

    /// What each backend said and how it is doing now, in order of priority.
    public var opinions: [BackendOpinion] { self.state.withLock { $0.machine.opinions } }

    /// The current path and the newest one from then on: a slow consumer skips what it was too slow for.
    public var latestPaths: PathUpdates { PathUpdates(coordinator: self, buffering: .bufferingNewest(1)) }

    /// The current path and every one from then on, buffered without limit.
    public var everyPath: PathUpdates { PathUpdates(coordinator: self, buffering: .unbounded) }

    /// Calls a function with the current path, if there is one, and with every further one.
    ///
    /// The first call may happen before this function returns.
    @discardableResult
    public func subscribe(_ handler: @escaping @Sendable (NetworkPath) -> Void) -> PathSubscription {
        self.subscribe(handler, onStop: nil)
    }

    /// Calls a function with what each backend says and how it is doing, now and after every report and every change of
    /// health, whether or not that changes the path.
    ///
    /// The first call may happen before this function returns. The calls are one at a time and in order among
    /// themselves, like those of ``subscribe(_:)``.
    @discardableResult
    public func subscribeOpinions(_ handler: @escaping @Sendable ([BackendOpinion]) -> Void) -> PathSubscription {
        let id: UInt64? = self.state.withLock { state in
            guard !state.isStopped else { return nil }
            let subscriber = Delivery<[BackendOpinion]>.Subscriber(handler: handler, onStop: nil)
            return state.opinionDelivery.add(subscriber, current: state.machine.opinions)
        }
        guard let id else { return PathSubscription {} }
        self.deliver()
        return PathSubscription { [weak self] in _ = self?.state.withLock { $0.opinionDelivery.remove(id) } }
    }

    func subscribe(
        _ handler: @escaping @Sendable (NetworkPath) -> Void,
        onStop: (@Sendable () -> Void)?
    ) -> PathSubscription {
        let id: UInt64? = self.state.withLock { state in
            guard !state.isStopped else { return nil }
            return state.delivery.add(.init(handler: handler, onStop: onStop), current: state.machine.path)
        }
        guard let id else {
            onStop?()
            return PathSubscription {}
        }
        self.deliver()
        return PathSubscription { [weak self] in _ = self?.state.withLock { $0.delivery.remove(id) } }
    }
}

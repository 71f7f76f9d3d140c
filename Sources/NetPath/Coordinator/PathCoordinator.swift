// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Runs backends, merges what they say into one path, and hands it to subscribers.
///
/// Thread-safe. Nothing happens before ``start()``; after ``stop()``, or when the last reference is gone, the
/// backends are cancelled and sequences end. From a backend's report to the callbacks there is no queue: callbacks
/// run on the thread that reported, one at a time and in order, while no lock is held. A callback that takes long
/// delays the monitor; use an asynchronous sequence for slow work.
public final class PathCoordinator: Sendable {
    private struct State: Sendable {
        var machine: CoordinatorStateMachine
        var delivery = PathDelivery()
        var links: [BackendLink?]
        var watched: Set<IPAddress> = []
        var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
        var isStopped = false
        var hasStarted = false
    }

    /// The open ends towards one running backend.
    private struct BackendLink: Sendable {
        let generation: Int
        let refresh: AsyncStream<Void>.Continuation
        let watched: AsyncStream<Set<IPAddress>>.Continuation
        let task: Task<Void, Never>
        var resolver: (any RouteResolver)?
    }

    private let backends: [Backend]
    private let clock: any MonotonicClock
    private let executor: (any TaskExecutor)?
    private let log: @Sendable (LogLevel, String) -> Void
    private let state: Mutex<State>

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - backends: The backends in order of priority; their names are unique.
    ///   - evaluation: What verdicts depend on besides the evidence.
    ///   - merge: How several verdicts become one path.
    ///   - clock: The source of time.
    ///   - executor: Where backends run between their waits; nil for the global pool. Once that pool was used,
    ///     libdispatch wakes the process every second for ever; a program that must be idle brings its own.
    ///   - log: Receives messages for the operator, on any thread.
    public init(
        backends: [Backend],
        evaluation: EvaluationPolicy = EvaluationPolicy(),
        merge: MergePolicy = .priority,
        clock: any MonotonicClock = SystemMonotonicClock(),
        executor: (any TaskExecutor)? = nil,
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) {
        precondition(Set(backends.map(\.name)).count == backends.count, "backends have unique names")
        self.backends = backends
        self.clock = clock
        self.executor = executor
        self.log = log
        let machine = CoordinatorStateMachine(
            backends: backends.map { ($0.name, $0.mode) },
            evaluation: evaluation,
            merge: merge
        )
        self.state = Mutex(State(machine: machine, links: backends.map { _ in nil }))
    }

    deinit {
        self.stop()
    }

    // MARK: Lifetime

    /// Starts the backends; a second call does nothing.
    public func start() {
        self.perform { state, now in
            guard !state.hasStarted, !state.isStopped else { return [] }
            state.hasStarted = true
            return state.machine.start(now: now)
        }
    }

    /// Ends the backends and all sequences; final.
    public func stop() {
        let (links, timer, subscribers) = self.state.withLock { state in
            state.isStopped = true
            defer {
                state.links = state.links.map { _ in nil }
                state.timer = nil
            }
            return (state.links, state.timer, state.delivery.removeAll())
        }
        timer?.task.cancel()
        for link in links { link?.task.cancel() }
        for subscriber in subscribers { subscriber.onStop?() }
    }

    /// Asks every backend to read everything again.
    public func refresh() {
        self.perform { state, now in state.machine.refresh(now: now) }
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

    // MARK: Routes

    /// Asks what the kernel would do with a packet to an address; `unknown` when no backend can tell.
    public func route(to destination: IPAddress) -> RouteAnswer {
        let resolvers = self.state.withLock { state in state.links.compactMap { $0?.resolver } }
        for resolver in resolvers {
            let answer = resolver.route(to: destination)
            if answer != .unknown { return answer }
        }
        return .unknown
    }

    /// Replaces the set of hosts whose routes backends have to notice changes of.
    public func watchRoutes(to addresses: Set<IPAddress>) {
        self.state.withLock { state in
            state.watched = addresses
            // Under the lock, so that of two calls the later one is heard last.
            for link in state.links { link?.watched.yield(addresses) }
        }
    }

    // MARK: Performing

    private func perform(_ input: (inout State, MonotonicTime) -> [CoordinatorStateMachine.Action]) {
        let refreshes: [AsyncStream<Void>.Continuation] = self.state.withLock { state in
            guard !state.isStopped else { return [] }
            var refreshes: [AsyncStream<Void>.Continuation] = []
            for action in input(&state, self.clock.now()) {
                switch action {
                case .publish(let path): state.delivery.publish(path)
                case .run(let index, let generation):
                    state.links[index] = self.link(index, generation: generation, watched: state.watched)
                case .refresh(let index): if let link = state.links[index] { refreshes.append(link.refresh) }
                }
            }
            self.armTimer(&state)
            return refreshes
        }
        for continuation in refreshes { continuation.yield() }
        self.deliver()
    }

    private func deliver() {
        guard self.state.withLock({ $0.delivery.claim() }) else { return }
        while let call = self.state.withLock({ $0.delivery.next() }) { call.handler(call.path) }
    }

    private func armTimer(_ state: inout State) {
        let deadline = state.machine.nextDeadline
        guard deadline != state.timer?.deadline else { return }
        state.timer?.task.cancel()
        state.timer = deadline.map { deadline in
            let task = Task(executorPreference: self.executor) { [weak self, clock = self.clock] in
                do { try await clock.sleep(until: deadline) } catch { return }
                self?.perform { state, now in
                    // The machine may not be due yet after all, so the timer has to be armed anew; but it may have
                    // been replaced on the way here, and the new one must not be lost.
                    if state.timer?.deadline == deadline { state.timer = nil }
                    return state.machine.wake(now: now)
                }
            }
            return (deadline, task)
        }
    }

    private func link(_ index: Int, generation: Int, watched: Set<IPAddress>) -> BackendLink {
        let (requests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (addresses, watchedContinuation) = AsyncStream.makeStream(
            of: Set<IPAddress>.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        watchedContinuation.yield(watched)
        let backend = self.backends[index]
        let context = MonitorContext(
            clock: self.clock,
            refreshRequests: requests,
            watchedAddresses: addresses,
            report: { [weak self] observation in
                self?.perform { state, now in
                    state.machine.report(backend: index, generation: generation, observation: observation, now: now)
                }
            },
            offer: { [weak self] resolver in self?.offered(resolver, by: index, generation: generation) },
            log: { [log = self.log] level, message in log(level, "\(backend.name): \(message)") }
        )
        let task = Task(executorPreference: self.executor) { [weak self] in
            var failure: String?
            do { try await backend.monitor.run(context) } catch { failure = "\(error)" }
            self?.ended(index, generation: generation, failure: failure)
        }
        return BackendLink(
            generation: generation,
            refresh: refresh,
            watched: watchedContinuation,
            task: task,
            resolver: nil
        )
    }

    private func offered(_ resolver: any RouteResolver, by index: Int, generation: Int) {
        // Returned, so that the one it replaces is not released under the lock.
        _ = self.state.withLock { state -> (any RouteResolver)? in
            guard state.links[index]?.generation == generation else { return nil }
            defer { state.links[index]?.resolver = resolver }
            return state.links[index]?.resolver
        }
    }

    private func ended(_ index: Int, generation: Int, failure: String?) {
        // Kept until the lock is free: what a resolver does when it is released is not ours.
        var link: BackendLink?
        self.perform { state, now in
            link = state.links[index].take()
            return state.machine.ended(
                backend: index,
                generation: generation,
                error: failure,
                jitter: .random(in: 0..<1),
                now: now
            )
        }
        if link != nil {
            self.log(.warning, "\(self.backends[index].name): \(failure ?? "ended"); it will be started again")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// The open ends towards one running backend.
struct BackendLink: Sendable {
    let generation: Int
    let refresh: AsyncStream<Void>.Continuation
    let watched: AsyncStream<Set<InternetAddress>>.Continuation
    let task: Task<Void, Never>
    var isCancelled = false
    var resolver: (any RouteResolver)?
}

// What the state machine wants done.
extension PathCoordinator {
    /// What is done when the lock is free.
    private struct Deferred {
        var refreshes: [AsyncStream<Void>.Continuation] = []
        var warnings: [String] = []
        var notify: (@Sendable () -> Void)?
        /// Kept until the lock is free: what a resolver does when it is released is not ours.
        var resolvers: [any RouteResolver] = []
    }

    /// One run of a backend, whose thread makes a call.
    typealias Caller = (id: Int, generation: Int)

    func perform(
        calledBy caller: Caller? = nil,
        _ input: (inout State, MonotonicTime) -> [CoordinatorStateMachine.Action]
    ) {
        let deferred: Deferred = self.state.withLock { state in
            guard !state.isStopped else { return Deferred() }
            let (version, now) = (state.machine.snapshotsVersion, self.clock.now())
            let actions = input(&state, now)
            return self.take(actions, in: &state, after: version, now: now)
        }
        for continuation in deferred.refreshes { continuation.yield() }
        self.deliver(calledBy: caller)
        for warning in deferred.warnings { self.log(.warning, warning) }
        deferred.notify?()
    }

    /// Takes actions of the state machine; returns what has to wait until the lock is free.
    ///
    /// Apart from ``perform(calledBy:_:)``, of which the compiler makes a copy for each input.
    private func take(
        _ actions: [CoordinatorStateMachine.Action],
        in state: inout State,
        after version: UInt64,
        now: MonotonicTime
    ) -> Deferred {
        var deferred = Deferred()
        var mayAnswerOtherwise = false
        for action in actions {
            switch action {
            case .publish(let published):
                state.journal?.append(.published(published), at: now)
                state.delivery.publish(published)
            case .run(let id, let generation):
                state.links[id] = state.backends[id].map { self.link($0, id, generation: generation, in: state) }
            case .cancel(let id):
                if let resolver = state.links[id]?.resolver.take() {
                    deferred.resolvers.append(resolver)
                    mayAnswerOtherwise = true
                }
                state.links[id]?.isCancelled = true
                state.links[id]?.task.cancel()
            case .refresh(let id): if let link = state.links[id] { deferred.refreshes.append(link.refresh) }
            case .warn(let id, let message):
                if let name = state.backends[id]?.name { deferred.warnings.append("\(name): \(message)") }
            }
        }
        if version != state.machine.snapshotsVersion {
            if !state.snapshotDelivery.isEmpty { state.snapshotDelivery.publish(state.machine.snapshots) }
            mayAnswerOtherwise = true
        }
        if mayAnswerOtherwise { state.routeDelivery.publish(()) }
        self.armTimer(&state)
        deferred.notify = state.journal?.takeNotice()
        return deferred
    }

    /// Calls the subscribers, unless another thread is at it.
    ///
    /// - Parameter caller: The backend that has to wait for them.
    func deliver(calledBy caller: Caller? = nil) {
        let (hasPaths, hasSnapshots, hasRoutes) = self.state.withLock { state in
            let claims = (state.delivery.claim(), state.snapshotDelivery.claim(), state.routeDelivery.claim())
            if let caller, claims.0 || claims.1 || claims.2 {
                _ = state.take(.held(backend: caller.id, generation: caller.generation), now: self.clock.now())
            }
            return claims
        }
        guard hasPaths || hasSnapshots || hasRoutes else { return }
        // First what a path comes of, so that who hears of the path knows it.
        if hasSnapshots {
            while let call = self.state.withLock({ $0.snapshotDelivery.next() }) { call.handler(call.value) }
        }
        if hasPaths {
            while let call = self.state.withLock({ $0.delivery.next() }) { call.handler(call.value) }
        }
        if hasRoutes {
            while let call = self.state.withLock({ $0.routeDelivery.next() }) { call.handler(call.value) }
        }
        guard let caller else { return }
        self.state.withLock { state in
            guard !state.isStopped else { return }
            let now = self.clock.now()
            _ = state.take(.released(backend: caller.id, generation: caller.generation), now: now)
            self.armTimer(&state)
        }
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
                    return state.take(.wake, now: now)
                }
            }
            return (deadline, task)
        }
    }

    private func link(_ backend: Backend, _ id: Int, generation: Int, in state: State) -> BackendLink {
        let (requests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (addresses, watchedContinuation) = AsyncStream.makeStream(
            of: Set<InternetAddress>.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        watchedContinuation.yield(state.watched.all)
        let context = MonitorContext(
            clock: self.clock,
            refreshRequests: requests,
            watchedAddresses: addresses,
            asksOnce: state.machine.asksOnce,
            watchesFiles: state.watchesFiles,
            report: { [weak self] evidence in
                self?.perform(calledBy: (id, generation)) { state, now in
                    state.take(.report(backend: id, generation: generation, evidence: evidence), now: now)
                }
            },
            reportUnavailable: { [weak self] error in
                self?.perform(calledBy: (id, generation)) { state, now in
                    state.take(.unavailable(backend: id, generation: generation, error: error), now: now)
                }
            },
            reportMetrics: { [weak self] metrics in self?.take(metrics, of: id, generation: generation) },
            register: { [weak self] resolver in self?.offered(resolver, by: id, generation: generation) },
            routesChanged: { [weak self] in self?.routesChanged(calledBy: (id, generation)) },
            takesNoRefreshRequests: { [weak self] in
                self?.perform { state, now in
                    state.take(.takesNoRefreshRequests(backend: id, generation: generation), now: now)
                }
            },
            interfaceRules: { [weak self] in
                self?.state.withLock { $0.machine.settings.evaluation.interfaceRules } ?? []
            },
            isMetered: { [weak self] interface in
                self?.state.withLock { $0.machine.isMetered(through: interface) } ?? false
            },
            log: { [log = self.log] level, message in log(level, "\(backend.name): \(message)") }
        )
        let task = Task(executorPreference: self.executor) { [weak self] in
            var failure: String?
            do { try await backend.monitor.run(context) } catch { failure = "\(error)" }
            self?.ended(id, generation: generation, failure: failure)
        }
        return BackendLink(generation: generation, refresh: refresh, watched: watchedContinuation, task: task)
    }

    private func offered(_ resolver: any RouteResolver, by id: Int, generation: Int) {
        // Returned, so that the one it replaces is not released under the lock.
        _ = self.state.withLock { state -> (any RouteResolver)? in
            guard let link = state.links[id], link.generation == generation, !link.isCancelled else { return nil }
            defer { state.links[id]?.resolver = resolver }
            return link.resolver
        }
        self.routesChanged(calledBy: (id, generation))
    }

    private func ended(_ id: Int, generation: Int, failure: String?) {
        // Kept until the lock is free: what a resolver does when it is released is not ours.
        var link: BackendLink?
        self.perform { state, now in
            let jitter = Double.random(in: 0..<1)
            let input = CoordinatorInput.ended(backend: id, generation: generation, error: failure, jitter: jitter)
            let actions = state.take(input, now: now)
            // The resolver of one that was asked once goes on answering.
            if !state.machine.isDone(id) { link = state.links.removeValue(forKey: id) }
            return actions
        }
        _ = link
    }
}

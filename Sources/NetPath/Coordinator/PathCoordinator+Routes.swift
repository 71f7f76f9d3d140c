// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

extension PathCoordinator {
    /// Asks what the kernel would do with a packet to an address.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The index of the interface that it has to leave through; nil to leave the choice to the kernel.
    /// - Returns: The answer; ``RouteLookupResult/unknown`` when no backend can tell.
    public func route(to destination: InternetAddress, through interface: UInt32? = nil) -> RouteLookupResult {
        self.answer(to: destination, through: interface)?.route ?? .unknown
    }

    /// The first answer there is, and the number of the backend that gave it; nil when none can tell.
    private func answer(
        to destination: InternetAddress,
        through interface: UInt32?
    ) -> (route: RouteLookupResult, backend: Int)? {
        let resolvers = self.state.withLock { state in
            state.machine.members.compactMap { member in state.links[member.id]?.resolver.map { (member.id, $0) } }
        }
        for (backend, resolver) in resolvers {
            let answer = resolver.route(to: destination, through: interface)
            if answer != .unknown { return (answer, backend) }
        }
        return nil
    }

    /// Asks whether a packet to an address would be sent, and through what.
    ///
    /// Nothing is sent. Costs a few microseconds, on the caller's thread. A backend answers only once it has reported
    /// what it sees: what an interface is, and what the rules say of it, is part of the answer.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The index of the interface that it has to leave through; nil to leave the choice to the kernel.
    /// - Returns: The answer; nil when no backend can tell.
    public func verdict(on destination: InternetAddress, through interface: UInt32? = nil) -> DestinationVerdict? {
        guard let (answer, backend) = self.answer(to: destination, through: interface) else { return nil }
        let (snapshots, position, settings) = self.state.withLock { state in
            (state.machine.snapshots, state.machine.position(of: backend), state.machine.settings)
        }
        guard let own = position.flatMap({ snapshots[$0].evidence }) else { return nil }
        // What a backend that broke saw last may be outdated, and its own word may be about routes only.
        let healthy = snapshots.lazy.filter { $0.report.health == .healthy }.compactMap(\.evidence)
        let evidence = healthy.first { $0.interfaces != nil } ?? own
        return evidence.verdict(on: answer, to: destination, policy: settings.evaluation, now: self.clock.now())
    }

    /// Watches the routes to hosts, and calls a function whenever ``route(to:through:)`` may answer otherwise than before.
    ///
    /// Backends notice changes of more specific routes only to hosts that are watched. A call says no more than
    /// that it is worth asking again; calls come one at a time, under the same rules as those of ``subscribe(_:)``, and
    /// end with ``stop()``.
    ///
    /// - Parameters:
    ///   - addresses: The hosts.
    ///   - onChange: What to call.
    /// - Returns: What names other hosts, or ends the watch; dropping it ends nothing.
    @discardableResult
    public func watchRoutes(
        to addresses: Set<InternetAddress>,
        onChange: @escaping @Sendable () -> Void = {}
    ) -> RouteWatch {
        let id: UInt64? = self.state.withLock { state in
            guard !state.isStopped else { return nil }
            return state.routeDelivery.add(.init(handler: onChange), current: nil)
        }
        let watch = RouteWatch(coordinator: self, id: id)
        watch.change(to: addresses)
        return watch
    }

    fileprivate func watch(_ addresses: Set<InternetAddress>?, for id: UInt64) {
        self.state.withLock { state in
            guard !state.isStopped, state.watched.change(id, to: addresses) else { return }
            // Under the lock, so that of two calls the later one is heard last.
            for link in state.links.values { link.watched.yield(state.watched.all) }
        }
    }

    fileprivate func endWatch(_ id: UInt64) {
        self.watch(nil, for: id)
        _ = self.state.withLock { $0.routeDelivery.remove(id) }
    }

    func routesChanged(calledBy caller: Caller) {
        self.state.withLock { $0.routeDelivery.publish(()) }
        self.deliver(calledBy: caller)
    }
}

/// Hosts whose routes a client has watched.
public struct RouteWatch: Sendable {
    fileprivate weak let coordinator: PathCoordinator?
    fileprivate let id: UInt64?

    /// Names other hosts in place of those named before.
    ///
    /// Backends need a moment until they notice changes of routes to new hosts. Once one does, a call follows, because
    /// no backend noticed what changed before.
    public func change(to addresses: Set<InternetAddress>) {
        if let id { self.coordinator?.watch(addresses, for: id) }
    }

    /// Ends the watch; a call that is under way finishes.
    public func cancel() {
        if let id { self.coordinator?.endWatch(id) }
    }
}

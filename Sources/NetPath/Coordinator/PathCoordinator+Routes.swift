// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

extension PathCoordinator {
    /// Asks what the kernel would do with a packet to an address.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The index of the interface that it has to leave through; nil to leave the choice to the kernel.
    /// - Returns: The answer; ``RouteAnswer/unknown`` when no backend can tell.
    public func route(to destination: IPAddress, through interface: UInt32? = nil) -> RouteAnswer {
        let resolvers = self.state.withLock { state in state.machine.members.compactMap { state.links[$0.id]?.resolver }
        }
        for resolver in resolvers {
            let answer = resolver.route(to: destination, through: interface)
            if answer != .unknown { return answer }
        }
        return .unknown
    }

    /// Asks whether a packet to an address would be sent, and through what.
    ///
    /// Nothing is sent. Costs a few microseconds, on the caller's thread.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The index of the interface that it has to leave through; nil to leave the choice to the kernel.
    /// - Returns: The answer; nil when no backend can tell.
    public func verdict(on destination: IPAddress, through interface: UInt32? = nil) -> DestinationVerdict? {
        let answer = self.route(to: destination, through: interface)
        let (opinions, settings) = self.state.withLock { ($0.machine.opinions, $0.machine.settings) }
        // Without any evidence about interfaces the answer has to speak for itself.
        let observation =
            opinions.lazy.filter(\.isHealthy).compactMap(\.observation).first { $0.interfaces != nil }
            ?? Observation(at: self.clock.now())
        return evaluate(answer, to: destination, observation, policy: settings.evaluation, now: self.clock.now())
    }

    /// Has routes to hosts watched, and calls a function whenever ``route(to:through:)`` may answer otherwise than before.
    ///
    /// Backends notice changes of more specific routes only to hosts that somebody watches. A call says no more than
    /// that it is worth asking again; calls come one at a time, under the same rules as those of ``subscribe(_:)``.
    ///
    /// - Parameters:
    ///   - addresses: The hosts.
    ///   - onChange: What to call.
    /// - Returns: What names other hosts, or ends the watch; dropping it ends nothing.
    @discardableResult
    public func watchRoutes(
        to addresses: Set<IPAddress>,
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

    fileprivate func watch(_ addresses: Set<IPAddress>?, for id: UInt64) {
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

    func routesChanged() {
        self.state.withLock { $0.routeDelivery.publish(()) }
        self.deliver()
    }
}

/// Hosts whose routes somebody wants to hear of.
public struct RouteWatch: Sendable {
    private weak let coordinator: PathCoordinator?
    private let id: UInt64?

    fileprivate init(coordinator: PathCoordinator, id: UInt64?) {
        self.coordinator = coordinator
        self.id = id
    }

    /// Names other hosts in place of those named before; after the change one call follows.
    public func change(to addresses: Set<IPAddress>) {
        if let id { self.coordinator?.watch(addresses, for: id) }
    }

    /// Ends the watch; a call that is under way finishes.
    public func cancel() {
        if let id { self.coordinator?.endWatch(id) }
    }
}

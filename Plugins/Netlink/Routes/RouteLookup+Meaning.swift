// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What the kernel's replies mean.
extension RouteLookup {
    /// What becomes of a packet, as the reply to a lookup with RTM_F_FIB_MATCH says.
    ///
    /// The next hops are read from here only: a plain lookup shows one leg of a multipath route, and with a source
    /// address another one than without.
    func answer(_ reply: Result<RouteReply, SystemError>, to flow: Flow) -> RouteAnswer {
        let answer = self.answer(reply, flow.destination.family)
        guard let interface = flow.interface else { return answer }
        // With an output interface errors say nothing about why, EHOSTUNREACH stands for everything.
        guard case .route(var route) = answer else { return answer == .unknown ? .unknown : .noRoute }
        let legs = route.legs.filter { $0.interfaceIndex == interface }
        // A multipath answer holds the legs of other devices too; sockets that are bound to a VRF leave through its
        // members.
        if !legs.isEmpty || interface != self.packet.interface { route.legs = legs }
        return route.legs.isEmpty ? .noRoute : .route(route)
    }

    private func answer(_ reply: Result<RouteReply, SystemError>, _ family: AddressFamily) -> RouteAnswer {
        switch reply {
        case .failure(let error): return LookupFailure(error).answer
        case .success(let reply):
            if let rejection = Self.rejection(type: reply.type) { return .rejected(rejection) }
            if reply.type == RTN_THROW { return .noRoute }
            self.noteExpiry(reply, family)
            switch self.legs(of: reply) {
            case .success(let legs):
                return .route(Route(legs: legs, source: .unknown, metric: reply.metric, table: reply.table))
            case .failure(let rejection): return rejection.answer
            }
        }
    }

    /// The default route a reply means.
    ///
    /// Only the route as it stands in the table counts: a plain lookup with an output interface invents an on-link
    /// route.
    func defaultRoute(
        of interface: UInt32,
        _ family: AddressFamily,
        _ reply: Result<RouteReply, SystemError>
    ) -> InterfaceRoute? {
        guard case .success(let reply) = reply, reply.type == RTN_UNICAST,
            case .success(let legs) = self.legs(of: reply),
            // A multipath answer holds the legs of other devices too.
            let leg = legs.first(where: { $0.interfaceIndex == interface && !$0.isDown })
        else { return nil }
        var route = InterfaceRoute(family: family, gateway: leg.gateway, metric: reply.metric, table: reply.table)
        route.expiresAt = reply.expiresIn.map { self.clock.now() + $0 }
        return route
    }

    private static func rejection(type: UInt8) -> RouteRejection? {
        switch Int(type) {
        case RTN_BLACKHOLE: .blackhole
        case RTN_UNREACHABLE: .unreachable
        case RTN_PROHIBIT: .prohibit
        case RTN_BROADCAST: .broadcast
        default: nil
        }
    }

    // MARK: Next hops

    private struct Rejected: Error {
        let answer: RouteAnswer
    }

    private func legs(of reply: RouteReply) -> Result<[RouteLeg], Rejected> {
        guard reply.legs.isEmpty, let id = reply.nextHopID else { return .success(reply.legs) }
        var legs: [RouteLeg] = []
        var isBlackhole = false
        var pending = [id]
        // Groups do not nest deeper than two levels, and hold 8 bits of members or less in practice.
        for _ in 0..<512 {
            guard let id = pending.popLast() else { break }
            guard case .success(let nextHop) = self.kernel.nextHop(id) else { continue }
            if let leg = nextHop.leg { legs.append(leg) }
            isBlackhole = isBlackhole || nextHop.isBlackhole
            pending += nextHop.members.reversed()
        }
        if legs.isEmpty { return .failure(Rejected(answer: isBlackhole ? .rejected(.blackhole) : .noRoute)) }
        return .success(legs)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What the kernel's replies mean.
extension RouteLookup {
    /// What becomes of a packet, as the reply to a lookup with RTM_F_FIB_MATCH says.
    ///
    /// The next hops are read from here only: a plain lookup shows one next hop of a multipath route, and with a source
    /// address another one than without.
    func answer(_ reply: Result<RouteReply, KernelError>, to flow: Flow) -> RouteLookupResult {
        let answer = self.answer(reply, flow.destination.family)
        // The reply names the interface that has the address, of whose link nothing is needed; a VRF has such routes in its own table.
        if case .success(let reply) = reply, reply.type == RTN_LOCAL {
            let hop = NextHop(interfaceIndex: NetworkInterface.loopbackIndex)
            return .route(Route(nextHops: [hop], source: .unknown, metric: reply.metric, table: Route.localTable))
        }
        guard let interface = flow.interface else { return answer }
        // With an output interface errors say nothing about why, EHOSTUNREACH stands for everything.
        guard case .route(var route) = answer else { return answer == .unknown ? .unknown : .noRoute }
        let nextHops = route.nextHops.filter { $0.interfaceIndex == interface }
        // A multipath answer holds the next hops of other devices too; sockets that are bound to a VRF leave through its
        // members.
        let isVRF = flow.interfaceIsVRF || interface == self.packet.interface
        if !nextHops.isEmpty || !isVRF { route.nextHops = nextHops }
        return route.nextHops.isEmpty ? .noRoute : .route(route)
    }

    private func answer(_ reply: Result<RouteReply, KernelError>, _ family: AddressFamily) -> RouteLookupResult {
        switch reply {
        case .failure(let error): return LookupFailure(error).answer
        case .success(let reply):
            if let rejection = Self.rejection(type: reply.type) { return .rejected(rejection) }
            if reply.type == RTN_THROW { return .noRoute }
            self.noteExpiry(reply, family)
            let (nextHops, isBlackhole) = self.nextHops(of: reply)
            if nextHops.isEmpty, reply.nextHopID != nil { return isBlackhole ? .rejected(.blackhole) : .noRoute }
            var route = Route(nextHops: nextHops, source: .unknown, metric: reply.metric, table: reply.table)
            route.encapsulation = reply.encapsulation.map {
                $0 < Self.encapsulations.count ? Self.encapsulations[Int($0)] : "encap \($0)"
            }
            return .route(route)
        }
    }

    /// The default route a reply means.
    ///
    /// Only the route as it stands in the table counts: a plain lookup with an output interface invents an on-link
    /// route.
    func defaultRoute(
        of interface: UInt32,
        _ family: AddressFamily,
        _ reply: Result<RouteReply, KernelError>
    ) -> InterfaceRoute? {
        guard case .success(let reply) = reply, reply.type == RTN_UNICAST,
            // A multipath answer holds the next hops of other devices too.
            let nextHop = self.nextHops(of: reply).hops.first(where: { $0.interfaceIndex == interface && !$0.isDown })
        else { return nil }
        var route = InterfaceRoute(family: family, gateway: nextHop.gateway, metric: reply.metric, table: reply.table)
        route.expiresAt = reply.expiresIn.map { self.clock.now() + $0 }
        return route
    }

    /// The names of enum lwtunnel_encap_types (`linux/lwtunnel.h`) in `ip-route(8)`.
    private static let encapsulations = [
        "none", "mpls", "ip", "ila", "ip6", "seg6", "bpf", "seg6local", "rpl", "ioam6", "xfrm",
    ]

    private static func rejection(type: UInt8) -> RouteRejection? {
        switch Int(type) {
        case RTN_BLACKHOLE: .blackhole
        case RTN_UNREACHABLE: .unreachable
        case RTN_PROHIBIT: .prohibit
        // To a group no connection is made either, whatever the address is like.
        case RTN_BROADCAST, RTN_MULTICAST: .broadcast
        default: nil
        }
    }

    // MARK: Next hops

    /// The next hops of a reply, which its next-hop object may have, and whether one of that loses packets.
    private func nextHops(of reply: RouteReply) -> (hops: [NextHop], isBlackhole: Bool) {
        guard reply.nextHops.isEmpty, let id = reply.nextHopID else { return (reply.nextHops, false) }
        var nextHops: [NextHop] = []
        var isBlackhole = false
        var pending = [NextHopReply.Member(id: id)]
        // Groups do not nest deeper than two levels, and hold 8 bits of members or less in practice.
        for _ in 0..<512 {
            guard let member = pending.popLast() else { break }
            guard case .success(let nextHop) = self.kernel.nextHop(member.id) else { continue }
            if var hop = nextHop.nextHop {
                hop.weight = member.weight
                nextHops.append(hop)
            }
            isBlackhole = isBlackhole || nextHop.isBlackhole
            pending += nextHop.members.reversed()
        }
        return (nextHops, isBlackhole)
    }
}

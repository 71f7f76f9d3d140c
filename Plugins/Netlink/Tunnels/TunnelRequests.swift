// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

extension NetlinkRequest {
    /// Asks for all rules of the routing policy, of both families.
    static func dumpRules() -> NetlinkRequest {
        // struct fib_rule_hdr.
        NetlinkRequest(RTM_GETRULE, flags: NLM_F_DUMP, headerLength: 12)
    }

    /// Asks for the forwarding database of an interface.
    static func dumpForwarding(of interface: UInt32) -> NetlinkRequest {
        // struct ndmsg.
        var request = NetlinkRequest(RTM_GETNEIGH, flags: NLM_F_DUMP, headerLength: 12, family: AF_BRIDGE)
        request.append(NDA_IFINDEX, interface)
        return request
    }

    /// Asks for all unicast routes of a family.
    static func dumpRoutes(_ family: AddressFamily) -> NetlinkRequest {
        // struct rtmsg.
        NetlinkRequest(RTM_GETROUTE, flags: NLM_F_DUMP, headerLength: 12, family: family.number)
    }
}

/// A route of a table to others than the internet, as far as it tells through what it leads.
struct TableRoute: Hashable {
    /// The interfaces that lead to its gateways, dead ones included; empty for a route without any.
    var gatewayed: [UInt32]
    /// The other interfaces that it leads through.
    var direct: [UInt32]
    /// Whether it leads to a single address.
    var isToHost: Bool

    /// Reads RTM_NEWROUTE; nil for default routes, and for those that are not about packets to others.
    init?(_ message: NetlinkMessage) {
        // rtm_dst_len of struct rtmsg.
        guard message.type == RTM_NEWROUTE, let length = message.field(at: 1, as: UInt8.self), length > 0,
            let reply = RouteReply(message), reply.type == RTN_UNICAST
        else { return nil }
        self.gatewayed = reply.nextHops.filter { $0.gateway != nil }.map(\.interfaceIndex)
        self.direct = reply.nextHops.filter { $0.gateway == nil }.map(\.interfaceIndex)
        self.isToHost = length == (message.family == AF_INET ? 32 : 128)
    }
}

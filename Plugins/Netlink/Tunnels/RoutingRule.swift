// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// A rule of the routing policy database, as far as it speaks of marks, source addresses and protocols (`ip-rule(8)`).
struct RoutingRule: Hashable {
    var family: AddressFamily
    /// The order of the rules; the lowest comes first.
    var priority: UInt32
    /// The table it leads to; nil for rules that do something else.
    var table: UInt32?
    /// The mark that it asks for.
    var mark: UInt32?
    /// Whether it is about everything that does not fit (FIB_RULE_INVERT).
    var isInverted = false
    /// The length of the source prefix; 0 when the rule is for packets from any address.
    var sourceLength: UInt8 = 0
    /// Whether it answers "unreachable" (ENETUNREACH, as for a missing route) to packets that it asks nothing else of but
    /// their mark.
    var isUnreachable = false
    /// The protocol that it asks for (IPPROTO_*).
    var protocolNumber: UInt8?
    /// The rule that a search goes on with (`goto`).
    var target: UInt32?
}

extension RoutingRule {
    /// The length of struct fib_rule_hdr.
    private static let headerLength = 12

    /// Reads RTM_NEWRULE; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWRULE, message.family == AF_INET || message.family == AF_INET6,
            let sourceLength = message.field(at: 2, as: UInt8.self),
            let table = message.field(at: 4, as: UInt8.self),
            let action = message.field(at: 7, as: UInt8.self), let flags = message.field(at: 8, as: UInt32.self)
        else { return nil }
        self.init(
            family: message.family == AF_INET ? .ipv4 : .ipv6,
            priority: 0,
            table: action == UInt8(FR_ACT_TO_TBL) ? UInt32(table) : nil,
            isInverted: flags & UInt32(FIB_RULE_INVERT) != 0,
            sourceLength: sourceLength
        )
        // struct fib_rule_hdr: the lengths of destination and source, and the type of service.
        self.isUnreachable =
            action == UInt8(FR_ACT_UNREACHABLE)
            && (1...3).allSatisfy { message.field(at: $0, as: UInt8.self) == 0 }
        message.forEachAttribute(headerLength: Self.headerLength) { type, attribute in
            switch type {
            case FRA_PRIORITY: self.priority = attribute.uint32 ?? 0
            case FRA_FWMARK: self.mark = attribute.uint32
            case FRA_GOTO: self.target = attribute.uint32
            case FRA_IP_PROTO:
                self.protocolNumber = attribute.load(at: 0)
                self.isUnreachable = false
            // The header's field has 8 bits.
            case FRA_TABLE where self.table != nil: self.table = attribute.uint32 ?? self.table
            case FRA_TABLE, FRA_SUPPRESS_PREFIXLEN, FRA_SUPPRESS_IFGROUP, FRA_PROTOCOL: break
            case FRA_FWMASK where attribute.uint32 == .max: break
            default: self.isUnreachable = false
            }
        }
    }

    /// Whether a rule, and not the want of a route, is why packets find no way: one that answers "unreachable" before all
    /// tables were searched, and that none leads past.
    static func refuses(_ flow: Flow, among rules: [RoutingRule]) -> Bool {
        rules.contains { rule in
            rule.isUnreachable && rule.family == flow.destination.family
                && (rule.mark.map { $0 == flow.mark ?? 0 } ?? true) != rule.isInverted
                && rules.contains { $0.table != nil && $0.family == rule.family && $0.priority > rule.priority }
                && !rules.contains {
                    $0.family == rule.family && $0.priority < rule.priority && $0.target ?? 0 > rule.priority
                }
        }
    }

    /// The mark of the packets that a tunnel itself sends, as the rules show it.
    ///
    /// Not any mark that stands in a rule: transparent proxies, load balancers and shapers use marks too. It is its own
    /// when all packets but those with the mark are led into the tunnel (`not fwmark M lookup T`, as wg-quick does it), or
    /// when those with the mark are led past it, to the ordinary routes (`fwmark M lookup main` before `lookup T`, as
    /// Tailscale does it).
    ///
    /// - Parameters:
    ///   - table: The table that sends packets into the tunnel.
    ///   - family: The family of these packets.
    ///   - rules: All rules.
    /// - Returns: The mark; nil when the rules show none.
    static func ownMark(ofTunnelIn table: UInt32, _ family: AddressFamily, among rules: [RoutingRule]) -> UInt32? {
        // Rules about ordinary routes lead nothing past a tunnel that stands in these routes.
        guard table != Route.mainTable else { return nil }
        let rules = rules.filter { $0.family == family }.sorted { $0.priority < $1.priority }
        guard let entrance = rules.first(where: { $0.table == table }) else { return nil }
        if entrance.isInverted, let mark = entrance.mark, mark != 0 { return mark }
        return rules.first { rule in
            rule.priority < entrance.priority && rule.table == Route.mainTable && !rule.isInverted
                && rule.mark ?? 0 != 0
        }?.mark
    }
}

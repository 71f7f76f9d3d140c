// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// The program the kernel runs on every event, to wake us for those that can matter only (`packet(7)`, classic BPF).
///
/// It passes
/// - routes whose prefix covers a watched destination: a host whose routing daemon changes 200,000 other routes never
///   wakes us. IPv6 prefixes are compared to 64 bits at most: a few routes too many pass, none too few;
/// - routes to single hosts, where one may be that of a VPN program to its server;
/// - neighbours that are gateways in use and fail, and while one has failed every change of them;
/// - links, but not those of wireless extensions alone, such as the end of each scan;
/// - entries of bridges about gateways, where these are behind bridges;
/// - forwarding entries with an all-zero hardware address, where far ends of VXLAN depend on them: of those that a bridge
///   or a daemon learns there are thousands;
/// - settings, when routes of interfaces without a carrier begin or cease to be ignored;
/// - everything that is none of these.
struct EventFilter: Hashable {
    /// What the session wants to hear of.
    struct Interests: Hashable {
        /// Where routes may lead.
        var destinations: Set<InternetAddress> = []
        /// Whether routes matter wherever they lead.
        var everyRoute = false
        /// Whether IPv4 routes to single hosts matter.
        var hostRoutes = false
        /// Whether it matters where VXLAN interfaces send frames that no forwarding entry of its own is for.
        var forwarding = false
        /// The neighbours that routes in use lead through.
        var gateways: Set<InternetAddress> = []
        /// Whether a gateway has failed, so that it matters when one answers.
        var followsRecovery = false
        /// Where gateways answer from, when one is behind a bridge: then it matters when a bridge forgets one.
        var hardwareAddresses: Set<[UInt8]>?
        /// Those of which that is not known yet, and all where one is lost: it may answer from another address.
        var unknownGateways: Set<InternetAddress> = []
        /// Whether it matters too when a bridge learns one.
        var followsForwarding = false
        /// Whether qdiscs come and go that could matter; classes and filters never do.
        var qdiscs = false
    }

    /// Beyond this many watched destinations of a family every route of the family passes: the kernel bounds programs by
    /// the memory for socket options (net.core.optmem_max, 20 KiB on older kernels), and a replacement and what it
    /// replaces need room at the same time.
    static let limit = 20
    /// Beyond this many gateways of a family every neighbour of the family counts as one.
    static let gatewayLimit = 8

    let instructions: [FilterInstruction]

    /// Builds the program.
    init(_ interests: Interests) {
        let routes =
            interests.everyRoute
            ? [.accept] : Self.routeBlock(interests.destinations.sorted(), hosts: interests.hostRoutes)
        let neighbours = Self.neighbourBlock(interests)
        let blocks = [
            routes, neighbours.removed, neighbours.changed, Self.settingsBlock, Self.linkBlock, [.reject],
        ]
        var types = [
            RTM_NEWROUTE: 0, RTM_DELROUTE: 0, RTM_DELNEIGH: 1, RTM_NEWNEIGH: 2, RTM_NEWNETCONF: 3, RTM_NEWLINK: 4,
        ]
        if interests.qdiscs {
            for type in Self.trafficControl { types[type] = 5 }
        }
        // nlmsg_type stands in the machine's order, and halfword loads take it for network order.
        var program: [FilterInstruction] = [.loadHalf(at: 4)]
        for (position, (type, block)) in types.sorted(by: { $0.key < $1.key }).enumerated() {
            // The rest of the table, the instruction behind it, and the blocks in between.
            let distance = 2 * (types.count - position - 1) + 1 + blocks[..<block].joined().count
            program += [
                .jump(equal: UInt32(UInt16(type).bigEndian), true: 0, false: 1),
                .skip(distance),
            ]
        }
        self.instructions = program + [.accept] + blocks.joined()
    }

    /// The messages about traffic control besides those about qdiscs.
    private static let trafficControl = [
        RTM_NEWTCLASS, RTM_DELTCLASS, RTM_NEWTFILTER, RTM_DELTFILTER, RTM_NEWACTION, RTM_DELACTION, RTM_NEWCHAIN,
        RTM_DELCHAIN,
    ]

    // MARK: Links

    /// Passes all but wireless events, which carry IFLA_WIRELESS and nothing of the link's state
    /// (`rtnetlink_ifinfo_prep`, net/wireless/wext-core.c): a full message follows every change.
    private static let linkBlock: [FilterInstruction] =
        Self.find(IFLA_WIRELESS, headerLength: 16) + [.jump(equal: 0, true: 4, false: 0)]
        + Self.find(IFLA_OPERSTATE, headerLength: 16) + [.jump(equal: 0, true: 1, false: 0), .accept, .reject]

    // MARK: Settings

    /// Passes `ignore_routes_with_linkdown`; a new interface announces all its settings at once, and has no routes.
    private static let settingsBlock: [FilterInstruction] =
        Self.find(NETCONFA_FORWARDING, headerLength: 4) + [.jump(equal: 0, true: 1, false: 0), .reject]
        + Self.find(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN, headerLength: 4)
        + [.jump(equal: 0, true: 0, false: 1), .reject, .accept]

    /// The accumulator := where an attribute begins, behind the header of netlink and the family's own; 0 without it.
    static func find(_ attribute: Int, headerLength: UInt32) -> [FilterInstruction] {
        [.load(16 + headerLength), .loadIndex(UInt32(attribute)), .findAttribute]
    }

    // MARK: Routes

    private static func routeBlock(_ addresses: [InternetAddress], hosts: Bool) -> [FilterInstruction] {
        let ipv4 = Self.ipv4Routes(addresses.filter { $0.family == .ipv4 })
        let ipv6 = Self.ipv6Routes(addresses.filter { $0.family == .ipv6 })
        // rtm_dst_len: a default route covers everything, and a few IPv6 prefixes pass as hosts of IPv4.
        let head =
            [.loadByte(at: 17)]
            + ([0] + (hosts ? [32] : [])).flatMap { [.jump(equal: $0, true: 0, false: 1), .accept] }
            + [FilterInstruction.store(.length)]
        return head + Self.findDestination + Self.byFamily(ipv4, ipv6, others: .accept)
    }

    /// Runs one of two blocks, by the family of the message; what is of another family ends.
    static func byFamily(
        _ ipv4: [FilterInstruction],
        _ ipv6: [FilterInstruction],
        others end: FilterInstruction
    ) -> [FilterInstruction] {
        let dispatch: [FilterInstruction] = [
            .loadByte(at: 16),
            .jump(equal: UInt32(AF_INET), true: 0, false: 1),
            .skip(3),
            .jump(equal: UInt32(AF_INET6), true: 1, false: 0),
            end,
            .skip(ipv4.count),
        ]
        return dispatch + ipv4 + ipv6
    }

    /// Finds RTA_DST and stores its first words; without it the route passes.
    private static let findDestination: [FilterInstruction] =
        // The kernel refuses programs that could load a cell before storing it.
        [.load(0), .store(.secondWord)] + Self.find(Int(RTA_DST.rawValue), headerLength: 12) + [
            .jump(equal: 0, true: 0, false: 1),
            .accept,
            .copyToIndex,
            .loadWord(behindIndex: 4),
            .store(.firstWord),
            .load(.length),
            .jump(greater: 32, true: 0, false: 2),
            .loadWord(behindIndex: 8),
            .store(.secondWord),
        ]

    /// The index register := width - prefix length, the number of low bits that do not count.
    private static func hostBits(of width: UInt32) -> [FilterInstruction] {
        [.load(width), .loadIndex(.length), .subtractIndex, .copyToIndex]
    }

    private static func ipv4Routes(_ addresses: [InternetAddress]) -> [FilterInstruction] {
        guard addresses.count <= self.limit else { return [.accept] }
        return self.hostBits(of: 32) + addresses.flatMap { Self.comparison(.firstWord, $0.word(0)) } + [.reject]
    }

    private static func ipv6Routes(_ addresses: [InternetAddress]) -> [FilterInstruction] {
        guard addresses.count <= self.limit else { return [.accept] }
        let short =
            self.hostBits(of: 32) + addresses.flatMap { Self.comparison(.firstWord, $0.word(0)) } + [.reject]
        let clampToSixtyFour: [FilterInstruction] = [
            .load(.length), .jump(greater: 64, true: 0, false: 2), .load(64), .store(.length),
        ]
        let long =
            clampToSixtyFour + self.hostBits(of: 64)
            + addresses.flatMap { address in
                [.load(.firstWord), .jump(equal: address.word(0), true: 0, false: 5)]
                    + Self.comparison(.secondWord, address.word(1))
            } + [.reject]
        return [.load(.length), .jump(greater: 32, true: 0, false: 1), .skip(short.count)] + short + long
    }

    /// Passes the route when the leading bits of a stored word are those of a watched address.
    private static func comparison(_ cell: FilterInstruction.Cell, _ word: UInt32) -> [FilterInstruction] {
        [.load(cell), .exclusiveOr(word), .shiftRightByIndex, .jump(equal: 0, true: 0, false: 1), .accept]
    }
}

extension InternetAddress {
    /// One of the 32-bit words of the address, the most significant first.
    func word(_ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: self.bits >> (self.bitWidth - 32 * (index + 1)))
    }
}

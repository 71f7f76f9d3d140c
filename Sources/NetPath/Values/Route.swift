// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the kernel would do with a packet to one destination.
public enum RouteLookupResult: Hashable, Sendable, Codable {
    /// It would be sent.
    case route(Route)
    /// It would be refused.
    case rejected(RouteRejection)
    /// There is no route.
    case noRoute
    /// The backend cannot tell.
    case unknown
}

/// How a route refuses packets (`ip-route(8)`, route types).
public enum RouteRejection: String, Hashable, Sendable, Codable {
    /// Dropped silently.
    case blackhole
    /// Answered with "host unreachable".
    case unreachable
    /// Answered with "administratively prohibited".
    case prohibit
    /// Sent to all hosts of a link at once, which a connection cannot be (ENETUNREACH, for UDP EACCES).
    case broadcast
    /// Refused by a policy of IPsec (`ip-xfrm(8)`, EPERM).
    case ipsecBlock
    /// Dropped by a policy of IPsec that asks for a state which there is not.
    case ipsecState
    /// Dropped by such a policy, which has a program negotiate the state.
    case ipsecOnDemand

    /// What refuses, for people.
    ///
    /// The kernel gives the same answer for a blackhole or prohibit rule as for such a route (EINVAL, EACCES), and for
    /// an unreachable rule the one for a missing route (`fib_rules.c`, `ip6_fib.c`): that there is one the rules tell.
    package var description: String {
        switch self {
        case .blackhole: "a blackhole route or rule"
        case .unreachable: "an unreachable route or rule"
        case .prohibit: "a prohibit route or rule"
        case .broadcast: "a broadcast route"
        case .ipsecBlock: "a blocking IPsec policy"
        case .ipsecState: "an IPsec policy without a state"
        case .ipsecOnDemand: "an IPsec policy whose state is negotiated on demand"
        }
    }
}

/// A unicast route the kernel chose.
public struct Route: Hashable, Sendable, Codable {
    /// The next hops; more than one for multipath.
    public var nextHops: [NextHop]
    /// The source address the kernel would choose.
    public var source: RouteSource
    /// The metric, lower is preferred; nil when unknown.
    public var metric: UInt32?
    /// The table that routes are in unless something else is said (RT_TABLE_MAIN, `rtnetlink(7)`).
    package static var mainTable: UInt32 { 254 }
    /// The table of the addresses of this machine (RT_TABLE_LOCAL).
    package static var localTable: UInt32 { 255 }

    /// The routing table; nil when unknown.
    public var table: UInt32?
    /// What the kernel puts packets into on their way (lightweight tunnels, `encap` of `ip-route(8)`), such as `seg6`,
    /// which may drop them; nil without.
    public var encapsulation: String?
    /// Which of the next hops the kernel's hash picks for the packet, where some lose packets; nil where it was not asked, and
    /// where more than its addresses decides (`net.ipv4.fib_multipath_hash_policy`).
    public var selectedNextHop: Int?

    /// Creates a route.
    public init(nextHops: [NextHop], source: RouteSource = .unknown, metric: UInt32? = nil, table: UInt32? = nil) {
        self.nextHops = nextHops
        self.source = source
        self.metric = metric
        self.table = table
    }
}

extension Route {
    /// The next hop that the kernel's hash picks; nil where that is not known.
    var hashedNextHop: NextHop? {
        self.selectedNextHop.flatMap { self.nextHops.indices.contains($0) ? self.nextHops[$0] : nil }
    }
}

/// One next hop of a route.
public struct NextHop: Hashable, Sendable, Codable {
    /// The interface packets leave through.
    public var interfaceIndex: UInt32
    /// The next hop, which may be of the other family (RTA_VIA); nil on links without gateways.
    public var gateway: InternetAddress?
    /// Whether the kernel marks the hop dead or without link (RTNH_F_DEAD, RTNH_F_LINKDOWN).
    public var isDown: Bool
    /// Whether the kernel passes over the hop (RTNH_F_DEAD), so that the other hops of the route get its packets.
    ///
    /// A hop that is only without link keeps them, unless `ignore_routes_with_linkdown` is set.
    public var isPassedOver: Bool
    /// How large a share of the route's packets the hop gets beside the others; nil counts as 1.
    public var weight: UInt32?
    /// Where a bridge has what the packets of a tunnel go to here, which may be their far end on the link; nil when it was
    /// not asked.
    public var place: BridgePlace?

    /// Creates a next hop.
    public init(
        interfaceIndex: UInt32,
        gateway: InternetAddress? = nil,
        isDown: Bool = false,
        isPassedOver: Bool = false
    ) {
        self.interfaceIndex = interfaceIndex
        self.gateway = gateway
        self.isDown = isDown
        self.isPassedOver = isPassedOver
    }
}

/// The source address the kernel would put into a packet.
public enum RouteSource: Hashable, Sendable, Codable {
    /// This one; it may belong to another interface than the one the packet leaves through.
    case address(InternetAddress)
    /// There is none to choose from.
    case none
    /// The backend cannot tell.
    case unknown
}

/// The answer for one of the addresses that stand for the whole internet.
public struct ReferenceRoute: Hashable, Sendable, Codable {
    /// The address asked about.
    public var destination: InternetAddress
    /// What the kernel would do.
    public var answer: RouteLookupResult

    /// Creates an answer.
    public init(to destination: InternetAddress, _ answer: RouteLookupResult) {
        self.destination = destination
        self.answer = answer
    }

    /// The addresses to ask about unless the configuration names others.
    ///
    /// Two of each family, one in each half of the address space, so that a VPN that splits the default route in two
    /// halves is seen. Nothing is ever sent to them. Documentation prefixes would meet bogon filters.
    public static let defaultDestinations: [InternetAddress] = [
        InternetAddress(ipv4: 0x0900_0001), InternetAddress(ipv4: 0xC100_0001),
        InternetAddress(ipv6: 0x2600 << 112 | 1), InternetAddress(ipv6: 0x3000 << 112 | 1),
    ]
}

extension [ReferenceRoute] {
    /// The interfaces that packets leave through, each of them once.
    package var egress: [UInt32] {
        var egress: [UInt32] = []
        for position in self.indices { self[position].answer.addEgress(to: &egress) }
        return egress
    }
}

extension RouteLookupResult {
    /// Adds the interfaces that packets leave through to a list that has each of them once.
    // Inlined, here and in the properties of an interface: else each call copies the whole value.
    @inline(__always) package func addEgress(to egress: inout [UInt32]) {
        guard case .route(let route) = self else { return }
        for nextHop in route.nextHops where !egress.contains(nextHop.interfaceIndex) {
            egress.append(nextHop.interfaceIndex)
        }
    }
}

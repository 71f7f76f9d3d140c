// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a backend found out about the outer packets of a tunnel: those that the tunnel itself sends, with the packets
/// that were sent into it inside (RFC 2003).
///
/// Facts only: whether something carries the tunnel is for the evaluation to say.
public struct TunnelEvidence: Hashable, Sendable, Codable {
    /// What the kernel would do with them, one entry for each question; empty when there was nothing to ask by.
    public var routes: [OuterRoute]
    /// The interfaces that a route with a gateway leads through which is not a default route, dead ones included; nil when
    /// the backend did not look.
    public var gatewayedInterfaces: [UInt32]?
    /// The interfaces that IPv4 routes to single hosts lead through beside the tunnel, dead ones included.
    ///
    /// One of these routes may be that to the far end. Nil when the backend did not look, or policy rules lead into the tunnel.
    public var hostInterfaces: [UInt32]?
    /// The interfaces that led out when last any did, while the backend watched; empty while some still do.
    ///
    /// For the tunnel's packets where it could ask about these, else for any.
    public var formerCarriers: [UInt32]
    /// Whether packets keep coming in through the tunnel, long after nothing led out any more.
    public var isReceiving: Bool
    /// Whether the socket of the tunnel's packets is in another network namespace, so that its routes count and not those
    /// of this one.
    public var isSocketElsewhere: Bool

    /// Creates what is known when nothing was found out.
    public init(
        routes: [OuterRoute] = [],
        gatewayedInterfaces: [UInt32]? = nil,
        hostInterfaces: [UInt32]? = nil,
        formerCarriers: [UInt32] = [],
        isReceiving: Bool = false,
        isSocketElsewhere: Bool = false
    ) {
        self.routes = routes
        self.gatewayedInterfaces = gatewayedInterfaces
        self.hostInterfaces = hostInterfaces
        self.formerCarriers = formerCarriers
        self.isReceiving = isReceiving
        self.isSocketElsewhere = isSocketElsewhere
    }
}

/// What the kernel would do with an outer packet.
public struct OuterRoute: Hashable, Sendable, Codable {
    /// How the backend came to ask the question.
    public enum Basis: Hashable, Sendable, Codable {
        /// The far end of the tunnel is known: by a rule of the configuration, or by the tunnel itself.
        case endpoint
        /// Only the mark of the outer packets is known (SO_MARK), which takes them past the routes into the tunnel.
        case mark
        /// Nothing is known: this is a default route beside the tunnel.
        case defaultRoute
    }

    /// How the backend came to ask.
    public var basis: Basis
    /// Where the packet goes.
    public var destination: InternetAddress
    /// The only interface that the packet may leave through; nil leaves the choice to the kernel.
    public var interfaceIndex: UInt32?
    /// What the kernel would do.
    public var answer: RouteLookupResult

    /// Creates an answer.
    public init(
        _ basis: Basis,
        to destination: InternetAddress,
        through interfaceIndex: UInt32? = nil,
        _ answer: RouteLookupResult
    ) {
        self.basis = basis
        self.destination = destination
        self.interfaceIndex = interfaceIndex
        self.answer = answer
    }
}

/// The far end of a tunnel, as a rule of the configuration names it.
public struct TunnelEndpoint: Hashable, Sendable, Codable {
    /// The address.
    public var address: InternetAddress
    /// The name or the index of the interface that a link-local address is valid on (RFC 4007); nil for others.
    public var zone: String?

    /// Creates an endpoint.
    public init(_ address: InternetAddress, zone: String? = nil) {
        self.address = address
        self.zone = zone
    }
}

extension NetworkInterface {
    /// What is below a stacked interface, as far as it matters to the way of packets.
    public enum Underlay: Hashable, Sendable, Codable {
        /// A piece of hardware, beside whatever else.
        case hardware
        /// Tunnels and nothing else.
        case tunnels
    }

    /// Whether the kernel's kind of the interface is one that sends packets inside other packets, or hands them to a
    /// program that does.
    ///
    /// Not `ppp`, which mostly is a line to a provider.
    @inline(__always) package var hasTunnelKind: Bool { Self.isTunnelKind(self.kind) }

    /// The same of a kind alone.
    package static func isTunnelKind(_ kind: String?) -> Bool { kind.map(self.tunnelKinds.contains) ?? false }

    /// The kinds as the kernel's modules name them (`rtnl_link_ops`; L2TPv3's in DEVTYPE, `l2tp_eth.c`).
    private static let tunnelKinds: Set<String> = [
        "wireguard", "tun", "ovpn", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "ipip", "sit",
        "ip6tnl",
        "vti", "vti6", "xfrm", "vxlan", "geneve", "bareudp", "gtp", "amt", "pfcp",
        "l2tpeth",
    ]
}

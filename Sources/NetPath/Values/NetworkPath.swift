// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The network path: whether the network can be reached, over what, and if not, why not.
///
/// A complete snapshot: a consumer never needs anything that came before it. Equality ignores sequence numbers,
/// times, ages and counters.
public struct NetworkPath: Hashable, Sendable, Codable {
    /// Whether there is a path.
    public var status: PathStatus
    /// Why.
    public var reason: PathReason
    /// The name of the backend that states the path; nil when netpath worked it out from evidence.
    ///
    /// Its ``reason``, and what else it states, is then that backend's word; see ``Conclusion``.
    public var statedBy: String?
    /// Whether this is the last known path, no backend being able to confirm or refute it now.
    public var isStale = false
    /// The interfaces in order of preference: those that carry the path, alternatives, then the rest with reasons.
    ///
    /// While the path is satisfied only interfaces that could carry it are listed, so that containers coming and
    /// going never look like a change.
    public var interfaces: [PathInterface] = []
    /// The index of the interface that carries the packets of the tunnel the path leaves through; nil without a tunnel, and
    /// when it is unknown.
    public var carriedByIndex: UInt32?
    /// The gateways in use.
    public var gateways: [Gateway] = []
    /// The name servers, each with whether it can be reached; nil when no backend knows them.
    ///
    /// Behind a local forwarder, such as the stub of systemd-resolved, those that it forwards to.
    public var dnsServers: [DNSServer]?
    /// Whether ``supportsIPv4`` and ``supportsIPv6`` are known; where a backend states a path without them, both are false.
    public var knowsFamilies = true
    /// Whether IPv4 packets reach the internet as far as the kernel is concerned.
    public var supportsIPv4 = false
    /// Whether IPv6 packets reach the internet as far as the kernel is concerned.
    public var supportsIPv6 = false
    /// Whether there is a path, and a name server is configured that the kernel would send packets to.
    ///
    /// A server that no backend asked about counts as one.
    public var supportsDNS: Bool {
        self.status == .satisfied && self.dnsServers?.contains { $0.isReachable != false } == true
    }
    /// Whether traffic is likely to cost money: one of the ways that packets may take, or what carries it as a tunnel, is
    /// cellular, or the backend or a rule says so.
    public var isExpensive = false
    /// Whether traffic should be kept low, because a rule says so of one of the ways that packets may take.
    public var isConstrained = false
    /// What probes say of the internet, and backends that state it.
    public var internet = InternetReachability.unknown
    /// Where a captive portal wants people to sign in; nil when none is known.
    public var portalURL: String?
    /// The latest outcomes of all probes.
    public var probes: [ProbeOutcome] = []
    /// Which backend said what, in order of priority.
    public var backends: [BackendReport] = []
    /// The healthy backends whose status differs from the published one.
    public var disagreements: [Disagreement] = []
    /// The number of the snapshot; each published path has a higher one than the one before.
    @EqualityIgnored public var sequence: UInt64 = 0
    /// When the path was published.
    @EqualityIgnored public var publishedAt = MonotonicTime(nanoseconds: 0)
    /// When the reading began that the path is built on (``Evidence/observedAt``).
    @EqualityIgnored public var observedAt = MonotonicTime(nanoseconds: 0)

    // As recordings have them.
    private enum CodingKeys: String, CodingKey {
        case status, reason, statedBy, isStale, interfaces, gateways, dnsServers
        case carriedByIndex = "underlyingIndex"
        case knowsFamilies, supportsIPv4, supportsIPv6, isExpensive, isConstrained
        case internet, portalURL, probes, backends, disagreements
        case sequence, publishedAt, observedAt
    }

    /// Creates a path without details; everything else is set afterwards.
    public init(_ status: PathStatus, _ reason: PathReason, interfaces: [PathInterface] = []) {
        self.status = status
        self.reason = reason
        self.interfaces = interfaces
    }
}

/// An interface as part of a path.
public struct PathInterface: Hashable, Sendable, Codable {
    /// The kernel's index; 0 when it is not known, as of an interface that one backend names and none sees.
    public var index: UInt32
    /// The name.
    public var name: String
    /// What the interface is.
    public var type: InterfaceType
    /// The kernel's kind of a virtual interface; nil for hardware.
    public var kind: String?
    /// The operational state; nil when unknown.
    public var operationalState: OperationalState?
    /// The usable addresses, sorted; none where they are unknown (``knowsAddresses``).
    public var addresses: [AddressPrefix] = []
    /// Whether the addresses are known.
    public var knowsAddresses = true
    /// The gateways of the default routes through this interface.
    public var gateways: [InternetAddress] = []
    /// The metric of the preferred default route through this interface; nil when there is none.
    public var metric: UInt32?
    /// The routing table of that route.
    public var table: UInt32?
    /// The interface this one is built on.
    public var underlyingIndex: UInt32?
    /// Whether the kernel routes IPv4 packets to the internet through this interface, or would if it had no other.
    public var supportsIPv4 = false
    /// Whether the kernel routes IPv6 packets to the internet through this interface, or would if it had no other.
    public var supportsIPv6 = false
    /// The role of the interface, or what keeps it from carrying the path.
    public var reason: PathReason
    /// What backends show with it (``InterfaceFacts/label``); nil when none does.
    public var labels: [InterfaceLabel]?

    /// Creates an interface without addresses; everything else is set afterwards.
    public init(index: UInt32, name: String, type: InterfaceType, reason: PathReason) {
        self.index = index
        self.name = name
        self.type = type
        self.reason = reason
    }
}

/// A gateway and the interface it is reached through.
public struct Gateway: Hashable, Sendable, Codable {
    /// The gateway's address.
    public var address: InternetAddress
    /// The index of the interface.
    public var interfaceIndex: UInt32
    /// Whether it answers on the link, as far as the kernel knows: false when it did not the last time that packets were
    /// sent through it (NUD_FAILED), so that the kernel drops them; nil when that is unknown, or its link-layer address
    /// is configured (NUD_PERMANENT, NUD_NOARP).
    ///
    /// The kernel notices within 32 s (IPv4) or 45 s (IPv6) by its default settings, and only while there is traffic.
    /// netpath sends nothing to find out.
    public var answers: Bool?
    /// Whether it did not answer when it was last asked, before the link was there or some time ago, so that it says
    /// nothing of now: the next packet asks it again.
    package var failedBefore: Bool?
    /// Where the bridge that the interface is, or stands on, has the gateway; nil when it was not asked.
    ///
    /// Evidence of a backend; paths do not tell it.
    public var place: BridgePlace?

    /// Creates a gateway.
    public init(
        address: InternetAddress,
        interfaceIndex: UInt32,
        answers: Bool? = nil,
        place: BridgePlace? = nil
    ) {
        self.address = address
        self.interfaceIndex = interfaceIndex
        self.answers = answers
        self.place = place
    }
}

/// What probes say of the internet, and backends that state it.
public enum InternetReachability: String, Hashable, Sendable, Codable {
    /// A target answered.
    case reachable
    /// Every target was tried and none answered.
    case unreachable
    /// A captive portal answered.
    case portal
    /// No probe is configured, or none is finished; where probes are required, also when one was answered and there is
    /// no path.
    case unknown
}

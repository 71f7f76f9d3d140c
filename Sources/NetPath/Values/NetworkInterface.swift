// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What an interface is, in the terms of Apple's `NWInterface.InterfaceType`.
public enum InterfaceType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A Wi-Fi link.
    case wifi
    /// A cellular link.
    case cellular
    /// A wired link: Ethernet, and what behaves like it (veth, VLAN over Ethernet).
    case wired
    /// The loopback interface.
    case loopback
    /// Everything else, tunnels included.
    case other
}

/// The operational state of an interface (RFC 2863, kernel document `operstates.rst`).
///
/// The raw values are the kernel's IF_OPER_* numbers.
public enum OperationalState: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The driver does not say; the interface is usable.
    case unknown = 0
    /// The hardware is absent.
    case notPresent = 1
    /// No carrier, or administratively down.
    case down = 2
    /// An interface below this one is down.
    case lowerLayerDown = 3
    /// In a test mode.
    case testing = 4
    /// Carrier is present, but a step such as 802.1X or the WPA handshake is pending.
    case dormant = 5
    /// Ready.
    case up = 6

    /// The name used in output, for example `lowerLayerDown`.
    public var name: String {
        // Not "\(self)": that asks the reflection metadata, on the way of every event.
        switch self {
        case .unknown: "unknown"
        case .notPresent: "notPresent"
        case .down: "down"
        case .lowerLayerDown: "lowerLayerDown"
        case .testing: "testing"
        case .dormant: "dormant"
        case .up: "up"
        }
    }
}

/// The administrative properties of an interface.
///
/// Raw values are the kernel's IFF_* bits (`netdevice(7)`). Bits that say nothing about the path (PROMISC, ALLMULTI)
/// or that repeat the operational state (RUNNING, LOWER_UP, DORMANT) are left out, so that they never look like a
/// change.
public struct InterfaceFlags: OptionSet, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates flags from bits as they are.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates flags from the kernel's word, keeping only the bits named here.
    public init(kernelFlags: UInt32) {
        self.rawValue = kernelFlags & 0x109B
    }

    /// Administratively up (IFF_UP).
    public static let up = InterfaceFlags(rawValue: 0x1)
    /// Has a broadcast address (IFF_BROADCAST).
    public static let broadcast = InterfaceFlags(rawValue: 0x2)
    /// The loopback interface (IFF_LOOPBACK).
    public static let loopback = InterfaceFlags(rawValue: 0x8)
    /// A point-to-point link (IFF_POINTOPOINT).
    public static let pointToPoint = InterfaceFlags(rawValue: 0x10)
    /// No address resolution (IFF_NOARP).
    public static let noARP = InterfaceFlags(rawValue: 0x80)
    /// Supports multicast (IFF_MULTICAST).
    public static let multicast = InterfaceFlags(rawValue: 0x1000)
}

/// A network interface as a backend sees it.
public struct NetworkInterface: Hashable, Sendable, Codable {
    /// The index of loopback in every network namespace (LOOPBACK_IFINDEX, net/flow.h).
    package static var loopbackIndex: UInt32 { 1 }

    /// The kernel's index, unique within a network namespace.
    public var index: UInt32
    /// The name, for people; it can change while the index stays.
    public var name: String
    /// What the interface is.
    public var type: InterfaceType
    /// The kernel's kind of a virtual interface (IFLA_INFO_KIND), such as `veth` or `wireguard`; nil for hardware.
    public var kind: String?
    /// The bytes of the link-layer address (IFLA_ADDRESS); nil when there is none or the backend cannot know it.
    public var hardwareAddress: [UInt8]?
    /// The name of the driver of the hardware, such as `cdc_mbim`; nil when the backend cannot know it.
    public var driver: String?
    /// Administrative properties.
    public var flags: InterfaceFlags
    /// The operational state; nil when the backend cannot know it.
    public var operationalState: OperationalState?
    /// Whether there is a carrier; nil when the backend cannot know it.
    public var hasCarrier: Bool?
    /// Whether it has had a carrier since it was made (IFLA_CARRIER_UP_COUNT); nil when the backend cannot know it.
    public var hasHadCarrier: Bool?
    /// The interface this one is built on (IFLA_LINK), when it lies in the same namespace.
    public var underlyingIndex: UInt32?
    /// Whether it is built on something in another namespace (IFLA_LINK_NETNSID), as a container's interfaces are.
    public var isParentElsewhere = false
    /// What a stacked interface stands on; nil for others, and when the backend cannot know it.
    public var foundation: Underlay?
    /// What became known of the packets the interface itself sends, when it is a tunnel that the path may leave through;
    /// nil when the kernel was not asked.
    public var tunnelEvidence: TunnelEvidence?
    /// The names of the ports of a bridge that are up and have no carrier, where packets to the internet leave through the
    /// bridge: the state of a link does not tell whether the gateway is behind
    /// one of them.
    public var membersWithoutCarrier: [String] = []
    /// Whether a bridge has a port that packets can leave through, and a macvlan of mode source a sender that it takes
    /// packets of; nil for others, and when the backend cannot know it.
    public var hasPorts: Bool?
    /// What may take packets off an interface that discards them, where a route leads there; nil when it was not asked.
    public var diversions: [Diversion]?
    /// The bridge, bond or VRF this interface is a member of (IFLA_MASTER).
    public var controllerIndex: UInt32?
    /// Whether the interface stands for a piece of hardware; nil when the backend cannot know it.
    public var isHardware: Bool?
    /// Whether a radio switch blocks the interface (rfkill); nil when the backend cannot know it.
    public var isRadioBlocked: Bool?
    /// Whether traffic through it costs money, such as on a metered Wi-Fi; nil when the backend cannot know it.
    ///
    /// With nil a cellular interface is expensive and no other. A rule about the interface wins.
    public var isExpensive: Bool?
    /// The addresses, sorted; none where the backend cannot know them (``knowsAddresses``).
    public var addresses: [InterfaceAddress] = []
    /// Whether the backend knows the addresses: where it does not, that there are none means nothing.
    public var knowsAddresses = true
    /// The default routes the kernel would use if it had to send through this interface; nil when unknown.
    public var defaultRoutes: [InterfaceRoute]?
    /// Whether an address is expected to be configured from outside (router advertisement or DHCP seen).
    public var expectsConfiguration: Bool?
    /// What is seen to give the interface an address; nil when the backend cannot know it, or it is too early to tell.
    public var configurer: Configurer?
    /// Whether it had a default route earlier; nil when the backend cannot know it, as one that has just begun to look.
    public var hadDefaultRoute: Bool?
    /// What the links of a bond lack that carries nothing; nil for others, and when the backend cannot know it.
    public var bondFault: BondFault?
    /// How often in succession an authentication has ended with the loss of the carrier; nil when the backend did not see
    /// any.
    public var failedAuthentications: Int?
    /// When the carrier came, as far as the backend saw it; nil counts as long ago.
    @EqualityIgnored public var carrierSince: MonotonicTime?

    /// Whether packets go on through another interface; Bluetooth and gadgets are `other` too, but stand for hardware.
    @inline(__always) public var isTunnel: Bool { self.type == .other && self.isHardware != true }

    /// Creates an interface with an index, a name and a type; everything else is set afterwards.
    public init(index: UInt32, name: String, type: InterfaceType, flags: InterfaceFlags = []) {
        self.index = index
        self.name = name
        self.type = type
        self.flags = flags
    }
}

/// A default route through one interface, as the kernel would choose it there.
public struct InterfaceRoute: Hashable, Sendable, Codable {
    /// The family the route serves.
    public var family: AddressFamily
    /// The next hop, which may be of the other family (RTA_VIA); nil on links without gateways.
    public var gateway: InternetAddress?
    /// The metric, lower is preferred; nil when unknown.
    public var metric: UInt32?
    /// The routing table; nil when unknown.
    public var table: UInt32?
    /// When the route ends, as those of router advertisements do; nil when it has no lifetime or the backend cannot know
    /// it.
    @EqualityIgnored public var expiresAt: MonotonicTime?

    /// Creates a route.
    public init(family: AddressFamily, gateway: InternetAddress? = nil, metric: UInt32? = nil, table: UInt32? = nil) {
        self.family = family
        self.gateway = gateway
        self.metric = metric
        self.table = table
    }
}

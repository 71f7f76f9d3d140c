// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What a link message says.
struct LinkUpdate: Hashable {
    var index: UInt32
    var flags: InterfaceFlags
    /// ARPHRD_*, the link-layer type.
    var hardwareType: UInt16
    /// The attributes every full message carries; nil in wireless-extension events, which carry a name and flags only.
    var details: Details?

    /// What a full message says; what is nil here does not exist.
    struct Details: Hashable {
        var name: String
        var operationalState: OperationalState?
        var hasCarrier: Bool?
        /// Whether it has had a carrier since it was made; nil where an old kernel does not count.
        var hasHadCarrier: Bool?
        var kind: String?
        /// The link-layer address; of a point-to-point tunnel it is its own end's.
        var hardwareAddress: [UInt8]?
        var underlyingIndex: UInt32?
        /// Whether the link that it is built on is in another namespace (IFLA_LINK_NETNSID).
        var isParentElsewhere = false
        /// What a tunnel says of its own packets.
        var tunnel: TunnelAttributes?
        var controllerIndex: UInt32?
        /// What it forwards as the port of a bridge.
        var port = PortAttributes.everything
        /// Whether it takes in no frame: a macvlan of mode source to which no sender is named.
        var receivesNothing = false
        /// What a bond says of its members.
        var bond: BondAttributes?
        /// Whether there is a device behind the link (IFLA_PARENT_DEV_NAME); the hwsim and Bluetooth buses do not say.
        var hasParentDevice: Bool
        /// Whether a router advertisement was received (IF_RA_RCVD of `if_inet6.h`).
        var sawRouterAdvertisement: Bool
    }
}

extension LinkUpdate {
    /// The length of struct ifinfomsg.
    private static let headerLength = 16

    /// Reads RTM_NEWLINK or RTM_DELLINK.
    ///
    /// nil for messages of another family than AF_UNSPEC: AF_BRIDGE announces ports that leave a bridge as DELLINK
    /// although the interface lives, AF_INET6 announces protocol settings.
    init?(_ message: NetlinkMessage) {
        // libnl's getters do not check what kind of object they are given.
        guard message.type == RTM_NEWLINK || message.type == RTM_DELLINK,
            message.family == AF_UNSPEC,
            let hardwareType = message.field(at: 2, as: UInt16.self),
            let index = message.field(at: 4, as: UInt32.self), index > 0,
            let flags = message.field(at: 8, as: UInt32.self)
        else { return nil }
        self.index = index
        self.flags = InterfaceFlags(kernelFlags: flags)
        self.hardwareType = hardwareType
        var info: NetlinkAttribute?
        var (isFull, saysCarrier, hasParentDevice) = (false, false, false)
        var carriers: UInt32?
        // Once through them all: a link has some fifty.
        message.forEachAttribute(headerLength: Self.headerLength) { type, attribute in
            switch type {
            case IFLA_OPERSTATE: isFull = true
            case IFLA_CARRIER: saysCarrier = true
            case IFLA_CARRIER_UP_COUNT: carriers = attribute.uint32
            case IFLA_PARENT_DEV_NAME: hasParentDevice = true
            case IFLA_LINKINFO: info = attribute
            default: break
            }
        }
        let data = info?.nested(IFLA_INFO_DATA)
        // libnl looks into IFLA_INFO_DATA without asking whether it is there when IFLA_INFO_XSTATS is.
        guard isFull, data != nil || info?.nested(IFLA_INFO_XSTATS) == nil,
            var details = unsafe message.withObject({ unsafe Details(link: $0) }) ?? nil
        else { return }
        details.hasParentDevice = hasParentDevice
        if !saysCarrier { details.hasCarrier = nil }
        // The first one of a driver that begins with it is not counted; what is down claims one.
        details.hasHadCarrier = carriers.map { $0 > 0 || (self.flags.contains(.up) && details.hasCarrier == true) }
        if let kind = details.kind, let data { details.tunnel = TunnelAttributes(kind: kind, data) }
        // The number means something else for every kind: to a bridge its hello time.
        if details.kind == "bond" { details.bond = data.map(BondAttributes.init) }
        if ["macvlan", "macvtap"].contains(details.kind) {
            details.receivesNothing =
                data?.nested(IFLA_MACVLAN_MODE)?.uint32 == MACVLAN_MODE_SOURCE.rawValue
                && data?.nested(IFLA_MACVLAN_MACADDR_COUNT)?.uint32 == 0
        }
        // To other controllers than bridges the numbers mean something else.
        if details.controllerIndex != nil, let port = info?.nested(IFLA_INFO_SLAVE_DATA),
            info?.nested(IFLA_INFO_SLAVE_KIND)?.bytes.starts(with: "bridge".utf8) == true
        {
            details.port = PortAttributes(port)
        }
        self.details = details
    }

    /// The interface whose IPv6 settings an RTM_NEWLINK announces, as when it received a router advertisement.
    static func indexOfProtocolSettings(_ message: NetlinkMessage) -> UInt32? {
        guard message.type == RTM_NEWLINK, message.family == AF_INET6 else { return nil }
        return message.field(at: 4, as: UInt32.self)
    }

    /// What a port of a bridge forwards, from the RTM_NEWLINK of AF_BRIDGE that may be the only one to say so; and whether
    /// it has a carrier, which this message says before that of AF_UNSPEC (`netdev_state_change`, net/core/dev.c).
    static func port(_ message: NetlinkMessage) -> (index: UInt32, attributes: PortAttributes, hasCarrier: Bool)? {
        guard message.type == RTM_NEWLINK, message.family == AF_BRIDGE,
            let index = message.field(at: 4, as: UInt32.self),
            let flags = message.field(at: 8, as: UInt32.self),
            let port = message.attribute(IFLA_PROTINFO, headerLength: Self.headerLength)
        else { return nil }
        // IFF_LOWER_UP of `linux/if.h`.
        return (index, PortAttributes(port), flags & (1 << 16) != 0)
    }

    /// How many packets came in through an interface, from an RTM_NEWLINK with its counters.
    static func receivedPackets(_ message: NetlinkMessage) -> UInt64? {
        guard message.type == RTM_NEWLINK else { return nil }
        // struct rtnl_link_stats64 begins with rx_packets.
        return message.attribute(IFLA_STATS64, headerLength: Self.headerLength)?.load(at: 0)
    }
}

extension LinkUpdate.Details {
    fileprivate init?(link: OpaquePointer) {
        guard let name = unsafe rtnl_link_get_name(link) else { return nil }
        self.name = unsafe String(cString: name)
        self.operationalState = OperationalState(rawValue: unsafe rtnl_link_get_operstate(link))
        self.hasCarrier = unsafe rtnl_link_get_carrier(link) != 0
        self.kind = unsafe rtnl_link_get_type(link).map { unsafe String(cString: $0) }
        self.hardwareAddress = unsafe rtnl_link_get_addr(link).flatMap { address in
            let bytes = unsafe UnsafeRawBufferPointer(
                start: nl_addr_get_binary_addr(address),
                count: Int(nl_addr_get_len(address))
            )
            return unsafe bytes.isEmpty ? nil : [UInt8](bytes)
        }
        // An index of another namespace means nothing here.
        var namespace: Int32 = 0
        let isElsewhere = unsafe rtnl_link_get_link_netnsid(link, &namespace) == 0
        self.isParentElsewhere = isElsewhere
        let parent = unsafe rtnl_link_get_link(link)
        self.underlyingIndex = isElsewhere || parent <= 0 ? nil : UInt32(parent)
        let controller = unsafe rtnl_link_get_master(link)
        self.controllerIndex = controller > 0 ? UInt32(controller) : nil
        self.hasParentDevice = false
        var inet6Flags: UInt32 = 0
        let knowsInet6 = unsafe rtnl_link_inet6_get_flags(link, &inet6Flags) == 0
        self.sawRouterAdvertisement = knowsInet6 && inet6Flags & 0x20 != 0
    }
}

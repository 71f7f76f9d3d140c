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
        var hasParentDevice = false
        /// Whether a router advertisement was received (IF_RA_RCVD of `if_inet6.h`).
        var sawRouterAdvertisement = false
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
        guard message.type == RTM_NEWLINK || message.type == RTM_DELLINK,
            message.field(at: 0, as: UInt8.self) == UInt8(AF_UNSPEC),
            let hardwareType = message.field(at: 2, as: UInt16.self),
            let index = message.field(at: 4, as: UInt32.self), index > 0,
            let flags = message.field(at: 8, as: UInt32.self)
        else { return nil }
        self.index = index
        self.flags = InterfaceFlags(kernelFlags: flags)
        self.hardwareType = hardwareType
        var details = Details(name: "")
        var isFull = false
        var carriers: UInt32?
        // Once through them all: a link has some fifty.
        message.forEachAttribute(headerLength: Self.headerLength) { type, attribute in
            switch type {
            case IFLA_IFNAME: details.name = attribute.text
            case IFLA_ADDRESS: details.hardwareAddress = attribute.bytes
            case IFLA_OPERSTATE:
                isFull = true
                details.operationalState = attribute.load(at: 0).flatMap { OperationalState(rawValue: $0) }
            case IFLA_CARRIER: details.hasCarrier = attribute.load(at: 0).map { (carrier: UInt8) in carrier != 0 }
            case IFLA_CARRIER_UP_COUNT: carriers = attribute.uint32
            case IFLA_PARENT_DEV_NAME: details.hasParentDevice = true
            case IFLA_LINK: details.underlyingIndex = attribute.uint32
            case IFLA_LINK_NETNSID: details.isParentElsewhere = true
            case IFLA_MASTER: details.controllerIndex = attribute.uint32
            case IFLA_AF_SPEC:
                let settings = attribute.nested(Int(AF_INET6))?.nested(IFLA_INET6_FLAGS)?.uint32
                details.sawRouterAdvertisement = (settings ?? 0) & 0x20 != 0
            case IFLA_LINKINFO: details.read(attribute)
            default: break
            }
        }
        guard isFull, !details.name.isEmpty else { return }
        // An index of another namespace means nothing here.
        if details.isParentElsewhere || details.underlyingIndex == 0 { details.underlyingIndex = nil }
        if details.controllerIndex == 0 { details.controllerIndex = nil }
        if details.hardwareAddress?.isEmpty == true { details.hardwareAddress = nil }
        // To other controllers than bridges the numbers mean something else.
        if details.controllerIndex == nil { details.port = .everything }
        // The first one of a driver that begins with it is not counted; what is down claims one.
        details.hasHadCarrier = carriers.map { $0 > 0 || (self.flags.contains(.up) && details.hasCarrier == true) }
        self.details = details
    }
}

extension LinkUpdate.Details {
    /// Reads IFLA_LINKINFO.
    fileprivate mutating func read(_ info: NetlinkAttribute) {
        self.kind = info.nested(IFLA_INFO_KIND)?.text
        if let port = info.nested(IFLA_INFO_SLAVE_DATA), info.nested(IFLA_INFO_SLAVE_KIND)?.text == "bridge" {
            self.port = PortAttributes(port)
        }
        guard let kind, let data = info.nested(IFLA_INFO_DATA) else { return }
        self.tunnel = TunnelAttributes(kind: kind, data)
        // The number means something else for every kind: to a bridge its hello time.
        if kind == "bond" { self.bond = BondAttributes(data) }
        if ["macvlan", "macvtap"].contains(kind) {
            self.receivesNothing =
                data.nested(IFLA_MACVLAN_MODE)?.uint32 == MACVLAN_MODE_SOURCE.rawValue
                && data.nested(IFLA_MACVLAN_MACADDR_COUNT)?.uint32 == 0
        }
    }
}

extension LinkUpdate {
    /// The interface whose IPv6 settings an RTM_NEWLINK announces, as when it received a router advertisement.
    static func indexOfProtocolSettings(_ message: NetlinkMessage) -> UInt32? {
        guard message.type == RTM_NEWLINK, message.field(at: 0, as: UInt8.self) == UInt8(AF_INET6) else { return nil }
        return message.field(at: 4, as: UInt32.self)
    }

    /// What a port of a bridge forwards, from the RTM_NEWLINK of AF_BRIDGE that may be the only one to say so.
    static func port(_ message: NetlinkMessage) -> (index: UInt32, PortAttributes)? {
        guard message.type == RTM_NEWLINK, message.field(at: 0, as: UInt8.self) == UInt8(AF_BRIDGE),
            let index = message.field(at: 4, as: UInt32.self),
            let port = message.attribute(IFLA_PROTINFO, headerLength: Self.headerLength)
        else { return nil }
        return (index, PortAttributes(port))
    }
}

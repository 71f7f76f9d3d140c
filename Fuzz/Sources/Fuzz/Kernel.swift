// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

@testable import NetPathNetlink
@testable import NetPathSysfs
@testable import NetPathSystem

/// A datagram of rtnetlink, read as every kind of message that it may hold.
func fuzzNetlink(_ bytes: [UInt8]) {
    NetlinkMessage.forEach(in: bytes) { message in
        _ = message.error
        _ = LinkUpdate(message)
        _ = LinkUpdate.indexOfProtocolSettings(message)
        _ = LinkUpdate.port(message)
        _ = AddressUpdate(message)
        _ = NeighbourUpdate(message)
        _ = RouteReply(message)
        _ = RouteReply.advertiser(message)
        _ = NextHopReply(message)
        _ = ForwardingUpdate(message)
        _ = ForwardingEntry(message)
        _ = ForwardingEntry.isDefault(message)
        _ = RoutingRule(message)
        _ = TableRoute(message)
        _ = LinkUpdate.receivedPackets(message)
        _ = IPsecSelector(message)
        _ = IPsecPolicy(message)
        _ = IPsecState(message)
    }
}

/// What the generic netlink family of WireGuard answers, in several messages.
func fuzzWireGuard(_ bytes: [UInt8]) {
    var device = WireGuardDevice()
    NetlinkMessage.forEach(in: bytes) { message in
        _ = WireGuardQueries.familyNumber(message)
        device.read(message)
    }
}

/// The tables below /proc/net and the attributes below /sys/class/net.
func fuzzProcfs(_ bytes: [UInt8]) {
    let reference = [InternetAddress("198.51.100.1"), InternetAddress("2001:db8::1")].compactMap(\.self)
    let text = bytes.span
    for isComplete in [true, false] {
        _ = RouteTable(ipv4: text, isComplete: isComplete, covering: reference)
        _ = RouteTable(ipv6: text, isComplete: isComplete, covering: reference) { $0.destination.length > 8 }
        _ = IPv6Line.parse(text, isComplete: isComplete)
        _ = DeviceList.parse(text, isComplete: isComplete)
    }
    let lines = String(decoding: bytes, as: UTF8.self)
    _ = UDPSockets.ports(in: lines)
    _ = L2TPSessions.interfaces(in: lines)
    _ = PacketSockets(parsing: lines)
    _ = Attribute.number(text)
    _ = Attribute.word(text)
    _ = Attribute.operationalState(text)
    _ = Attribute.hardwareAddress(text)
    _ = Attribute.deviceType(text)
}

/// resolv.conf(5), and the files of the programs that it leads to.
func fuzzResolver(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    _ = ResolverConfiguration(path: "/etc/resolv.conf", runtime: "/run") { _ in text }
    _ = ResolverConfiguration(path: "/etc/resolv.conf", runtime: "/run") {
        $0 == "/etc/resolv.conf" ? "nameserver 127.0.0.53\n" : text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import FoundationEssentials
import NetPath

/// An IPv4 address, perhaps of one interface.
public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// 0.0.0.0: any address.
    public static let any = IPv4Address(0x0000_0000)
    /// 255.255.255.255: everybody on the link.
    public static let broadcast = IPv4Address(0xFFFF_FFFF)
    /// 127.0.0.1: this host.
    public static let loopback = IPv4Address(0x7F00_0001)
    /// 224.0.0.1: all hosts.
    public static let allHostsGroup = IPv4Address(0xE000_0001)
    /// 224.0.0.2: all routers.
    public static let allRoutersGroup = IPv4Address(0xE000_0002)
    /// 224.0.0.22: all IGMPv3 reports (RFC 3376).
    public static let allReportsGroup = IPv4Address(0xE000_0016)
    /// 224.0.0.251: multicast DNS (RFC 6762).
    public static let mdnsGroup = IPv4Address(0xE000_00FB)

    private let bits: UInt32
    /// The interface the address belongs to, if any.
    public let interface: NWInterface?

    private init(_ bits: UInt32) {
        self.bits = bits
        self.interface = nil
    }

    /// Creates an address from 4 bytes in network order; nil for another number of them.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard rawValue.count == 4 else { return nil }
        self.bits = rawValue.reduce(0) { $0 << 8 | UInt32($1) }
        self.interface = interface
    }

    /// Creates an address from its text, such as `192.0.2.1` or `169.254.8.8%eth0`; names are not looked up.
    public init?(_ string: String) {
        guard case .ipv4(let address) = NWEndpoint.Host(numeric: string, as: .ipv4) else { return nil }
        self = address
    }

    /// The bytes in network order.
    public var rawValue: Data { Data(InternetAddress(ipv4: self.bits).bytes) }

    /// Whether the address is 127.0.0.1, of no interface; other addresses of 127.0.0.0/8 are not meant.
    public var isLoopback: Bool { self == IPv4Address.loopback }

    /// Whether the address is valid on its link only: 169.254.0.0/16 (RFC 3927).
    public var isLinkLocal: Bool { self.bits >> 16 == 0xA9FE }

    /// Whether the address stands for a group of hosts: 224.0.0.0/4.
    public var isMulticast: Bool { self.bits >> 28 == 0xE }

    /// The text, such as `192.0.2.1`, followed by `%` and the interface if there is one.
    public var debugDescription: String {
        let text = InternetAddress(ipv4: self.bits).description
        return self.interface.map { "\(text)%\($0.name)" } ?? text
    }
}

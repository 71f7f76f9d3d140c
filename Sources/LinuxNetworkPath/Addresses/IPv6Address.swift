// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import FoundationEssentials
import NetPath

/// An IPv6 address, perhaps of one interface.
public struct IPv6Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// How far a multicast address reaches (RFC 4291 section 2.7).
    public enum Scope: UInt8, Sendable {
        /// This host.
        case nodeLocal = 1
        /// This link.
        case linkLocal = 2
        /// This site.
        case siteLocal = 5
        /// This organization.
        case organizationLocal = 8
        /// Everywhere.
        case global = 0x0e
    }

    /// ::, any address.
    public static let any = IPv6Address(0)
    /// ::, as on Apple's platforms; IPv6 has no broadcast.
    public static let broadcast = IPv6Address(0)
    /// ::1, this host.
    public static let loopback = IPv6Address(1)
    /// ff01::1, all addresses of this host.
    public static let nodeLocalNodes = IPv6Address(0xFF01 << 112 | 1)
    /// ff02::1, all hosts on the link.
    public static let linkLocalNodes = IPv6Address(0xFF02 << 112 | 1)
    /// ff02::2, all routers on the link.
    public static let linkLocalRouters = IPv6Address(0xFF02 << 112 | 2)

    private let bits: UInt128
    /// The interface the address belongs to, if any.
    public let interface: NWInterface?

    private init(_ bits: UInt128) {
        self.bits = bits
        self.interface = nil
    }

    /// Creates an address from 16 bytes in network order; nil for another number of them.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard rawValue.count == 16 else { return nil }
        self.bits = rawValue.reduce(0) { $0 << 8 | UInt128($1) }
        self.interface = interface
    }

    /// Creates an address from its text, such as `2001:db8::1` or `fe80::1%eth0`; names are not looked up.
    public init?(_ string: String) {
        guard case .ipv6(let address) = NWEndpoint.Host(numeric: string, as: .ipv6) else { return nil }
        self = address
    }

    /// The bytes in network order.
    public var rawValue: Data { Data(InternetAddress(ipv6: self.bits).bytes) }

    /// Whether the address is ::.
    public var isAny: Bool { self.bits == 0 }

    /// Whether the address is ::1.
    public var isLoopback: Bool { self.bits == 1 }

    /// Whether the address is an IPv4 address after 96 zero bits (RFC 4291 section 2.5.5.1); spelled as Apple does.
    public var isIPv4Compatabile: Bool { self.bits >> 32 == 0 && self.bits > 1 }

    /// Whether the address stands for an IPv4 address, such as `::ffff:192.0.2.1` (RFC 4291 section 2.5.5.2).
    public var isIPv4Mapped: Bool { self.bits >> 32 == 0xFFFF }

    /// The IPv4 address that a mapped or compatible address holds; nil for all others.
    public var asIPv4: IPv4Address? {
        guard self.isIPv4Mapped || self.isIPv4Compatabile else { return nil }
        return IPv4Address(self.rawValue.suffix(4), self.interface)
    }

    /// Whether the address belongs to 2002::/16 (RFC 3056).
    public var is6to4: Bool { self.bits >> 112 == 0x2002 }

    /// Whether the address is valid on its link only: fe80::/10.
    public var isLinkLocal: Bool { self.bits >> 118 == 0x3FA }

    /// Whether the address stands for a group of hosts: ff00::/8.
    public var isMulticast: Bool { self.bits >> 120 == 0xFF }

    /// How far a multicast address reaches; nil for other addresses, and for scopes without a name here.
    public var multicastScope: IPv6Address.Scope? {
        self.isMulticast ? Scope(rawValue: UInt8(truncatingIfNeeded: self.bits >> 112) & 0x0F) : nil
    }

    /// Whether the address is unique within an organization: fc00::/7 (RFC 4193).
    public var isUniqueLocal: Bool { self.bits >> 121 == 0x7E }

    /// The text as in RFC 5952, followed by `%` and the interface if there is one.
    public var debugDescription: String {
        let text = InternetAddress(ipv6: self.bits).description
        return self.interface.map { "\(text)%\($0.name)" } ?? text
    }
}

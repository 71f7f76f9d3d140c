// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The two families of the internet protocol.
public enum AddressFamily: String, Sendable, Hashable, CaseIterable, Codable {
    /// Internet protocol version 4 (RFC 791).
    case ipv4
    /// Internet protocol version 6 (RFC 8200).
    case ipv6

    /// The name for people: IPv4 or IPv6.
    package var name: String { self == .ipv4 ? "IPv4" : "IPv6" }

    /// Not by the text: every event looks up families several times.
    public func hash(into hasher: inout Hasher) { hasher.combine(self == .ipv4) }
}

/// An IPv4 or IPv6 address, without a zone.
public struct InternetAddress: Hashable, Sendable {
    /// The family the address belongs to.
    public let family: AddressFamily
    /// The address as a number; an IPv4 address occupies the low 32 bits.
    public var bits: UInt128 { UInt128(self.high) << 64 | UInt128(self.low) }
    /// In two halves: a number of 128 bits would align every value that holds an address to 16 bytes.
    let high: UInt64
    let low: UInt64

    /// Creates an IPv4 address from its 32 bits, the first byte being the most significant.
    public init(ipv4 bits: UInt32) {
        self.family = .ipv4
        self.high = 0
        self.low = UInt64(bits)
    }

    /// Creates an IPv6 address from its 128 bits, the first byte being the most significant.
    public init(ipv6 bits: UInt128) {
        self.family = .ipv6
        self.high = UInt64(truncatingIfNeeded: bits >> 64)
        self.low = UInt64(truncatingIfNeeded: bits)
    }

    /// Creates an address from its bytes in network order: 4 for IPv4, 16 for IPv6, nil for any other count.
    public init?(bytes: some Collection<UInt8>) {
        let bits = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(bits))
        case 16: self.init(ipv6: bits)
        default: return nil
        }
    }

    /// The bytes in network order: 4 for IPv4, 16 for IPv6.
    public var bytes: [UInt8] {
        let count = self.bitWidth / 8
        return (0..<count).map { UInt8(truncatingIfNeeded: self.bits >> (8 * (count - 1 - $0))) }
    }

    /// The number of bits of an address of this family: 32 or 128.
    public var bitWidth: Int { self.family == .ipv4 ? 32 : 128 }

    /// The address that packets to this one go to: an IPv4 address for one that stands for it (`::ffff:192.0.2.7`, RFC 4291,
    /// 2.5.5.2).
    package var unmapped: InternetAddress {
        guard self.family == .ipv6, self.bits >> 32 == 0xFFFF else { return self }
        return InternetAddress(ipv4: UInt32(truncatingIfNeeded: self.bits))
    }

    /// Whether the address stands for "no address": 0.0.0.0 or ::.
    public var isUnspecified: Bool { self.bits == 0 }

    /// Whether the address never leaves this host: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        switch self.family {
        case .ipv4: self.bits >> 24 == 127
        case .ipv6: self.bits == 1
        }
    }

    /// Whether the address never leaves its link: 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        switch self.family {
        case .ipv4: self.bits >> 16 == 0xA9FE
        case .ipv6: self.bits >> 118 == 0x3FA
        }
    }
}

extension InternetAddress: Comparable {
    /// Orders IPv4 before IPv6, then by number.
    public static func < (left: InternetAddress, right: InternetAddress) -> Bool {
        left.family == right.family ? left.bits < right.bits : left.family == .ipv4
    }
}

/// An address with the length of its prefix, written as in CIDR notation (RFC 4632, RFC 4291).
public struct AddressPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The address, host bits included.
    public let address: InternetAddress
    /// The number of leading bits that name the network.
    public let length: Int

    /// Creates a prefix.
    public init(_ address: InternetAddress, length: Int) {
        self.address = address
        self.length = length
    }

    /// Whether an address lies within the prefix.
    public func contains(_ other: InternetAddress) -> Bool {
        let width = self.address.bitWidth
        return other.family == self.address.family
            && (self.length <= 0 || (self.address.bits ^ other.bits) >> (width - self.length) == 0)
    }

    /// The notation `192.0.2.7/24`.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(43)
        self.address.write(to: &text)
        text.append(UInt8(ascii: "/"))
        text.append(decimal: UInt8(truncatingIfNeeded: self.length))
        return String(decoding: text, as: UTF8.self)
    }
}

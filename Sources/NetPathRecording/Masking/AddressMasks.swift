// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Addresses in place of others, of which each keeps its own.
///
/// A mask is of the same family and the same scope, so that what is private, local to a link, or in the same network (/24,
/// /64) stays so; what is global comes to lie in the prefixes that are set aside for documentation (RFC 5737, RFC 3849).
/// Longer prefixes than these do not keep their members.
struct AddressMasks: Sendable {
    private struct Group: Hashable {
        var family: AddressFamily
        var scope: Scope
    }

    private struct Network: Hashable {
        var group: Group
        var high: UInt64
    }

    private enum Scope: Hashable {
        case global, tenNet, privateMiddle, privateLow, link, shared, multicast
    }

    /// What netpath itself asks the kernel about, which is no user's address.
    private static let constants = Set(ReferenceRoute.defaultDestinations)
    /// Three networks for documentation; thereafter those for measurements (RFC 2544), then the reserved ones.
    private static let documentation: [UInt32] = [0xC000_0200, 0xC633_6400, 0xCB00_7100]

    private var masks: [InternetAddress: InternetAddress] = [:]
    private var networks: [Network: Int] = [:]
    private var networkCounts: [Group: Int] = [:]
    private var hostCounts: [Network: UInt64] = [:]
    private var hardware: [[UInt8]: [UInt8]] = [:]
    private var vendors: [[UInt8]: Int] = [:]
    private var deviceCounts: [[UInt8]: Int] = [:]
    /// How many addresses were replaced, of each kind.
    private(set) var counts: [Masking.Kind: Int] = [:]

    // MARK: Internet addresses

    /// The mask of an address; those that say nothing about anybody are their own.
    mutating func mask(_ address: InternetAddress) -> InternetAddress {
        if address.isUnspecified || address.isLoopback || Self.constants.contains(address) { return address }
        if let mask = self.masks[address] { return mask }
        guard let mask = address.family == .ipv4 ? self.newIPv4(address) : self.newIPv6(address) else { return address }
        self.masks[address] = mask
        self.counts[address.family == .ipv4 ? .ipv4 : .ipv6, default: 0] += 1
        return mask
    }

    private mutating func newIPv4(_ address: InternetAddress) -> InternetAddress? {
        let bits = UInt32(truncatingIfNeeded: address.bits)
        // This network's broadcast, and the groups that protocols are born with.
        if bits == .max || bits >> 8 == 0xE0_0000 { return nil }
        let (scope, base): (Scope, UInt32?) =
            switch bits {
            case 0x0A00_0000...0x0AFF_FFFF: (.tenNet, 0x0A00_0000)
            case 0xAC10_0000...0xAC1F_FFFF: (.privateMiddle, 0xAC10_0000)
            case 0xC0A8_0000...0xC0A8_FFFF: (.privateLow, 0xC0A8_0000)
            case 0xA9FE_0000...0xA9FE_FFFF: (.link, 0xA9FE_0000)
            case 0x6440_0000...0x647F_FFFF: (.shared, 0x6440_0000)
            case 0xE000_0000...0xEFFF_FFFF: (.multicast, 0xE9FC_0000)
            default: (.global, nil)
            }
        let network = Network(group: Group(family: .ipv4, scope: scope), high: UInt64(bits >> 8))
        let number = self.number(of: network)
        let prefix = base.map { $0 &+ UInt32(truncatingIfNeeded: number) << 8 } ?? Self.globalNetwork(number)
        switch bits & 0xFF {
        // A network, and its broadcast, mostly.
        case 0: return InternetAddress(ipv4: prefix)
        case 0xFF: return InternetAddress(ipv4: prefix | 0xFF)
        default: return InternetAddress(ipv4: prefix | UInt32(self.nextHost(in: network) & 0xFF))
        }
    }

    private static func globalNetwork(_ number: Int) -> UInt32 {
        if number < self.documentation.count { return self.documentation[number] }
        let rest = number - self.documentation.count
        return rest < 512 ? 0xC612_0000 + UInt32(rest) << 8 : 0xF000_0000 + UInt32((rest - 512) & 0xF_FFFF) << 8
    }

    private mutating func newIPv6(_ address: InternetAddress) -> InternetAddress? {
        let bits = address.bits
        // An address of IPv4 within: mapped (RFC 4291), translated (RFC 6052).
        if bits >> 32 == 0xFFFF || bits >> 32 == UInt128(0x0064_FF9B) << 64 {
            let inner = self.mask(InternetAddress(ipv4: UInt32(truncatingIfNeeded: bits)))
            return InternetAddress(ipv6: (bits >> 32) << 32 | inner.bits)
        }
        if bits >> 120 == 0xFF {
            let low = bits & (UInt128(1) << 112 - 1)
            guard low > 0xFFFF else { return nil }
            let network = Network(group: Group(family: .ipv6, scope: .multicast), high: UInt64(bits >> 112))
            return InternetAddress(ipv6: (bits >> 112) << 112 | 0x0DB8 << 16 | UInt128(self.nextHost(in: network)))
        }
        let (scope, base): (Scope, UInt128) =
            if bits >> 118 == 0x3FA {
                (.link, 0xFE80 << 112)
            } else if bits >> 121 == 0x7E {
                (.privateLow, 0xFD00 << 112)
            } else {
                (.global, 0x2001_0DB8 << 96)
            }
        let network = Network(group: Group(family: .ipv6, scope: scope), high: UInt64(bits >> 64))
        let prefix = base | UInt128(UInt32(truncatingIfNeeded: self.number(of: network))) << 64
        let isNetwork = UInt64(truncatingIfNeeded: bits) == 0
        return InternetAddress(ipv6: prefix | UInt128(isNetwork ? 0 : self.nextHost(in: network)))
    }

    private mutating func number(of network: Network) -> Int {
        if let number = self.networks[network] { return number }
        let number = self.networkCounts[network.group, default: 0]
        self.networkCounts[network.group] = number + 1
        self.networks[network] = number
        return number
    }

    private mutating func nextHost(in network: Network) -> UInt64 {
        self.hostCounts[network, default: 0] += 1
        return self.hostCounts[network, default: 1]
    }

    // MARK: Hardware addresses

    /// The mask of a hardware address, or of its beginning; the same maker's masks begin alike.
    mutating func mask(hardware bytes: [UInt8]) -> [UInt8] {
        // Tunnels have addresses of the internet in this place.
        if bytes.count == 4 || bytes.count == 16, let address = InternetAddress(bytes: bytes) {
            return self.mask(address).bytes
        }
        // One or two bytes identify no machine.
        if bytes.count < 3 || bytes.allSatisfy({ $0 == 0 }) || bytes.allSatisfy({ $0 == 0xFF }) { return bytes }
        if let mask = self.hardware[bytes] { return mask }
        let maker = Array(bytes.prefix(3))
        let number = self.vendors[maker] ?? self.vendors.count
        self.vendors[maker] = number
        // Locally administered, and a group's where it was one.
        var mask = [bytes[0] & 1 | 2, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        if bytes.count > 3 {
            self.deviceCounts[maker, default: 0] += 1
            let device = self.deviceCounts[maker, default: 0]
            let rest = (3..<bytes.count).map {
                UInt8(truncatingIfNeeded: device >> min(56, 8 * (bytes.count - 1 - $0)))
            }
            mask += rest
        }
        self.hardware[bytes] = mask
        self.counts[.hardware, default: 0] += 1
        return mask
    }
}

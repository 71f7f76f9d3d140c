// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Turns a frame into its answer, in place: every field of an answer has its counterpart in the question.
///
/// What a tunnel carries is answered inside, and then the tunnel's own packet around it; tunnels may be nested. So one
/// process stands for the routers, for the far end of every tunnel, and for every machine that can be reached.
struct Answer {
    /// The UDP port of ``TunnelCarrier``; what follows the UDP header is an IP packet.
    static let tunnelPort: UInt16 = 51_820
    /// A UDP port at which the far ends of tunnels answer without a tunnel, to whom they would answer through it.
    static let endpointPort: UInt16 = 51_821

    /// The hardware address of every machine, a locally administered one.
    private static let hardwareAddress: [UInt8] = [0x02, 0, 0, 0, 0, 0x01]

    /// Addresses that the far ends of tunnels know to be inside of them: to such an address there is no way back outside.
    let innerAddresses: [[UInt8]]
    private(set) var bytes: [UInt8]

    private func word(_ offset: Int) -> UInt16 { UInt16(self.bytes[offset]) << 8 | UInt16(self.bytes[offset + 1]) }

    private mutating func set(_ word: UInt16, at offset: Int) {
        self.bytes[offset] = UInt8(word >> 8)
        self.bytes[offset + 1] = UInt8(word & 0xff)
    }

    private mutating func copy(_ source: Range<Int>, to offset: Int) {
        self.bytes.replaceSubrange(offset..<(offset + source.count), with: Array(self.bytes[source]))
    }

    private mutating func swap(_ first: Int, _ second: Int, count: Int) {
        for index in 0..<count { self.bytes.swapAt(first + index, second + index) }
    }

    /// Answers an Ethernet frame.
    ///
    /// - Returns: Whether there is an answer; without one the bytes mean nothing any more.
    mutating func answerFrame(_ range: Range<Int>) -> Bool {
        guard range.count >= 14 else { return false }
        let payload = (range.lowerBound + 14)..<range.upperBound
        let isAnswered =
            switch self.word(range.lowerBound + 12) {
            case 0x0806: self.answerARP(payload)
            case 0x0800, 0x86dd: self.answerPacket(payload)
            default: false
            }
        guard isAnswered else { return false }
        self.copy((range.lowerBound + 6)..<(range.lowerBound + 12), to: range.lowerBound)
        self.bytes.replaceSubrange((range.lowerBound + 6)..<(range.lowerBound + 12), with: Self.hardwareAddress)
        return true
    }

    /// ARP for IPv4 over Ethernet (RFC 826).
    private mutating func answerARP(_ range: Range<Int>) -> Bool {
        let start = range.lowerBound
        guard range.count >= 28, self.word(start + 6) == 1 else { return false }
        let sender = self.bytes[(start + 14)..<(start + 18)]
        // A probe for a duplicate asks from nowhere, an announcement for the sender itself (RFC 5227).
        guard sender.contains(where: { $0 != 0 }), sender != self.bytes[(start + 24)..<(start + 28)] else {
            return false
        }
        self.set(2, at: start + 6)
        self.swap(start + 8, start + 18, count: 10)
        self.bytes.replaceSubrange((start + 8)..<(start + 14), with: Self.hardwareAddress)
        return true
    }

    /// An IP packet of either family.
    private mutating func answerPacket(_ range: Range<Int>) -> Bool {
        guard range.count >= 20 else { return false }
        switch self.bytes[range.lowerBound] >> 4 {
        case 4: return self.answerIPv4(range)
        case 6: return range.count >= 40 && self.answerIPv6(range)
        default: return false
        }
    }

    private mutating func answerIPv4(_ range: Range<Int>) -> Bool {
        let start = range.lowerBound
        let header = Int(self.bytes[start] & 15) * 4
        let length = Int(self.word(start + 2))
        guard header >= 20, length >= header, length <= range.count else { return false }
        // Neither fragments, nor what is sent to many or from nowhere.
        guard self.word(start + 6) & 0x3fff == 0, self.bytes[start + 16] < 224, self.bytes[start + 12] != 0 else {
            return false
        }
        // The header's checksum is a sum: it does not change with the order.
        self.swap(start + 12, start + 16, count: 4)
        return self.answer(
            protocol: self.bytes[start + 9],
            (start + header)..<(start + length),
            addresses: (start + 12)..<(start + 20)
        )
    }

    private mutating func answerIPv6(_ range: Range<Int>) -> Bool {
        let start = range.lowerBound
        let end = start + 40 + Int(self.word(start + 4))
        guard end <= range.upperBound else { return false }
        let addresses = (start + 8)..<(start + 40)
        if self.bytes[start + 6] == 58, end - start >= 72, self.bytes[start + 40] == 135 {
            return self.answerSolicitation((start + 40)..<end, addresses: addresses)
        }
        guard self.bytes[start + 24] != 0xff, self.isSpecified((start + 8)..<(start + 24)) else { return false }
        // No router lets a link-local address leave the link (RFC 4291 section 2.5.6).
        guard !self.isLinkLocal(start + 8) || self.isLinkLocal(start + 24) else { return false }
        self.swap(start + 8, start + 24, count: 16)
        return self.answer(protocol: self.bytes[start + 6], (start + 40)..<end, addresses: addresses)
    }

    private func isSpecified(_ address: Range<Int>) -> Bool { self.bytes[address].contains { $0 != 0 } }

    private func isLinkLocal(_ offset: Int) -> Bool { self.word(offset) & 0xffc0 == 0xfe80 }

    /// Neighbour solicitation to advertisement (RFC 4861 section 4.3); both have one option, a link-layer address.
    private mutating func answerSolicitation(_ range: Range<Int>, addresses: Range<Int>) -> Bool {
        let start = range.lowerBound
        // Without a source it is the detection of duplicates, which finds none.
        guard self.isSpecified(addresses.prefix(16)), self.bytes[start + 24] == 1 else { return false }
        self.copy(addresses.prefix(16), to: addresses.lowerBound + 16)
        self.copy((start + 8)..<(start + 24), to: addresses.lowerBound)
        self.bytes[start] = 136
        // Router, solicited, override.
        self.bytes[start + 4] = 0xe0
        self.bytes[start + 24] = 2
        self.bytes.replaceSubrange((start + 26)..<(start + 32), with: Self.hardwareAddress)
        self.setChecksum(at: start + 2, protocol: 58, range, addresses: addresses)
        return true
    }

    /// What an IP packet holds; the addresses of the packet are already swapped.
    private mutating func answer(protocol number: UInt8, _ range: Range<Int>, addresses: Range<Int>) -> Bool {
        let start = range.lowerBound
        switch number {
        case 4, 41: return self.answerPacket(range)
        case 17: return range.count >= 8 && self.answerUDP(range, addresses: addresses)
        case 1 where range.count >= 8 && self.bytes[start] == 8:
            self.bytes[start] = 0
            self.setChecksum(at: start + 2, protocol: nil, range, addresses: addresses)
            return true
        case 58 where range.count >= 8 && self.bytes[start] == 128:
            self.bytes[start] = 129
            self.setChecksum(at: start + 2, protocol: 58, range, addresses: addresses)
            return true
        case 47 where range.count >= 4:
            // Each of checksum, key and sequence number takes four bytes (RFC 2784, RFC 2890).
            let inner = start + 4 + (self.bytes[start] & 0xb0).nonzeroBitCount * 4
            guard inner < range.upperBound else { return false }
            return self.word(start + 2) == 0x6558
                ? self.answerFrame(inner..<range.upperBound) : self.answerPacket(inner..<range.upperBound)
        case 60 where range.count >= 8:
            // Destination options: ip6tnl says there how deep tunnels may be nested (RFC 2473).
            let next = start + 8 + Int(self.bytes[start + 1]) * 8
            guard next < range.upperBound else { return false }
            return self.answer(protocol: self.bytes[start], next..<range.upperBound, addresses: addresses)
        default: return false
        }
    }

    private mutating func answerUDP(_ range: Range<Int>, addresses: Range<Int>) -> Bool {
        let start = range.lowerBound
        let payload = (start + 8)..<range.upperBound
        switch self.word(start + 2) {
        case Self.tunnelPort, Self.endpointPort:
            let isTunnelled = self.word(start + 2) == Self.tunnelPort
            let source = Array(self.bytes[addresses].suffix(addresses.count / 2))
            guard !self.innerAddresses.contains(source), !isTunnelled || self.answerPacket(payload) else {
                return false
            }
            self.swap(start, start + 2, count: 2)
        // VXLAN: a header of eight bytes, then a frame. Both ends listen on the same port (RFC 7348).
        case 4789, 8472:
            guard payload.count > 8, self.answerFrame((start + 16)..<range.upperBound) else { return false }
        default: self.swap(start, start + 2, count: 2)
        }
        self.setChecksum(at: start + 6, protocol: 17, range, addresses: addresses)
        return true
    }

    /// Computes a checksum (RFC 1071): where the network card is trusted with it, packets arrive without.
    ///
    /// Without a protocol it covers no pseudo-header.
    private mutating func setChecksum(
        at offset: Int,
        protocol number: UInt8?,
        _ range: Range<Int>,
        addresses: Range<Int>
    ) {
        self.set(0, at: offset)
        var sum = number.map { UInt32($0) + UInt32(range.count) } ?? 0
        for covered in number == nil ? [range] : [addresses, range] {
            for index in stride(from: covered.lowerBound, to: covered.upperBound - 1, by: 2) {
                sum += UInt32(self.word(index))
            }
            if !covered.count.isMultiple(of: 2) { sum += UInt32(self.bytes[covered.upperBound - 1]) << 8 }
        }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        // In UDP zero stands for no checksum.
        self.set(sum == 0xffff && number == 17 ? 0xffff : ~UInt16(sum), at: offset)
    }
}

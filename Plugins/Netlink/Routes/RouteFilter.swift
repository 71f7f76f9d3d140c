// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// The program the kernel runs on every event, to wake us for those that can matter only (`packet(7)`, classic BPF).
///
/// It passes everything that is not about a route, and routes whose prefix covers a watched address. A host whose
/// routing daemon changes 200,000 other routes never wakes us. IPv6 prefixes are compared to 64 bits at most: a few
/// routes too many pass, none too few.
struct RouteFilter: Hashable {
    /// One instruction of classic BPF (`linux/filter.h`).
    struct Instruction: Hashable {
        var code: UInt16
        var jumpTrue: UInt8 = 0
        var jumpFalse: UInt8 = 0
        var operand: UInt32 = 0
    }

    /// Beyond this many watched addresses of a family every route of the family passes: the kernel bounds programs by
    /// the memory for socket options (net.core.optmem_max, 20 KiB on older kernels), and a replacement and what it
    /// replaces need room at the same time.
    static let limit = 24

    let instructions: [Instruction]

    /// Builds the program for a set of watched addresses.
    init(watching addresses: Set<IPAddress>) {
        let sorted = addresses.sorted()
        let ipv4 = Self.ipv4Block(sorted.filter { $0.family == .ipv4 })
        let ipv6 = Self.ipv6Block(sorted.filter { $0.family == .ipv6 })
        var program: [Instruction] = [
            // nlmsg_type stands in the machine's order, and halfword loads take it for network order.
            .loadHalf(at: 4),
            .jump(equal: UInt32(UInt16(RTM_NEWROUTE).bigEndian), true: 2, false: 0),
            .jump(equal: UInt32(UInt16(RTM_DELROUTE).bigEndian), true: 1, false: 0),
            .accept,
            // rtm_dst_len: a default route covers everything.
            .loadByte(at: 17),
            .jump(equal: 0, true: 0, false: 1),
            .accept,
            .store(.length),
        ]
        program += Self.findDestination
        program += [
            .loadByte(at: 16),
            .jump(equal: UInt32(AF_INET), true: 0, false: 1),
            .skip(3),
            .jump(equal: UInt32(AF_INET6), true: 1, false: 0),
            .accept,
            .skip(UInt32(ipv4.count)),
        ]
        program += ipv4 + ipv6
        self.instructions = program
    }

    fileprivate enum Cell: UInt32 {
        case length
        case firstWord
        case secondWord
    }

    /// Finds RTA_DST behind the two headers of 28 octets and stores its first words; without it the route passes.
    private static let findDestination: [Instruction] = [
        // The kernel refuses programs that could load a cell before storing it.
        .load(0),
        .store(.secondWord),
        .load(28),
        .loadIndex(UInt32(RTA_DST.rawValue)),
        .findAttribute,
        .jump(equal: 0, true: 0, false: 1),
        .accept,
        .copyToIndex,
        .loadWord(behindIndex: 4),
        .store(.firstWord),
        .load(.length),
        .jump(greater: 32, true: 0, false: 2),
        .loadWord(behindIndex: 8),
        .store(.secondWord),
    ]

    /// The index register := width - prefix length, the number of low bits that do not count.
    private static func hostBits(of width: UInt32) -> [Instruction] {
        [.load(width), .loadIndex(.length), .subtractIndex, .copyToIndex]
    }

    private static func ipv4Block(_ addresses: [IPAddress]) -> [Instruction] {
        guard addresses.count <= self.limit else { return [.accept] }
        return self.hostBits(of: 32) + addresses.flatMap { Self.comparison(.firstWord, $0.word(0, of: 1)) } + [.reject]
    }

    private static func ipv6Block(_ addresses: [IPAddress]) -> [Instruction] {
        guard addresses.count <= self.limit else { return [.accept] }
        let short =
            self.hostBits(of: 32) + addresses.flatMap { Self.comparison(.firstWord, $0.word(0, of: 4)) } + [.reject]
        let clampToSixtyFour: [Instruction] = [
            .load(.length), .jump(greater: 64, true: 0, false: 2), .load(64), .store(.length),
        ]
        let long =
            clampToSixtyFour + self.hostBits(of: 64)
            + addresses.flatMap { address in
                [.load(.firstWord), .jump(equal: address.word(0, of: 4), true: 0, false: 5)]
                    + Self.comparison(.secondWord, address.word(1, of: 4))
            } + [.reject]
        return [.load(.length), .jump(greater: 32, true: 0, false: 1), .skip(UInt32(short.count))] + short + long
    }

    /// Passes the route when the leading bits of a stored word are those of a watched address.
    private static func comparison(_ cell: Cell, _ word: UInt32) -> [Instruction] {
        [.load(cell), .exclusiveOr(word), .shiftRightByIndex, .jump(equal: 0, true: 0, false: 1), .accept]
    }
}

extension RouteFilter.Instruction {
    fileprivate typealias Cell = RouteFilter.Cell

    private init(_ code: Int32, _ operand: UInt32 = 0) {
        self.init(code: UInt16(code), operand: operand)
    }

    fileprivate static let accept = Self(BPF_RET | BPF_K, .max)
    fileprivate static let reject = Self(BPF_RET | BPF_K, 0)
    fileprivate static let copyToIndex = Self(BPF_MISC | BPF_TAX)
    fileprivate static let subtractIndex = Self(BPF_ALU | BPF_SUB | BPF_X)
    fileprivate static let shiftRightByIndex = Self(BPF_ALU | BPF_RSH | BPF_X)
    /// The accumulator := offset of the attribute named by the index register, searched from the accumulator on; or 0.
    fileprivate static let findAttribute = Self(
        BPF_LD | BPF_W | BPF_ABS,
        UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR)
    )

    fileprivate static func load(_ value: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IMM, value) }
    fileprivate static func load(_ cell: Cell) -> Self { Self(BPF_LD | BPF_W | BPF_MEM, cell.rawValue) }
    fileprivate static func loadIndex(_ value: UInt32) -> Self { Self(BPF_LDX | BPF_W | BPF_IMM, value) }
    fileprivate static func loadIndex(_ cell: Cell) -> Self { Self(BPF_LDX | BPF_W | BPF_MEM, cell.rawValue) }
    fileprivate static func loadHalf(at offset: UInt32) -> Self { Self(BPF_LD | BPF_H | BPF_ABS, offset) }
    fileprivate static func loadByte(at offset: UInt32) -> Self { Self(BPF_LD | BPF_B | BPF_ABS, offset) }
    fileprivate static func loadWord(behindIndex offset: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IND, offset) }
    fileprivate static func store(_ cell: Cell) -> Self { Self(BPF_ST, cell.rawValue) }
    fileprivate static func exclusiveOr(_ word: UInt32) -> Self { Self(BPF_ALU | BPF_XOR | BPF_K, word) }
    fileprivate static func skip(_ count: UInt32) -> Self { Self(BPF_JMP | BPF_JA, count) }

    fileprivate static func jump(equal value: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> Self {
        Self(
            code: UInt16(BPF_JMP | BPF_JEQ | BPF_K),
            jumpTrue: jumpTrue,
            jumpFalse: jumpFalse,
            operand: value
        )
    }

    fileprivate static func jump(greater value: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> Self {
        Self(
            code: UInt16(BPF_JMP | BPF_JGT | BPF_K),
            jumpTrue: jumpTrue,
            jumpFalse: jumpFalse,
            operand: value
        )
    }
}

extension IPAddress {
    /// One 32-bit word of the address, the most significant first.
    fileprivate func word(_ index: Int, of count: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: self.bits >> (32 * (count - 1 - index)))
    }
}

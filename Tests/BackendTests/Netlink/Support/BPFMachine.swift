// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

@testable import NetPathNetlink

/// Runs classic BPF as the kernel does (`net/core/filter.c`), for the instructions it allows on sockets.
struct BPFMachine {
    enum Refusal: Error, Equatable {
        case tooLong
        case unknownInstruction(at: Int)
        case jumpOutOfBounds(at: Int)
        case loadOfUnsetCell(at: Int)
        case noReturnAtEnd
    }

    private let program: [FilterInstruction]

    /// Checks a program as SO_ATTACH_FILTER does (`bpf_check_classic`, `check_load_and_stores`).
    init(_ program: [FilterInstruction]) throws {
        guard (1...4096).contains(program.count) else { throw Refusal.tooLong }
        // For each instruction, the cells that are stored on every path that leads to it.
        var stored = [UInt16](repeating: .max, count: program.count)
        var current: UInt16 = 0
        for (position, instruction) in program.enumerated() {
            guard let operation = Operation(instruction) else { throw Refusal.unknownInstruction(at: position) }
            current &= stored[position]
            func jump(by distance: Int) throws {
                guard position + 1 + distance < program.count else { throw Refusal.jumpOutOfBounds(at: position) }
                stored[position + 1 + distance] &= current
            }
            switch operation {
            case .store(let cell): current |= 1 << cell
            case .loadCell(let cell), .loadIndexCell(let cell):
                guard current & (1 << cell) != 0 else { throw Refusal.loadOfUnsetCell(at: position) }
            case .skip(let count):
                try jump(by: Int(count))
                current = .max
            case .jump:
                try jump(by: Int(instruction.jumpTrue))
                try jump(by: Int(instruction.jumpFalse))
                current = .max
            default: break
            }
        }
        guard case .answer = program.last.flatMap(Operation.init) else { throw Refusal.noReturnAtEnd }
        self.program = program
    }

    /// The instructions, by the numbers of `linux/filter.h`.
    private enum Operation {
        enum Comparison {
            case equal
            case greater
            case anyOf
        }

        case load(UInt32)
        case loadCell(UInt16)
        case loadIndex(UInt32)
        case loadIndexCell(UInt16)
        case loadPacket(width: Int, at: Int)
        case loadPacketBehindIndex(at: Int)
        case findAttribute
        case store(UInt16)
        case exclusiveOr(UInt32)
        case subtractIndex
        case shiftRightByIndex
        case skip(UInt32)
        case jump(Comparison, UInt32)
        case copyToIndex
        case answer(UInt32)

        init?(_ instruction: FilterInstruction) {
            let operand = instruction.operand
            switch instruction.code {
            case 0x00: self = .load(operand)
            case 0x01: self = .loadIndex(operand)
            case 0x60 where operand < 16: self = .loadCell(UInt16(operand))
            case 0x61 where operand < 16: self = .loadIndexCell(UInt16(operand))
            case 0x02 where operand < 16: self = .store(UInt16(operand))
            // SKF_AD_OFF + SKF_AD_NLATTR.
            case 0x20 where operand == UInt32(bitPattern: -0x1000 + 12): self = .findAttribute
            case 0x20 where operand < 0x8000_0000: self = .loadPacket(width: 4, at: Int(operand))
            case 0x28 where operand < 0x8000_0000: self = .loadPacket(width: 2, at: Int(operand))
            case 0x30 where operand < 0x8000_0000: self = .loadPacket(width: 1, at: Int(operand))
            case 0x40 where operand < 0x8000_0000: self = .loadPacketBehindIndex(at: Int(operand))
            case 0xA4: self = .exclusiveOr(operand)
            case 0x1C: self = .subtractIndex
            case 0x7C: self = .shiftRightByIndex
            case 0x05: self = .skip(operand)
            case 0x15: self = .jump(.equal, operand)
            case 0x25: self = .jump(.greater, operand)
            case 0x45: self = .jump(.anyOf, operand)
            case 0x07: self = .copyToIndex
            case 0x06: self = .answer(operand)
            default: return nil
            }
        }
    }

    /// Runs the program over a message.
    ///
    /// - Returns: Whether the message passes, and how many instructions that took.
    func run(on packet: [UInt8]) -> (passes: Bool, steps: Int) {
        var accumulator: UInt32 = 0
        var index: UInt32 = 0
        var cells = [UInt32](repeating: 0, count: 16)
        var position = 0
        var steps = 0
        func word(_ width: Int, at offset: Int) -> UInt32? {
            guard offset >= 0, offset + width <= packet.count else { return nil }
            return packet[offset..<offset + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
        while position < self.program.count, let operation = Operation(self.program[position]) {
            let instruction = self.program[position]
            position += 1
            steps += 1
            switch operation {
            case .load(let value): accumulator = value
            case .loadIndex(let value): index = value
            case .loadCell(let cell): accumulator = cells[Int(cell)]
            case .loadIndexCell(let cell): index = cells[Int(cell)]
            case .store(let cell): cells[Int(cell)] = accumulator
            case .loadPacket(let width, let offset):
                // A load beyond the end drops the packet.
                guard let value = word(width, at: offset) else { return (false, steps) }
                accumulator = value
            case .loadPacketBehindIndex(let offset):
                guard let value = word(4, at: Int(index) + offset) else { return (false, steps) }
                accumulator = value
            case .findAttribute:
                accumulator = Self.findAttribute(UInt16(truncatingIfNeeded: index), in: packet, from: Int(accumulator))
            case .exclusiveOr(let value): accumulator ^= value
            case .subtractIndex: accumulator &-= index
            case .shiftRightByIndex: accumulator >>= index & 31
            case .skip(let count): position += Int(count)
            case .jump(let comparison, let value):
                let holds =
                    switch comparison {
                    case .equal: accumulator == value
                    case .greater: accumulator > value
                    case .anyOf: accumulator & value != 0
                    }
                position += Int(holds ? instruction.jumpTrue : instruction.jumpFalse)
            case .copyToIndex: index = accumulator
            case .answer(let value): return (value != 0, steps)
            }
        }
        return (false, steps)
    }

    /// `bpf_skb_get_nlattr`: the offset of an attribute, or 0.
    private static func findAttribute(_ type: UInt16, in packet: [UInt8], from start: Int) -> UInt32 {
        func half(at offset: Int) -> UInt16 { UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8 }
        var offset = start
        while offset + 4 <= packet.count {
            let length = Int(half(at: offset))
            guard length >= 4, offset + length <= packet.count else { return 0 }
            if half(at: offset + 2) & 0x3FFF == type { return UInt32(offset) }
            offset += (length + 3) & ~3
        }
        return 0
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// One instruction of classic BPF (`linux/filter.h`).
struct FilterInstruction: Hashable {
    var code: UInt16
    var jumpTrue: UInt8 = 0
    var jumpFalse: UInt8 = 0
    var operand: UInt32 = 0
}

extension FilterInstruction {
    /// A cell of the program's memory.
    enum Cell: UInt32 {
        case length
        case firstWord
        case secondWord
    }

    private init(_ code: Int32, _ operand: UInt32 = 0) {
        self.init(code: UInt16(code), operand: operand)
    }

    static let accept = Self(BPF_RET | BPF_K, .max)
    static let reject = Self(BPF_RET | BPF_K, 0)
    static let copyToIndex = Self(BPF_MISC | BPF_TAX)
    static let subtractIndex = Self(BPF_ALU | BPF_SUB | BPF_X)
    static let shiftRightByIndex = Self(BPF_ALU | BPF_RSH | BPF_X)
    /// The accumulator := offset of the attribute named by the index register, searched from the accumulator on; or 0.
    static let findAttribute = Self(BPF_LD | BPF_W | BPF_ABS, UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR))

    static func load(_ value: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IMM, value) }
    static func load(_ cell: Cell) -> Self { Self(BPF_LD | BPF_W | BPF_MEM, cell.rawValue) }
    static func loadIndex(_ value: UInt32) -> Self { Self(BPF_LDX | BPF_W | BPF_IMM, value) }
    static func loadIndex(_ cell: Cell) -> Self { Self(BPF_LDX | BPF_W | BPF_MEM, cell.rawValue) }
    static func loadHalf(at offset: UInt32) -> Self { Self(BPF_LD | BPF_H | BPF_ABS, offset) }
    static func loadByte(at offset: UInt32) -> Self { Self(BPF_LD | BPF_B | BPF_ABS, offset) }
    static func loadWord(behindIndex offset: UInt32) -> Self { Self(BPF_LD | BPF_W | BPF_IND, offset) }
    static func store(_ cell: Cell) -> Self { Self(BPF_ST, cell.rawValue) }
    static func exclusiveOr(_ word: UInt32) -> Self { Self(BPF_ALU | BPF_XOR | BPF_K, word) }
    static func skip(_ count: Int) -> Self { Self(BPF_JMP | BPF_JA, UInt32(count)) }

    static func jump(equal value: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> Self {
        Self(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jumpTrue: jumpTrue, jumpFalse: jumpFalse, operand: value)
    }

    static func jump(greater value: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> Self {
        Self(code: UInt16(BPF_JMP | BPF_JGT | BPF_K), jumpTrue: jumpTrue, jumpFalse: jumpFalse, operand: value)
    }

    static func jump(anyOf bits: UInt32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> Self {
        Self(code: UInt16(BPF_JMP | BPF_JSET | BPF_K), jumpTrue: jumpTrue, jumpFalse: jumpFalse, operand: bits)
    }
}

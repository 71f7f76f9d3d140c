// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

@testable import NetPathNetlink

/// Messages put together by hand, for what the kernel of a test machine does not have; little-endian.
enum MessageOctets {
    /// struct nlmsghdr with what follows.
    static func message(_ type: UInt16, header: [UInt8], _ attributes: [[UInt8]]) -> [UInt8] {
        let body = header + attributes.flatMap { $0 }
        return Self.word(UInt32(16 + body.count)) + Self.half(type) + [0, 0] + Self.word(0) + Self.word(0) + body
    }

    /// struct rtattr with its value and its padding.
    static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        Self.half(UInt16(4 + value.count)) + Self.half(UInt16(type)) + value
            + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    static func attribute(_ type: Int, _ value: UInt32) -> [UInt8] { Self.attribute(type, Self.word(value)) }

    static func attribute(_ type: Int, _ text: String) -> [UInt8] {
        Self.attribute(type, InternetAddress.fixture(text).bytes)
    }

    static func half(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

    /// RTM_NEWLINK of a tunnel of some kind (IFLA_LINKINFO with IFLA_INFO_KIND and IFLA_INFO_DATA).
    static func tunnel(_ kind: String, _ attributes: [[UInt8]]) -> [UInt8] {
        // struct ifinfomsg: index 7, ARPHRD_ETHER, up.
        let header = [0, 0] + Self.half(1) + Self.word(7) + Self.word(1) + Self.word(0)
        let info =
            Self.attribute(1, Array(kind.utf8) + [0]) + Self.attribute(2, attributes.flatMap { $0 })
        return Self.message(
            16,
            header: header,
            [Self.attribute(3, Array("tunnel7".utf8) + [0]), Self.attribute(16, [0]), Self.attribute(18, info)]
        )
    }

    /// What is read from the first message.
    static func read<Value>(_ bytes: [UInt8], _ body: (NetlinkMessage) -> Value?) -> Value? {
        var value: Value?
        NetlinkMessage.forEach(in: bytes) { value = value ?? body($0) }
        return value
    }
}

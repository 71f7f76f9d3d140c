// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Route messages as the kernel builds them, as far as the filter reads them.
struct RouteMessage: CustomStringConvertible {
    var type: UInt16 = 24
    var family: UInt8
    var length: UInt8
    var destination: InternetAddress?

    init(_ destination: InternetAddress, length: Int, isRemoval: Bool = false) {
        self.type = isRemoval ? 25 : 24
        self.family = destination.family == .ipv4 ? 2 : 10
        self.length = UInt8(length)
        self.destination = length == 0 ? nil : destination
    }

    var description: String {
        "type \(self.type) family \(self.family) \(self.destination.map(String.init(describing:)) ?? "-")/\(self.length)"
    }

    /// The message with its headers, RTA_TABLE first as in the kernel, RTA_PRIORITY last.
    var bytes: [UInt8] {
        var attributes = Self.attribute(15, [254, 0, 0, 0])
        if let destination { attributes += Self.attribute(1, destination.bytes) }
        attributes += Self.attribute(6, [100, 0, 0, 0])
        let header: [UInt8] = [self.family, self.length, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
        let total = 16 + header.count + attributes.count
        let netlink: [UInt8] =
            Self.half(UInt16(total)) + [0, 0] + Self.half(self.type) + [0, 0] + [UInt8](repeating: 0, count: 8)
        return netlink + header + attributes
    }

    private static func half(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    private static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        Self.half(UInt16(4 + payload.count)) + Self.half(type) + payload
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Messages about neighbours and settings as the kernel builds them.
struct NeighbourMessage {
    var type: UInt16 = 28
    var interfaceIndex: UInt8 = 3
    var address: InternetAddress
    /// NUD_REACHABLE.
    var state: UInt16 = 0x02
    var flags: UInt8 = 0
    /// How often it was asked (NDA_PROBES).
    var probes: UInt8 = 0
    /// For how many hundredths of a second it has been in that state (NDA_CACHEINFO); nil without a word of it.
    var updated: UInt8?
    var hardwareAddress: [UInt8] = [2, 0, 0, 0, 0, 1]

    /// The message with its headers; in the kernel's order.
    var bytes: [UInt8] {
        let family: UInt8 = self.address.family == .ipv4 ? 2 : 10
        let header: [UInt8] =
            [family, 0, 0, 0, self.interfaceIndex, 0, 0, 0] + kernelHalf(self.state) + [self.flags, 1]
        return kernelMessage(
            self.type,
            header + kernelAttribute(1, self.address.bytes) + kernelAttribute(2, self.hardwareAddress)
                + (self.probes > 0 ? kernelAttribute(4, [self.probes, 0, 0, 0]) : [])
                + (self.updated.map { kernelAttribute(3, [9, 9, 0, 0, 9, 0, 0, 0, $0, 0, 0, 0, 1, 0, 0, 0]) } ?? [])
        )
    }
}

/// RTM_NEWNETCONF with some settings (NETCONFA_*), each 1.
func settingsMessage(family: UInt8 = 2, _ settings: [UInt16]) -> [UInt8] {
    kernelMessage(80, [family, 0, 0, 0] + ([1] + settings).flatMap { kernelAttribute($0, [1, 0, 0, 0]) })
}

private func kernelHalf(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

private func kernelAttribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
    kernelHalf(UInt16(4 + payload.count)) + kernelHalf(type) + payload
        + [UInt8](repeating: 0, count: (4 - payload.count % 4) % 4)
}

private func kernelMessage(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
    kernelHalf(UInt16(16 + payload.count)) + [0, 0] + kernelHalf(type) + [UInt8](repeating: 0, count: 10) + payload
}

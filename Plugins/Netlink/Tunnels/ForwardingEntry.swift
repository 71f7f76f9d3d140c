// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Where a VXLAN interface sends frames, as its forwarding database says (`bridge-fdb(8)`, `bridge fdb show dev`).
struct ForwardingEntry: Hashable {
    /// The other end of the tunnel for these frames.
    var remote: InternetAddress
    /// The interface that the packets have to leave through; nil leaves it to the kernel.
    var linkIndex: UInt32?
    /// The UDP port they go to; nil for that of the interface.
    var port: UInt16?
    /// Whether it is for single hardware addresses, as the kernel learns them, and not for all frames.
    var isLearnt = false
}

extension ForwardingEntry {
    /// Reads RTM_NEWNEIGH; nil for entries that lead to no other end.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWNEIGH, message.family == AF_BRIDGE,
            let remote = message.neighbourAttribute(NDA_DST)?.address,
            !remote.isUnspecified
        else { return nil }
        self.remote = remote
        self.isLearnt = !Self.isDefault(message)
        self.linkIndex = message.neighbourAttribute(NDA_IFINDEX)?.uint32
        // In network order.
        self.port = message.neighbourAttribute(NDA_PORT)?.load(at: 0).map { UInt16(bigEndian: $0) }
    }

    /// Whether a message is about an entry for all frames that no other entry is for, which has an all-zero hardware
    /// address.
    static func isDefault(_ message: NetlinkMessage) -> Bool {
        message.family == AF_BRIDGE
            && message.neighbourAttribute(NDA_LLADDR)?.bytes.allSatisfy { $0 == 0 } == true
    }

    /// The interface whose database an entry is of.
    static func owner(_ message: NetlinkMessage) -> UInt32? { message.field(at: 4, as: UInt32.self) }
}

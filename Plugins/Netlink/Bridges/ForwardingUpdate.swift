// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// What a message about the forwarding database of a bridge says (`bridge-fdb(8)`).
struct ForwardingUpdate: Hashable {
    /// An entry: in each VLAN a bridge has another one for the same address.
    struct Key: Hashable {
        var bridge: UInt32
        /// 0 where the bridge does not filter by VLAN.
        var vlan: UInt16
        /// The Ethernet address.
        var address: [UInt8]
    }

    var key: Key
    /// The port that frames to the address leave through.
    var port: UInt32
    /// Whether the address is one of the bridge itself.
    var isLocal: Bool
    /// Whether the entry goes, and not of old age.
    var isWithdrawn: Bool

    /// Reads RTM_NEWNEIGH or RTM_DELNEIGH of AF_BRIDGE; nil for entries of other devices, such as VXLAN.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWNEIGH || message.type == RTM_DELNEIGH,
            message.family == AF_BRIDGE,
            let port = message.field(at: 4, as: UInt32.self), let state = message.field(at: 8, as: UInt16.self),
            let address = message.neighbourAttribute(NDA_LLADDR)?.bytes, address.count == 6,
            let bridge = message.neighbourAttribute(NDA_MASTER)?.uint32
        else { return nil }
        self.key = Key(bridge: bridge, vlan: message.neighbourAttribute(NDA_VLAN)?.load(at: 0) ?? 0, address: address)
        self.port = port
        self.isLocal = Int32(state) & NUD_PERMANENT != 0
        // fdb_to_nud of net/bridge/br_fdb.c.
        self.isWithdrawn = message.type == RTM_DELNEIGH && Int32(state) & NUD_STALE == 0
    }
}

extension NetlinkRequest {
    /// Asks for an entry of the forwarding database of a bridge.
    static func forwarding(_ key: ForwardingUpdate.Key) -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETNEIGH, headerLength: 12, family: AF_BRIDGE)
        request.append(NDA_MASTER, key.bridge)
        request.append(NDA_LLADDR, bytes: key.address)
        if key.vlan != 0 { request.append(NDA_VLAN, key.vlan) }
        return request
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// A host on the link, as the neighbour table names it.
struct Neighbour: Hashable {
    var interfaceIndex: UInt32
    var address: InternetAddress
}

/// What a message about an entry of the neighbour table says.
struct NeighbourUpdate: Hashable {
    var neighbour: Neighbour
    /// Whether it answers: false when it was asked for its link-layer address and did not (NUD_FAILED, or a second
    /// question); nil while it is asked the first time, and when the entry is gone.
    var answers: Bool?
    /// Whether it says that it is a router (RFC 4861 section 4.4).
    var isRouter: Bool
}

extension NeighbourUpdate {
    /// The length of struct ndmsg.
    private static let headerLength = 12

    /// Reads RTM_NEWNEIGH or RTM_DELNEIGH; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWNEIGH || message.type == RTM_DELNEIGH,
            let family = message.field(at: 0, as: UInt8.self), family == AF_INET || family == AF_INET6,
            let index = message.field(at: 4, as: UInt32.self), index > 0,
            let state = message.field(at: 8, as: UInt16.self),
            let flags = message.field(at: 10, as: UInt8.self),
            let address = message.attribute(Int(NDA_DST), headerLength: Self.headerLength)?.address
        else { return nil }
        self.neighbour = Neighbour(interfaceIndex: index, address: address)
        let probes = message.attribute(Int(NDA_PROBES), headerLength: Self.headerLength)?.uint32 ?? 0
        self.answers = message.type == RTM_NEWNEIGH ? Self.answers(Int32(state), probes) : nil
        self.isRouter = Int32(flags) & NTF_ROUTER != 0
    }

    private static func answers(_ state: Int32, _ probes: UInt32) -> Bool? {
        // While packets keep coming the kernel asks a failed one again, three times within three seconds.
        if state & NUD_FAILED != 0 || (state & NUD_INCOMPLETE != 0 && probes > 1) { return false }
        // What the kernel sends packets to without asking first (NUD_VALID) but for links that need no asking.
        return state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT) != 0 ? true : nil
    }
}

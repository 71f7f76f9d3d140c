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
    /// question); nil while it is asked the first time, when it is never asked, and when the entry is gone.
    var answers: Bool?
    /// Whether that is set by hand: what its link-layer address is (NUD_PERMANENT), that it needs none (NUD_NOARP), or
    /// that it be forgotten, which the kernel announces as a failure first (`neigh_delete`, net/core/neighbour.c).
    var isDecreed = false
    /// For how long that has been so.
    var age: Duration = .zero
    /// Whether it says that it is a router (RFC 4861 section 4.4).
    var isRouter: Bool
    /// The link-layer address it answers from (NDA_LLADDR), where that is known.
    var hardwareAddress: [UInt8]?
}

extension NeighbourUpdate {
    /// Reads RTM_NEWNEIGH or RTM_DELNEIGH; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        guard message.type == RTM_NEWNEIGH || message.type == RTM_DELNEIGH,
            message.family == AF_INET || message.family == AF_INET6,
            let index = message.field(at: 4, as: UInt32.self), index > 0,
            let state = message.field(at: 8, as: UInt16.self),
            let flags = message.field(at: 10, as: UInt8.self),
            let address = message.neighbourAttribute(NDA_DST)?.address
        else { return nil }
        self.neighbour = Neighbour(interfaceIndex: index, address: address)
        let probes = message.neighbourAttribute(NDA_PROBES)?.uint32 ?? 0
        self.isRouter = Int32(flags) & NTF_ROUTER != 0
        let hardwareAddress = message.neighbourAttribute(NDA_LLADDR)?.bytes
        self.hardwareAddress = hardwareAddress?.count == 6 ? hardwareAddress : nil
        // struct nda_cacheinfo: confirmed, used, updated, each so many hundredths of a second ago (USER_HZ).
        let hundredths: UInt32? = message.neighbourAttribute(NDA_CACHEINFO)?.load(at: 8)
        self.age = .milliseconds(Int64(hundredths ?? 0) * 10)
        if message.type == RTM_NEWNEIGH {
            self.answers = Self.answers(Int32(state), probes)
            self.isDecreed = Int32(state) & (NUD_PERMANENT | NUD_NOARP) != 0
        } else {
            self.isDecreed = Int32(state) & NUD_FAILED != 0 && hundredths.map { $0 < 5 } == true
        }
    }

    private static func answers(_ state: Int32, _ probes: UInt32) -> Bool? {
        // While packets keep coming the kernel asks a failed one again, three times within three seconds.
        if state & NUD_FAILED != 0 || (state & NUD_INCOMPLETE != 0 && probes > 1) { return false }
        // What the kernel sends packets to without asking first (NUD_VALID) but for what it never asks.
        return state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE) != 0 ? true : nil
    }

    /// The kernel asks three times, a second apart (mcast_solicit and retrans_time of `arp(7)`).
    private static let asking: Duration = .milliseconds(3_500)
    /// While there are packets for it, the kernel asks anew sooner.
    private static let idle: Duration = .seconds(2)

    /// Whether that it does not answer says nothing of what is behind the link now: it was asked while there was none,
    /// or long ago, and the next packet asks it again.
    func isOutdated(on link: LinkTable.Entry?, now: MonotonicTime) -> Bool {
        guard let link, link.hasCarrier, self.age < Self.idle else { return true }
        guard let since = link.interface.carrierSince ?? link.linkLocalSince else { return false }
        return now < since + self.age + Self.asking
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension LinkTable {
    /// One interface.
    struct Entry {
        var interface: NetworkInterface
        var hardwareType: UInt16 = 0
        var classification: InterfaceClassification?
        /// What its kind makes of it, looked up once.
        var hasTunnelKind = false
        var hasDiscardingKind = false
        var hasParentDevice = false
        /// What it forwards as the port of a bridge.
        var port = PortAttributes.everything
        /// Whether it takes in no frame.
        var receivesNothing = false
        var bond: BondAttributes?
        var tunnel: TunnelAttributes?
        var hasDynamicAddressHistory = false
        var sawRouterAdvertisement = false
        /// When each link-local address was added; the kernel adds one as soon as the carrier is there.
        var linkLocalSince: MonotonicTime?
        /// The device that a PPPoE session runs over.
        var sessionDevice: UInt32?
        /// Whether a PPPoE session ran over it.
        var hasSessionHistory = false
        /// Since when a client is seen no more that was seen to get it an address.
        var clientGoneSince: MonotonicTime?
        /// The other ends of the addresses, in the same order; nil where there is none.
        var peers: [InternetAddress?] = []
        /// Nil until it is stored.
        var rank: Rank?

        /// Whether it is up and has a carrier: an interface that is down often claims one.
        var hasCarrier: Bool { self.interface.flags.contains(.up) && self.interface.hasCarrier != false }

        var isPointToPoint: Bool { self.interface.kind == "ppp" }

        /// Whether it forwards what the bridge that it is a port of sends through it.
        var forwards: Bool { self.hasCarrier && self.port != .nothing }
    }

    /// How much an interface matters.
    enum Rank: Int, CaseIterable {
        /// It could carry a path, or be one step away from it.
        case principal
        case withCarrier
        case withoutCarrier
        case down
        /// A rule says to ignore it.
        case ignored
        /// Loopback that is up, and members of a bridge, bond or VRF, which stands for them.
        case hidden

        /// The ranks of spare interfaces, which can only say why there is no path; those closest to one first.
        static let spare = [Rank.withCarrier, .withoutCarrier, .down]
    }
}

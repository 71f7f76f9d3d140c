// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkInterface {
    /// What gives an interface an address.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Configurer: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing that gives one is seen.
        case nothing
        /// A DHCP client listens on it, or a router advertises there.
        case network
        /// A PPPoE session is being set up over it; the address will be that of the session.
        case session
    }

    /// What the links of a bond lack that carries nothing although some member has a carrier.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum BondFault: Hashable, Sendable, Codable {
        /// The member with this name is the only one that carries packets, has no carrier, and nothing replaces it: the bond
        /// does not watch links (`miimon` and `arp_interval` are 0).
        case activeMember(String)
        /// Fewer members have a carrier than the bond needs (`min_links`).
        case fewerLinks(than: Int)
    }
}

extension NetworkInterface.BondFault: CustomStringConvertible {
    /// What a bond does, without its name.
    public var description: String {
        switch self {
        case .activeMember(let member): "sends through \(member), which has no carrier, and does not watch links"
        case .fewerLinks(let least): "has fewer links than the \(least) it needs"
        }
    }
}

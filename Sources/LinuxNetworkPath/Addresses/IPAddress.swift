// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import FoundationEssentials

/// An IP address of either family.
public protocol IPAddress: Sendable {
    /// The bytes in network order: 4 for IPv4, 16 for IPv6.
    var rawValue: Data { get }

    /// Creates an address from its bytes in network order; nil for another number of them.
    init?(_ rawValue: Data, _ interface: NWInterface?)

    /// Creates an address from its text, such as `fe80::1%eth0`; names are not looked up.
    init?(_ string: String)

    /// The interface the address belongs to, if any.
    var interface: NWInterface? { get }

    /// Whether the address is the loopback address.
    var isLoopback: Bool { get }

    /// Whether the address is valid on its link only.
    var isLinkLocal: Bool { get }

    /// Whether the address stands for a group of hosts.
    var isMulticast: Bool { get }
}

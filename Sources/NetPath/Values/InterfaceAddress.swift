// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An address that an interface carries.
public struct InterfaceAddress: Hashable, Sendable, Codable, Comparable {
    /// The interface's own address with its prefix length (IFA_LOCAL; never the peer's).
    public var prefix: AddressPrefix
    /// How far the address is valid.
    public var scope: AddressScope
    /// What the kernel says of the address; lifetimes are not part of it.
    public var state: AddressState
    /// When an address with a lifetime, as those of DHCP and router advertisements have, was added; nil for one without,
    /// and when the backend cannot know.
    @EqualityIgnored public var dynamicSince: MonotonicTime?
    /// When it was added; nil when the backend cannot know.
    @EqualityIgnored public var addedAt: MonotonicTime?

    /// Creates an address.
    public init(_ prefix: AddressPrefix, scope: AddressScope = .global, state: AddressState = []) {
        self.prefix = prefix
        self.scope = scope
        self.state = state
    }

    /// Whether packets may leave with this address as their source.
    ///
    /// A tentative address is still being checked for duplicates (RFC 4862) and a failed one lost that check; an
    /// optimistic one (RFC 4429) may be used meanwhile. A deprecated address is usable.
    public var isUsable: Bool {
        !self.state.contains(.duplicate) && (!self.state.contains(.tentative) || self.state.contains(.optimistic))
    }

    /// Whether the address can be talked to from beyond the link.
    public var isGlobal: Bool { self.scope == .global || self.scope == .site }

    /// Orders by address, then by prefix length.
    public static func < (left: InterfaceAddress, right: InterfaceAddress) -> Bool {
        left.prefix.address == right.prefix.address
            ? left.prefix.length < right.prefix.length : left.prefix.address < right.prefix.address
    }
}

/// The scope of an address, with the kernel's RT_SCOPE_* numbers as raw values (`rtnetlink(7)`).
public struct AddressScope: RawRepresentable, Hashable, Sendable, Codable {
    /// The kernel's number.
    public let rawValue: UInt8

    /// Creates a scope from the kernel's number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Valid everywhere (RT_SCOPE_UNIVERSE).
    public static let global = AddressScope(rawValue: 0)
    /// Valid within a site (RT_SCOPE_SITE).
    public static let site = AddressScope(rawValue: 200)
    /// Valid on the link only (RT_SCOPE_LINK).
    public static let link = AddressScope(rawValue: 253)
    /// Valid on this host only (RT_SCOPE_HOST).
    public static let host = AddressScope(rawValue: 254)
}

/// What the kernel says of an address: the IFA_F_* bits that matter to a path (`if_addr.h`).
public struct AddressState: OptionSet, Hashable, Sendable, Codable {
    /// The bits.
    public let rawValue: UInt32

    /// Creates a state from bits as they are.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates a state from the kernel's word, keeping only the bits named here.
    public init(kernelFlags: UInt32) {
        self.rawValue = kernelFlags & 0x6C
    }

    /// May be used although it is tentative (IFA_F_OPTIMISTIC).
    public static let optimistic = AddressState(rawValue: 0x04)
    /// Duplicate address detection failed (IFA_F_DADFAILED).
    public static let duplicate = AddressState(rawValue: 0x08)
    /// Usable, but not for new connections (IFA_F_DEPRECATED).
    public static let deprecated = AddressState(rawValue: 0x20)
    /// Duplicate address detection is running (IFA_F_TENTATIVE).
    public static let tentative = AddressState(rawValue: 0x40)
}

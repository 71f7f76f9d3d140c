// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What has to be asked of the kernel again, because it may have come to another decision.
struct Staleness: Hashable {
    /// The families with other decisions.
    private(set) var families: Families = []
    /// Whether the default routes of all interfaces are concerned.
    private var hasAllInterfaces = false
    /// The interfaces whose default routes are concerned.
    private var interfaces = IndexSet()

    /// The families of routes.
    struct Families: OptionSet, Hashable {
        let rawValue: UInt8
        static let ipv4 = Families(rawValue: 1)
        static let ipv6 = Families(rawValue: 2)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ family: AddressFamily) { self = family == .ipv4 ? .ipv4 : .ipv6 }

        func cover(_ family: AddressFamily) -> Bool { self.contains(Families(family)) }
    }

    /// Everything.
    static var all: Staleness {
        var staleness = Staleness()
        staleness.insertDecisions()
        staleness.hasAllInterfaces = true
        return staleness
    }

    /// Whether the default routes of an interface have to be asked for.
    func concerns(_ interface: UInt32) -> Bool { self.hasAllInterfaces || self.interfaces.contains(interface) }

    /// Notes a change of a route or rule: one of a family (AF_*) says nothing about the other.
    mutating func insertRoute(family: Int32?) {
        self.hasAllInterfaces = true
        switch family {
        case AF_INET: self.families.insert(.ipv4)
        case AF_INET6: self.families.insert(.ipv6)
        default: self.insertDecisions()
        }
    }

    /// Notes a change of an interface.
    mutating func insert(interface: UInt32) {
        self.insertDecisions()
        self.interfaces.insert(interface)
    }

    /// Notes a change of an interface's addresses: one of a family says nothing about the other.
    mutating func insert(interface: UInt32, family: AddressFamily) {
        self.families.insert(Families(family))
        self.interfaces.insert(interface)
    }

    /// Notes that decisions changed, of both families, and nothing else.
    mutating func insertDecisions() {
        self.families = [.ipv4, .ipv6]
    }
}

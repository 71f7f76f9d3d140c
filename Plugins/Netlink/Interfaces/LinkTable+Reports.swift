// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What of the table is worth asking about and worth reporting.
extension LinkTable {
    /// The indices of all interfaces that may be asked for a default route of their own.
    var principals: [UInt32] { self.ranks[Rank.principal.rawValue].indices }

    /// Whether ``reportable(including:)`` leaves out spare interfaces.
    var isAbridged: Bool {
        Rank.spare.reduce(0) { $0 + self.ranks[$1.rawValue].indices.count } > Self.spareLimit
    }

    /// The interfaces worth reporting, sorted by index: the principal ones, some others to tell by, those asked for,
    /// and what they are built on.
    func reportable(including indices: some Sequence<UInt32>) -> [NetworkInterface] {
        var chosen = self.ranks[Rank.principal.rawValue]
        var places = Self.spareLimit
        for rank in Rank.spare {
            let some = self.ranks[rank.rawValue].indices.prefix(places)
            places -= some.count
            for index in some { chosen.insert(index) }
        }
        // Only to name them where a client asks for an explanation.
        for index in self.ranks[Rank.ignored.rawValue].indices.prefix(Self.spareLimit) { chosen.insert(index) }
        for index in indices { chosen.insert(index) }
        // An address that loopback holds may be on an interface that is down, too, where it is of no use.
        if self.hasGlobalAddress(NetworkInterface.loopbackIndex) { chosen.insert(NetworkInterface.loopbackIndex) }
        for index in chosen.indices {
            if let parent = self.entries[index]?.interface.underlyingIndex { chosen.insert(parent) }
        }
        var reportable: [NetworkInterface] = []
        reportable.reserveCapacity(chosen.indices.count)
        var lowers: [UInt32: UInt32?] = [:]
        for index in chosen.indices {
            guard let interface = self.entries[index]?.interface else { continue }
            let last = reportable.count
            reportable.append(interface)
            reportable[last].type = self.type(of: index, &lowers)
            reportable[last].foundation = self.foundation(of: index)
            reportable[last].hasPorts = self.hasPorts(index)
            if reportable[last].kind == "bond" {
                reportable[last].bondFault = self.bondFault(of: index)
                // Without link monitoring (miimon 0) a bond never says that it has lost what carries its packets.
                let isLost = reportable[last].bondFault != nil || self.memberHasCarrier(index) == false
                if isLost { reportable[last].hasCarrier = false }
            }
            if reportable[last].carrierSince == nil {
                reportable[last].carrierSince = self.entries[index]?.linkLocalSince
            }
        }
        return reportable
    }

    /// Whether a next hop is flagged otherwise than its interface is known to be.
    // One by one: an interface is large.
    @inline(__always) func contradicts(_ nextHop: NextHop) -> Bool {
        self.entries[nextHop.interfaceIndex]?.hasCarrier == nextHop.isDown
    }

    /// Whether it makes sense to ask for the default routes of an interface: it could carry a path, and it has an address, or
    /// loopback has that of the host.
    func mayHaveDefaultRoutes(_ index: UInt32) -> Bool {
        // An entry is large.
        guard self.entries[index]?.rank == .principal, self.entries[index]?.interface.flags.contains(.up) == true else {
            return false
        }
        return self.hasGlobalAddress(index) || self.hasGlobalAddress(NetworkInterface.loopbackIndex)
    }

    private func hasGlobalAddress(_ index: UInt32) -> Bool {
        self.entries[index]?.interface.addresses.contains(where: \.isGlobal) == true
    }

    /// That many source addresses are tried at most where it is not known which one the kernel chooses.
    static let sourceLimit = 8

    /// Addresses that packets to the internet may be sent from, of one interface or of all: loopback may hold that of a
    /// host whose uplinks have none (BGP unnumbered).
    func sources(_ family: AddressFamily, of interface: UInt32?) -> [InternetAddress] {
        var addresses: [InternetAddress] = []
        for index in interface.map({ [$0] }) ?? self.principals + [NetworkInterface.loopbackIndex] {
            guard let interface = self.entries[index]?.interface, interface.flags.contains(.up) else { continue }
            for address in interface.addresses where address.isUsable && address.isGlobal {
                guard address.prefix.address.family == family else { continue }
                addresses.append(address.prefix.address)
                if addresses.count == Self.sourceLimit { return addresses }
            }
        }
        return addresses
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Which interface is built on which.
extension LinkTable {
    /// The type of an interface, looking through stacked ones.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - lowers: What was found before for others: hundreds of VLANs may have one bridge below them.
    /// - Returns: The type.
    func type(of index: UInt32, _ lowers: inout [UInt32: UInt32?]) -> InterfaceType {
        var index = index
        // Stacks are finite, but messages of a changing stack can show a loop.
        for _ in 0..<8 {
            guard let entry = self.entries[index], let classification = entry.classification else { return .other }
            switch classification {
            case .type(let type): return type
            case .asLower:
                let lower = lowers[index] ?? self.lower(of: index, entry)
                lowers[index] = .some(lower)
                guard let lower else { return .wired }
                index = lower
            }
        }
        return .wired
    }

    private func lower(of index: UInt32, _ entry: Entry) -> UInt32? {
        if let parent = entry.interface.underlyingIndex { return parent }
        if let active = entry.bond?.activeMember, self.entries[active] != nil { return active }
        // What a virtual machine is connected by says nothing of the line, however early it was there.
        let lines = self.hardwareMembers(of: index)
        let members = lines.isEmpty ? Array(self.members(of: index)) : lines
        return members.first { self.entries[$0]?.hasCarrier == true } ?? members.first
    }

    /// The first members of a bridge, bond or VRF, by index.
    func members(of index: UInt32) -> ArraySlice<UInt32> {
        self.members[index]?.all.indices.prefix(Self.spareLimit) ?? []
    }

    /// The names of the ports of a bridge that are up and have no carrier, the first ones.
    ///
    /// A bridge has a carrier as long as one port has, so that a virtual machine hides that the cable is out.
    func membersWithoutCarrier(of bridge: UInt32) -> [String] {
        self.members[bridge]?.idle.indices.prefix(Self.spareLimit).compactMap { member in
            guard let entry = self.entries[member], entry.interface.flags.contains(.up), !entry.hasCarrier
            else { return nil }
            return entry.interface.name
        } ?? []
    }

    /// The members that are hardware or stand on it.
    func hardwareMembers(of index: UInt32) -> [UInt32] {
        self.members[index]?.leading.filter { self.standsOnHardware($0) } ?? []
    }

    private func standsOnHardware(_ index: UInt32, depth: Int = 0) -> Bool {
        guard depth < 8, let interface = self.entries[index]?.interface else { return false }
        if interface.isHardware == true { return true }
        if let parent = interface.underlyingIndex {
            return interface.kind != "veth" && self.standsOnHardware(parent, depth: depth + 1)
        }
        return self.members[index]?.leading.contains { self.standsOnHardware($0, depth: depth + 1) } ?? false
    }

    /// What a bridge, bond or VRF stands on; nil for others, and for those that stand on something else.
    func foundation(of index: UInt32) -> NetworkInterface.Underlay? {
        let members = self.members(of: index)
        guard !members.isEmpty else { return nil }
        if !self.hardwareMembers(of: index).isEmpty { return .hardware }
        // Of thousands of ports the first ones tell.
        return members.contains { self.tunnel(under: $0) == nil } ? nil : .tunnels
    }

    /// The tunnels among the ports of a bridge and of those that it is connected to, where it has neither hardware nor only
    /// tunnels; the first ones.
    func tunnelsBesideOthers(of index: UInt32) -> [UInt32] {
        guard self.entries[index]?.interface.kind == "bridge", self.foundation(of: index) == nil else { return [] }
        let bridges = self.bridges(connectedTo: index)
        if bridges.contains(where: { self.foundation(of: $0) == .hardware }) { return [] }
        return bridges.flatMap { self.members(of: $0) }.compactMap { self.tunnel(under: $0) }
    }

    /// The tunnel that an interface is or stands on, such as one with a VLAN; nil for others.
    func tunnel(under index: UInt32) -> UInt32? {
        var index = index
        for _ in 0..<8 {
            guard let entry = self.entries[index] else { return nil }
            if entry.hasTunnelKind { return index }
            guard entry.interface.kind != "veth", let parent = entry.interface.underlyingIndex else { return nil }
            index = parent
        }
        return nil
    }

    /// Whether packets that are sent through an interface may go into another one below it, such as a port of its bridge.
    func stands(_ upper: UInt32, on lower: UInt32, depth: Int = 0) -> Bool {
        guard upper != lower else { return true }
        guard depth < 8, let interface = self.entries[upper]?.interface else { return false }
        if interface.kind == "bridge" {
            return self.bridges(connectedTo: upper).contains { bridge in
                bridge == lower || self.members(of: bridge).contains { self.stands($0, on: lower, depth: depth + 1) }
            }
        }
        guard interface.kind != "veth", let parent = interface.underlyingIndex else { return false }
        return self.stands(parent, on: lower, depth: depth + 1)
    }

    /// What a bond lacks that carries nothing although some member has a carrier.
    func bondFault(of index: UInt32) -> NetworkInterface.BondFault? {
        guard let entry = self.entries[index], let bond = entry.bond else { return nil }
        let linked = (self.members[index]?.all.indices ?? []).count { self.entries[$0]?.hasCarrier == true }
        if linked == 0 { return nil }
        if bond.isUnwatched, let active = bond.activeMember.flatMap({ self.entries[$0] }), !active.hasCarrier {
            return .activeMember(active.interface.name)
        }
        return !entry.hasCarrier && linked < bond.leastLinks ? .fewerLinks(than: Int(bond.leastLinks)) : nil
    }

    /// Whether some member of a bridge or bond has a carrier; nil without members.
    func memberHasCarrier(_ index: UInt32) -> Bool? {
        guard let members = self.members[index]?.all, members.first != nil else { return nil }
        return members.contains { self.entries[$0]?.hasCarrier == true }
    }
}

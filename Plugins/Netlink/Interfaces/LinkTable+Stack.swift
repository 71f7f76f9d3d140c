// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Which interface is built on which.
extension LinkTable {
    /// The type of an interface, looking through stacked ones.
    func type(of index: UInt32) -> InterfaceType {
        var index = index
        // Stacks are finite, but messages of a changing stack can show a loop.
        for _ in 0..<8 {
            guard let entry = self.entries[index], let classification = entry.classification else { return .other }
            switch classification {
            case .type(let type): return type
            case .asLower:
                guard let lower = self.lower(of: index, entry) else { return .wired }
                index = lower
            }
        }
        return .wired
    }

    private func lower(of index: UInt32, _ entry: Entry) -> UInt32? {
        if let parent = entry.interface.underlyingIndex { return parent }
        if let active = entry.activeMember, self.entries[active] != nil { return active }
        let members = self.members[index]?.indices.prefix(Self.spareLimit) ?? []
        return members.first { self.entries[$0]?.hasCarrier == true } ?? members.first
    }

    /// The first members of a bridge, bond or VRF, by index.
    func members(of index: UInt32) -> ArraySlice<UInt32> { self.members[index]?.indices.prefix(Self.spareLimit) ?? [] }

    /// The names of the ports of a bridge that are up and have no carrier, among the first ones.
    ///
    /// A bridge has a carrier as long as one port has, so that a virtual machine hides that the cable is out.
    func membersWithoutCarrier(of bridge: UInt32) -> [String] {
        self.members(of: bridge).compactMap { member in
            guard let entry = self.entries[member], entry.interface.flags.contains(.up), !entry.hasCarrier
            else { return nil }
            return entry.interface.name
        }
    }

    /// What a bridge, bond or VRF stands on; nil for others, and for those that stand on something else.
    func foundation(of index: UInt32) -> NetworkInterface.Foundation? {
        // Of thousands of ports the first ones tell: hardware was there before containers.
        let members = self.members(of: index)
        guard !members.isEmpty else { return nil }
        var isOnTunnelsOnly = true
        for member in members {
            guard let interface = self.entries[member]?.interface else { continue }
            if interface.isHardware == true { return .hardware }
            if !interface.hasTunnelKind { isOnTunnelsOnly = false }
        }
        return isOnTunnelsOnly ? .tunnels : nil
    }

    /// Whether some member of a bridge or bond has a carrier; nil without members.
    func memberHasCarrier(_ index: UInt32) -> Bool? {
        guard let members = self.members[index], members.first != nil else { return nil }
        return members.contains { self.entries[$0]?.hasCarrier == true }
    }
}

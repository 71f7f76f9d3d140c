// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Asks bridges where they have gateways.
///
/// A bridge has a carrier as long as one port has, so that a virtual machine hides that the cable is out. Its forwarding
/// database knows more: the kernel takes out what it learnt behind a port together with the port's carrier. It is asked
/// only while a port does not forward, none that does is hardware, or one that is does not forward everything.
struct BridgeLookup {
    let queries: KernelQueries
    /// Where addresses were when last a bridge had an entry for them.
    private var memories: [ForwardingUpdate.Key: Memory] = [:]
    /// The bridges that gateways are behind.
    private(set) var inUse: Set<UInt32> = []
    /// Where those in use belong, by bridge: one of hundreds is looked through once in a round.
    private var groups: [UInt32: Group] = [:]
    /// What matters now besides entries that go.
    private(set) var interest = Interest.nothing

    enum Interest: Comparable {
        case nothing
        /// Where gateways are learnt.
        case entries
        /// Also what addresses they answer from: one is lost.
        case addresses
    }

    /// Bridges that veth pairs connect.
    private struct Group {
        let count: Int
        /// Whether hardware forwards.
        let hasLine: Bool
        /// Whether a gateway may be behind a port that does not forward.
        let mayHide: Bool
        /// The first ports that do not forward.
        let idlePorts: [String]
    }

    private struct Memory {
        var port: UInt32
        /// What the port was called when the entry went, and not of old age.
        var withdrawnFrom: String?
    }

    /// More is not remembered.
    private static let memoryLimit = 64

    init(_ queries: KernelQueries) {
        self.queries = queries
    }

    /// Begins to ask about all gateways in use.
    mutating func beginRound() {
        self.interest = .nothing
        (self.inUse, self.groups) = ([], [:])
        if self.memories.count > Self.memoryLimit { self.memories = [:] }
    }

    /// Notes that an entry went.
    ///
    /// - Returns: The port it was for, of which has to be asked whether it lost its link.
    mutating func apply(_ update: ForwardingUpdate, in table: LinkTable) -> UInt32? {
        guard update.isWithdrawn, !update.isLocal, self.inUse.contains(update.key.bridge) else { return nil }
        self.memories[update.key] = Memory(port: update.port, withdrawnFrom: Self.name(of: update.port, in: table))
        return update.port
    }

    /// Where the bridge below an interface has a gateway.
    ///
    /// - Returns: The place; nil where there is no bridge, and where nothing keeps it from reaching the gateway.
    mutating func place(of gateway: Neighbour, at address: [UInt8]?, in table: LinkTable) -> BridgePlace? {
        let place = self.find(gateway, at: address, in: table)
        if case .lost = place { self.interest = .addresses }
        return place
    }

    private mutating func find(_ gateway: Neighbour, at address: [UInt8]?, in table: LinkTable) -> BridgePlace? {
        guard let (bridge, upper, entrance) = table.bridge(below: gateway.interfaceIndex) else { return nil }
        let group = self.group(of: bridge, in: table)
        guard group.mayHide else { return nil }
        self.interest = max(self.interest, .entries)
        // It may have another one by now.
        let neighbour = try? self.queries.ask(.neighbour(gateway), NeighbourUpdate.init).get()
        if let address = neighbour?.hardwareAddress ?? address,
            let place = self.follow(address, from: bridge, of: group, upper, entrance, in: table)
        {
            return place
        }
        return .unknown(ports: group.idlePorts)
    }

    private mutating func group(of bridge: UInt32, in table: LinkTable) -> Group {
        if let group = self.groups[bridge] { return group }
        let bridges = table.bridges(connectedTo: bridge)
        let lines = bridges.flatMap { bridge in
            table.hardwareMembers(of: bridge).filter { table.forwards($0, in: bridge) }
        }
        let idle = bridges.flatMap { table.members[$0]?.idle.indices ?? [] }
        let group = Group(
            count: bridges.count,
            hasLine: !lines.isEmpty,
            mayHide: lines.isEmpty || !idle.isEmpty || lines.contains { table.entries[$0]?.port != .everything },
            idlePorts: idle.prefix(LinkTable.spareLimit).compactMap { table.entries[$0]?.interface.name }
        )
        self.inUse.formUnion(bridges)
        for bridge in bridges { self.groups[bridge] = group }
        return group
    }

    /// Follows an address from one bridge to the next, where it is behind a veth pair.
    ///
    /// - Returns: Where it ends; nil where a bridge does not know the address.
    private mutating func follow(
        _ address: [UInt8],
        from first: UInt32,
        of group: Group,
        _ upper: UInt32?,
        _ entrance: UInt32?,
        in table: LinkTable
    ) -> BridgePlace? {
        var (bridge, entrance) = (first, entrance)
        for _ in 0..<group.count {
            if let entrance, !table.forwards(entrance, in: bridge) {
                return .lost(port: Self.name(of: entrance, in: table))
            }
            guard let vlan = self.vlan(in: bridge, of: bridge == first ? upper : nil) else { return nil }
            let key = ForwardingUpdate.Key(bridge: bridge, vlan: vlan, address: address)
            guard var port = self.port(for: key, in: table) else {
                return group.hasLine ? nil : self.memories[key]?.withdrawnFrom.map { .lost(port: $0) }
            }
            if !table.forwards(port, in: bridge) {
                // The port that takes over (`bridge link set … backup_port`), where this one has no carrier (`br_forward`,
                // net/bridge/br_forward.c).
                let backup: UInt32? = self.setting(IFLA_INFO_SLAVE_DATA, IFLA_BRPORT_BACKUP_PORT, of: port)
                guard let backup, table.entries[port]?.hasCarrier == false, table.forwards(backup, in: bridge)
                else { return .lost(port: Self.name(of: port, in: table)) }
                port = backup
            }
            guard let next = table.bridge(behind: port) else { return table.isLooseEnd(port) ? nil : .reachable }
            (bridge, entrance) = (next, table.otherEnd(of: port))
        }
        return nil
    }

    /// The port that a bridge has an address behind, or had while that port forwards; nil when it is not known.
    private mutating func port(for key: ForwardingUpdate.Key, in table: LinkTable) -> UInt32? {
        if case .success(let entry) = self.queries.ask(.forwarding(key), ForwardingUpdate.init), !entry.isLocal {
            self.memories[key] = Memory(port: entry.port)
            return entry.port
        }
        guard let memory = self.memories[key], table.forwards(memory.port, in: key.bridge) else { return nil }
        if memory.withdrawnFrom != nil {
            // The port has its link again: that the entry went says nothing any more.
            self.memories[key] = nil
            return nil
        }
        return table.entries[memory.port]?.port == .everything ? memory.port : nil
    }

    private static func name(of port: UInt32, in table: LinkTable) -> String {
        table.entries[port]?.interface.name ?? "a port"
    }

    /// The VLAN that packets are in which come to a bridge by a VLAN interface or without one (PVID); 0 where it does not
    /// filter by VLAN, nil when that is unknown.
    private func vlan(in bridge: UInt32, of interface: UInt32?) -> UInt16? {
        let isFiltering: UInt8? = self.setting(IFLA_INFO_DATA, IFLA_BR_VLAN_FILTERING, of: bridge)
        if isFiltering != 1 { return isFiltering.map { _ in 0 } }
        if let interface { return self.setting(IFLA_INFO_DATA, IFLA_VLAN_ID, of: interface) }
        return self.setting(IFLA_INFO_DATA, IFLA_BR_VLAN_DEFAULT_PVID, of: bridge)
    }

    private func setting<Value: BitwiseCopyable>(_ group: Int, _ attribute: Int, of index: UInt32) -> Value? {
        try? self.queries.ask(.link(index)) { message -> Value? in
            message.attribute(IFLA_LINKINFO, headerLength: 16)?.nested(group)?.nested(attribute)?.load(at: 0)
        }.get()
    }
}

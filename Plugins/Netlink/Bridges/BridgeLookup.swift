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
    /// Where addresses were while the bridge knew them.
    private var seen: [ForwardingUpdate.Key: UInt32] = [:]
    /// The ports whose entry went, and not of old age, with their names.
    private var withdrawn: [ForwardingUpdate.Key: (port: UInt32, name: String)] = [:]
    /// The bridges that gateways are behind.
    private(set) var inUse: Set<UInt32> = []
    /// What matters now besides entries that go.
    private(set) var interest = Interest.nothing

    enum Interest: Comparable {
        case nothing
        /// Where gateways are learnt.
        case entries
        /// Also what addresses they answer from: one is lost.
        case addresses
    }

    /// More is not remembered.
    private static let memoryLimit = 64

    init(_ queries: KernelQueries) {
        self.queries = queries
    }

    /// Begins to ask about all gateways in use.
    mutating func beginRound() {
        self.interest = .nothing
        self.inUse = []
        if self.seen.count + self.withdrawn.count > Self.memoryLimit { (self.seen, self.withdrawn) = ([:], [:]) }
    }

    /// Notes that an entry went.
    ///
    /// - Returns: The port it was for, of which has to be asked whether it lost its link.
    mutating func apply(_ update: ForwardingUpdate, in table: LinkTable) -> UInt32? {
        guard update.isWithdrawn, !update.isLocal, self.inUse.contains(update.key.bridge) else { return nil }
        self.seen[update.key] = nil
        self.withdrawn[update.key] = (update.port, table.entries[update.port]?.interface.name ?? "a port")
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
        guard let (bridge, upper) = table.bridge(below: gateway.interfaceIndex) else { return nil }
        let bridges = table.bridges(connectedTo: bridge)
        self.inUse.formUnion(bridges)
        let lines = bridges.flatMap { bridge in
            table.hardwareMembers(of: bridge).filter { table.forwards($0, in: bridge) }
        }
        let idle = bridges.flatMap { table.members[$0]?.idle.indices ?? [] }
        guard lines.isEmpty || !idle.isEmpty || lines.contains(where: { table.entries[$0]?.port != .everything })
        else { return nil }
        self.interest = max(self.interest, .entries)
        let unknown = BridgePlace.unknown(
            ports: idle.prefix(LinkTable.spareLimit).compactMap { table.entries[$0]?.interface.name }
        )
        // It may have another one by now.
        let neighbour = try? self.queries.ask(.neighbour(gateway), NeighbourUpdate.init).get()
        guard let address = neighbour?.hardwareAddress ?? address else { return unknown }
        var key = ForwardingUpdate.Key(bridge: bridge, vlan: 0, address: address)
        for _ in bridges {
            guard let vlan = self.vlan(in: key.bridge, of: key.bridge == bridge ? upper : nil) else { break }
            key.vlan = vlan
            guard let port = self.port(for: key, in: table) else {
                guard let (_, name) = self.withdrawn[key], lines.isEmpty else { break }
                return .lost(port: name)
            }
            guard table.forwards(port, in: key.bridge) else {
                // The port that takes over (`bridge link set … backup_port`).
                let backup: UInt32? = self.setting(IFLA_INFO_SLAVE_DATA, IFLA_BRPORT_BACKUP_PORT, of: port)
                if let backup, table.forwards(backup, in: key.bridge) { return .reachable }
                return .lost(port: table.entries[port]?.interface.name ?? "a port")
            }
            guard let next = table.bridge(behind: port) else { return .reachable }
            key.bridge = next
        }
        return unknown
    }

    /// The port that a bridge has an address behind, or had while that port forwards; nil when it is not known.
    private mutating func port(for key: ForwardingUpdate.Key, in table: LinkTable) -> UInt32? {
        if case .success(let entry) = self.queries.ask(.forwarding(key), ForwardingUpdate.init), !entry.isLocal {
            self.withdrawn[key] = nil
            self.seen[key] = entry.port
            return entry.port
        }
        if let (port, _) = self.withdrawn[key] {
            guard table.forwards(port, in: key.bridge) else { return nil }
            self.withdrawn[key] = nil
        }
        return self.seen[key].flatMap { port in
            table.forwards(port, in: key.bridge) && table.entries[port]?.port == .everything ? port : nil
        }
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

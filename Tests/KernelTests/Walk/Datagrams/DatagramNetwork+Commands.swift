// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// The commands that make a network what it is, break it, and mend it.
///
/// Who mends something brings everything back that went with it and is not broken itself, as a network manager does:
/// the kernel takes the routes along when an address or an interface goes.
extension DatagramNetwork {
    /// Makes the uplinks, and the rules that stay whatever happens.
    func preparation(without faults: Set<Fault>) -> [WalkCommand] {
        self.rules + self.uplinks.flatMap { self.making($0, without: faults) }
    }

    private var rules: [WalkCommand] {
        guard let tunnel else { return [] }
        switch tunnel.entry {
        case .halves, .preferredDefault: return []
        case .unmarkedTable:
            return tunnel.families.flatMap { family -> [WalkCommand] in
                [
                    .ip(family, "rule add not fwmark 51820 table 51820 priority 32765"),
                    .ip(family, "rule add table main suppress_prefixlength 0 priority 32764"),
                ]
            }
        case .markedMain:
            return Family.allCases.flatMap { family -> [WalkCommand] in
                [
                    .ip(family, "rule add priority 5210 fwmark 0x80000/0xff0000 table main"),
                    .ip(family, "rule add priority 5230 fwmark 0x80000/0xff0000 table default"),
                    .ip(family, "rule add priority 5250 fwmark 0x80000/0xff0000 type unreachable"),
                    .ip(family, "rule add priority 5270 table 52"),
                ]
            }
        }
    }

    private func making(_ uplink: Uplink, without faults: Set<Fault>) -> [WalkCommand] {
        guard !faults.contains(.uplinkRemoved(uplink.number)) else { return [] }
        return [.ip("link add \(uplink.name) type veth peer name \(uplink.peerName) netns FAR")]
            + (faults.contains(.cableOut(uplink: uplink.number)) ? [] : [.beyond("link set \(uplink.peerName) up")])
            + self.configuring(uplink, without: faults)
    }

    /// Sets an uplink that exists up, with its addresses and routes.
    private func configuring(_ uplink: Uplink, without faults: Set<Fault>) -> [WalkCommand] {
        guard !faults.contains(.uplinkRemoved(uplink.number)), !faults.contains(.uplinkDown(uplink.number)) else {
            return []
        }
        var commands: [WalkCommand] = [.ip("link set \(uplink.name) up")]
        for family in uplink.families where !faults.contains(.addressLost(uplink: uplink.number, family)) {
            let options = "dev \(uplink.name)" + (family == .ipv6 ? " nodad" : "")
            commands.append(.ip("address replace \(uplink.address(family))/\(family == .ipv4 ? 24 : 64) \(options)"))
            // The kernel refuses routes that it would not use.
            if self.ignoresRoutesWithoutCarrier, faults.contains(.cableOut(uplink: uplink.number)) { continue }
            let hop = "via \(uplink.gateway(family)) dev \(uplink.name)"
            if !faults.contains(.defaultRouteLost(uplink: uplink.number, family)) {
                commands.append(.ip(family, "route replace default \(hop) metric \(uplink.metric)"))
            }
            if let tunnel, tunnel.exit == .hostRoute(uplink: uplink.number), tunnel.endpointFamily == family,
                let endpoint, !faults.contains(.endpointRouteLost)
            {
                commands.append(.ip(family, "route replace \(endpoint) \(hop)"))
            }
        }
        return commands
    }

    /// Sets a tunnel whose process runs up, with its addresses and routes.
    func configuringTunnel(without faults: Set<Fault>) -> [WalkCommand] {
        guard let tunnel, !faults.contains(.tunnelEnded), !faults.contains(.tunnelDown) else { return [] }
        var commands: [WalkCommand] = [.ip("link set \(Tunnel.name) up")]
        for family in tunnel.families where !faults.contains(.tunnelAddressLost(family)) {
            let options = "dev \(Tunnel.name)" + (family == .ipv6 ? " nodad" : "")
            commands.append(
                .ip("address replace \(tunnel.address(family))\(family == .ipv4 ? "/32" : "/128") \(options)")
            )
            for (half, destination) in tunnel.destinations(family).enumerated()
            where !faults.contains(.tunnelRouteLost(family, half: half)) {
                commands.append(.ip(family, "route replace \(destination) \(tunnel.routeOptions)"))
            }
        }
        return commands
    }

    /// Breaks something; what is gone already cannot be removed, and need not.
    func breaking(_ fault: Fault) -> [WalkCommand] {
        switch fault {
        case .cableOut(let uplink): return [.beyond("link set \(self.uplinks[uplink].peerName) down")]
        case .uplinkDown(let uplink): return [.ip("link set \(self.uplinks[uplink].name) down")]
        case .uplinkRemoved(let uplink): return [.ip("link del \(self.uplinks[uplink].name)")]
        case .addressLost(let number, let family):
            let uplink = self.uplinks[number]
            return [.ip("address del \(uplink.address(family))/\(family == .ipv4 ? 24 : 64) dev \(uplink.name)")]
        case .defaultRouteLost(let uplink, let family):
            return [.ip(family, "route del default dev \(self.uplinks[uplink].name)")]
        case .tunnelEnded: return []
        case .tunnelDown: return [.ip("link set \(Tunnel.name) down")]
        case .tunnelAddressLost(let family):
            guard let tunnel else { return [] }
            return [.ip("address del \(tunnel.address(family))\(family == .ipv4 ? "/32" : "/128") dev \(Tunnel.name)")]
        case .tunnelRouteLost(let family, let half):
            guard let tunnel else { return [] }
            let destination = tunnel.destinations(family)[half]
            return [.ip(family, "route del \(destination) \(tunnel.routeOptions)")]
        case .endpointRouteLost:
            guard let tunnel, let endpoint else { return [] }
            return [.ip(tunnel.endpointFamily, "route del \(endpoint)")]
        }
    }

    /// Mends something, where others are still broken.
    func mending(_ fault: Fault, without faults: Set<Fault>) -> [WalkCommand] {
        switch fault {
        case .cableOut(let number):
            guard !faults.contains(.uplinkRemoved(number)) else { return [] }
            let uplink = self.uplinks[number]
            return [.beyond("link set \(uplink.peerName) up")] + self.configuring(uplink, without: faults)
        case .uplinkRemoved(let number): return self.making(self.uplinks[number], without: faults)
        case .uplinkDown(let number), .addressLost(let number, _), .defaultRouteLost(let number, _):
            return self.configuring(self.uplinks[number], without: faults)
        case .endpointRouteLost:
            guard case .hostRoute(let number)? = self.tunnel?.exit else { return [] }
            return self.configuring(self.uplinks[number], without: faults)
        case .tunnelEnded, .tunnelDown, .tunnelAddressLost, .tunnelRouteLost:
            return self.configuringTunnel(without: faults)
        }
    }
}

extension WalkCommand {
    /// A line for `ip -batch` where the words may not tell the family.
    fileprivate static func ip(_ family: DatagramNetwork.Family, _ line: String) -> WalkCommand {
        family == .ipv4 ? .ip(line) : .ipv6(line)
    }
}

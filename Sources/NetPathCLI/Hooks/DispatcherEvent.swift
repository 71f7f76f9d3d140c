// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// One call of a script as NetworkManager makes it (NetworkManager-dispatcher(8)).
struct DispatcherEvent: Hashable, Sendable {
    /// The first argument; empty where no interface is meant.
    var interface: String
    /// The second argument.
    var action: String
    /// What the manual page names, as far as netpath knows it.
    var variables: [String: String]
}

extension HookInput {
    /// What a script is told of a change: first what no longer carries the path, then what does, then how far it leads.
    var dispatcherEvents: [DispatcherEvent] {
        let (old, new) = (self.previous?.carrier, self.snapshot.carrier)
        var events: [DispatcherEvent] = []
        if (old?.index, old?.name) != (new?.index, new?.name) {
            if let old { events.append(Self.event("down", old, variables: [:])) }
            if let new { events.append(Self.event("up", new, variables: self.addresses(of: new))) }
        }
        let state = self.snapshot.connectivityState
        if self.previous?.connectivityState != state {
            let variables = ["NM_DISPATCHER_ACTION": "connectivity-change", "CONNECTIVITY_STATE": state]
            events.append(DispatcherEvent(interface: "", action: "connectivity-change", variables: variables))
        }
        return events
    }

    private static func event(
        _ action: String,
        _ interface: PathInterface,
        variables: [String: String]
    ) -> DispatcherEvent {
        let name = interface.name.safe
        let common = ["NM_DISPATCHER_ACTION": action, "DEVICE_IFACE": name, "DEVICE_IP_IFACE": name]
        return DispatcherEvent(interface: name, action: action, variables: common.merging(variables) { $1 })
    }

    private func addresses(of interface: PathInterface) -> [String: String] {
        var variables: [String: String] = [:]
        for (prefix, family) in [("IP4", AddressFamily.ipv4), ("IP6", .ipv6)] {
            let addresses = interface.addresses.filter { $0.address.family == family }
            let gateway = interface.gateways.first { $0.family == family }?.description
            variables["\(prefix)_NUM_ADDRESSES"] = "\(addresses.count)"
            for (number, address) in addresses.enumerated() {
                let none = family == .ipv4 ? "0.0.0.0" : "::"
                variables["\(prefix)_ADDRESS_\(number)"] = "\(address) \(gateway ?? none)"
            }
            if let gateway { variables["\(prefix)_GATEWAY"] = gateway }
            let servers = self.snapshot.path?.dnsServers?.filter { $0.address.family == family } ?? []
            if !servers.isEmpty {
                variables["\(prefix)_NAMESERVERS"] = servers.map(\.address.description).joined(separator: " ")
            }
        }
        return variables
    }
}

extension StatusSnapshot {
    /// How far the path leads, in NetworkManager's words; UNKNOWN where the internet was not asked.
    var connectivityState: String {
        guard let path else { return "UNKNOWN" }
        if path.reason.code == .captivePortal { return "PORTAL" }
        guard path.status == .satisfied else { return "NONE" }
        return switch path.internet {
        case .portal: "PORTAL"
        case .reachable: "FULL"
        case .unreachable: "LIMITED"
        default: "UNKNOWN"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// A network as people have it: one or two uplinks, and perhaps a VPN over them.
struct DatagramNetwork: Hashable, Sendable {
    typealias Family = NetworkNamespace.Family

    /// A cable that leads to a router.
    struct Uplink: Hashable, Sendable {
        /// Counted from 0; the lower, the more its routes are preferred.
        var number: Int
        var families: [Family]
        var gatewayIsLinkLocal: Bool

        var name: String { "wan\(self.number)" }
        var peerName: String { "peer\(self.number)" }
        var metric: Int { 100 * (self.number + 1) }

        func address(_ family: Family, host: Int = 2) -> String {
            family == .ipv4 ? "10.\(self.number + 1).0.\(host)" : "2001:db8:\(self.number + 1)::\(host)"
        }

        func gateway(_ family: Family) -> String {
            family == .ipv6 && self.gatewayIsLinkLocal ? "fe80::1" : self.address(family, host: 1)
        }
    }

    /// A VPN: `tun0`, and a process that carries its packets to an endpoint.
    struct Tunnel: Hashable, Sendable {
        /// How packets get into the tunnel.
        enum Entry: String, CaseIterable, Sendable {
            /// Two routes to one half of everything each, as OpenVPN's `def1` makes them.
            case halves
            /// A default route that is preferred to those of the uplinks.
            case preferredDefault
            /// The rules of wg-quick: all but marked packets use a table of the tunnel.
            case unmarkedTable
            /// The rules of Tailscale: marked packets use the main table, then comes a table of the tunnel.
            case markedMain

            /// The mark of the tunnel's own packets.
            var mark: Int? {
                switch self {
                case .halves, .preferredDefault: nil
                case .unmarkedTable: 51_820
                case .markedMain: 0x80000
                }
            }
        }

        /// How the tunnel's own packets leave.
        enum Exit: Hashable, Sendable {
            /// By the default route of whatever uplink has one.
            case defaultRoute
            /// The endpoint is in the subnet of an uplink.
            case onLink(uplink: Int)
            /// A route to the endpoint alone, through the gateway of an uplink.
            case hostRoute(uplink: Int)
            /// The process is bound to an uplink.
            case boundDevice(uplink: Int)
        }

        static let name = "tun0"

        var families: [Family]
        var entry: Entry
        var exit: Exit
        var endpointFamily: Family

        func address(_ family: Family) -> String { family == .ipv4 ? "10.9.0.2" : "fd09::2" }

        /// The destinations of the routes into the tunnel.
        func destinations(_ family: Family) -> [String] {
            guard self.entry == .halves else { return ["default"] }
            return family == .ipv4 ? ["0.0.0.0/1", "128.0.0.0/1"] : ["2000::/4", "3000::/4"]
        }

        /// What follows the destination of such a route.
        var routeOptions: String {
            switch self.entry {
            case .halves: "dev \(Self.name)"
            case .preferredDefault: "dev \(Self.name) metric 50"
            case .unmarkedTable: "dev \(Self.name) table 51820"
            case .markedMain: "dev \(Self.name) table 52"
            }
        }
    }

    var uplinks: [Uplink]
    var tunnel: Tunnel?
    /// The setting `ignore_routes_with_linkdown` of every interface.
    var ignoresRoutesWithoutCarrier: Bool

    /// The address that the tunnel's own packets are sent to.
    var endpoint: String? {
        guard let tunnel else { return nil }
        if case .onLink(let uplink) = tunnel.exit {
            return self.uplinks[uplink].address(tunnel.endpointFamily, host: 9)
        }
        return tunnel.endpointFamily == .ipv4 ? "198.51.100.9" : "2a00:1::9"
    }

    /// What the tunnel's process sets on its socket.
    var endpointOptions: DatagramOptions {
        guard let tunnel else { return DatagramOptions() }
        if case .boundDevice(let uplink) = tunnel.exit { return DatagramOptions(device: self.uplinks[uplink].name) }
        return DatagramOptions(mark: tunnel.entry.mark)
    }

    /// What a configuration says of the interfaces.
    ///
    /// The uplinks stand for hardware, which a namespace does not have: a veth without a route is no uplink otherwise.
    func interfaceRules(namingEndpoint: Bool) -> String {
        guard let endpoint else { return "" }
        var rules = "interfaces:\n- {match: {name: \"wan*\"}, uplink: true}\n"
        if namingEndpoint {
            let options = self.endpointOptions
            let zone = options.device.map { "%\($0)" } ?? ""
            let mark = options.mark.map { ", tunnelMark: \($0)" } ?? ""
            rules += "- {match: {name: \(Tunnel.name)}, tunnelEndpoint: [\"\(endpoint)\(zone)\"]\(mark)}\n"
        }
        return rules
    }
}

/// One thing that is not as it should be.
enum Fault: Hashable, Sendable {
    case cableOut(uplink: Int)
    case uplinkDown(Int)
    case uplinkRemoved(Int)
    case addressLost(uplink: Int, DatagramNetwork.Family)
    case defaultRouteLost(uplink: Int, DatagramNetwork.Family)
    case tunnelEnded
    case tunnelDown
    case tunnelAddressLost(DatagramNetwork.Family)
    case tunnelRouteLost(DatagramNetwork.Family, half: Int)
    case endpointRouteLost
}

extension DatagramNetwork {
    /// Everything that can break, what breaks often more than once.
    var possibleFaults: [Fault] {
        var faults: [Fault] = []
        for uplink in self.uplinks {
            faults += Array(repeating: .cableOut(uplink: uplink.number), count: 3)
            faults += [.uplinkDown(uplink.number), .uplinkRemoved(uplink.number)]
            for family in uplink.families {
                faults += [.addressLost(uplink: uplink.number, family)]
                faults += Array(repeating: .defaultRouteLost(uplink: uplink.number, family), count: 2)
            }
        }
        guard let tunnel else { return faults }
        faults += [.tunnelEnded, .tunnelDown]
        for family in tunnel.families {
            faults.append(.tunnelAddressLost(family))
            faults += tunnel.destinations(family).indices.map { .tunnelRouteLost(family, half: $0) }
        }
        if case .hostRoute = tunnel.exit { faults += [.endpointRouteLost, .endpointRouteLost] }
        return faults
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

// The packets of a tunnel that the kernel is asked about.
extension TunnelLookup {
    /// As many other ends as it takes to learn whether one can be reached.
    static let endpointLimit = 16

    /// A packet of a tunnel to ask about.
    struct OuterFlow {
        var flow: Flow
        /// The tunnel that sends it: of a bridge that stands on tunnels one of these.
        var tunnel: UInt32
        /// Whether it goes to a far end that a VXLAN learnt, and not to one that it was told.
        var isLearnt = false
        /// What has to arrive before, so that the tunnel learns where to send the packet; nil where it knows.
        var learning: Flow?
    }

    /// The packets to ask about, by what is known of them.
    func flows(of index: UInt32, _ basis: OuterRoute.Basis, _ look: Look) -> [OuterFlow] {
        let flows =
            switch basis {
            case .endpoint: self.endpoints(of: index, look.rule(for: index), look)
            case .mark: self.marked(index, look).map { OuterFlow(flow: $0, tunnel: index) }
            case .defaultRoute: self.defaultRoutes(beside: index, look).map { OuterFlow(flow: $0, tunnel: index) }
            }
        if basis == .endpoint { self.watched.endpoints.formUnion(flows.map(\.flow.destination)) }
        return flows.map { outer in
            let kind = look.table.entries[outer.tunnel]?.interface.kind
            guard NetworkInterface.isTunnelKind(kind), kind != "tun" else { return outer }
            var outer = outer
            outer.flow = self.asKernel(outer.flow, kind)
            outer.learning = outer.learning.map { self.asKernel($0, kind) }
            return outer
        }
    }

    /// Packets as the kernel sends them for its own tunnels: as root, and of the protocol it is.
    private func asKernel(_ flow: Flow, _ kind: String?) -> Flow {
        var flow = flow
        // A kernel that does not know of users and protocols is not asked about any.
        if self.lookup.packet.userID != nil, Self.canNameRoot { flow.userID = 0 }
        if kind == "wireguard" { flow.transport = flow.transport ?? .udp(to: nil) }
        if self.lookup.packet.transport == nil { flow.transport = nil }
        return flow
    }

    /// Whether the user 0 of this user namespace is the kernel's (`user_namespaces(7)`).
    private static let canNameRoot =
        FileAccess.contents("/proc/self/uid_map")?.split(whereSeparator: \.isWhitespace) == ["0", "0", "4294967295"]

    /// Whether a policy rule about the protocol of a packet may decide, of which the kernel does not let ask.
    func mayDependOnProtocol(_ flow: Flow, of index: UInt32, _ table: LinkTable) -> Bool {
        let numbers: [UInt8] =
            switch table.entries[index]?.interface.kind {
            case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan": [47]
            // IP in IP, and IPv6 in IP.
            case "ipip", "sit", "ip6tnl": [4, 41]
            // ESP.
            case "vti", "vti6", "xfrm": [50]
            default: []
            }
        return !numbers.isEmpty
            && self.lookup.rules?.contains { rule in
                rule.family == flow.destination.family && rule.protocolNumber.map(numbers.contains) == true
            } == true
    }

    // MARK: Far ends

    private func endpoints(of index: UInt32, _ rule: InterfaceRule?, _ look: Look) -> [OuterFlow] {
        if let rule, !rule.tunnelEndpoints.isEmpty {
            return rule.tunnelEndpoints.map { endpoint in
                var flow = Flow(to: endpoint.address)
                flow.mark = rule.tunnelMark
                // An interface that does not exist leads nowhere, as 0 would not.
                flow.interface = endpoint.zone.map { AddressZone.interface($0) ?? .max >> 1 }
                return OuterFlow(flow: flow, tunnel: index)
            }
        }
        let entry = look.table.entries[index]
        if entry?.interface.kind == "wireguard", let device = self.wireGuard?.device(index) {
            return device.packets(towards: look.entrances(of: index).map(\.destination)).map { flow in
                OuterFlow(flow: flow.with(\.mark, rule?.tunnelMark ?? flow.mark), tunnel: index)
            }
        }
        if look.table.foundation(of: index) == .tunnels {
            // What a bridge of tunnels sends is sent by one of them.
            return look.table.tunnels(of: index).flatMap { self.endpoints(of: $0, nil, look) }
        }
        guard let tunnel = entry?.tunnel else { return [] }
        return self.remotes(of: index, tunnel, look).map { remote in
            var flow = Flow(to: remote.remote)
            flow.mark = rule?.tunnelMark ?? tunnel.mark
            flow.interface = remote.linkIndex
            flow.interfaceIsVRF = flow.interface.flatMap { look.table.entries[$0]?.interface.kind } == "vrf"
            flow.source = tunnel.local?.family == remote.remote.family ? tunnel.local : nil
            // With a source address IPv6 at most prefers the interface (`ip6_route_output_flags`).
            let isForLink = remote.remote.isMulticast || remote.remote.isLinkLocal
            if flow.source?.family == .ipv6, !flow.interfaceIsVRF, !isForLink { flow.interface = nil }
            flow.transport = (remote.port ?? tunnel.port).map { .udp(to: $0) }
            guard tunnel.learns, flow.interface != nil, !isForLink else {
                return OuterFlow(flow: flow, tunnel: index, isLearnt: remote.isLearnt)
            }
            let free = flow.with(\.interface, nil).with(\.interfaceIsVRF, false)
            return OuterFlow(flow: free, tunnel: index, learning: flow)
        }
    }

    /// The far ends of one of the kernel's tunnels: its own, or what stands for it.
    private func remotes(of index: UInt32, _ tunnel: TunnelAttributes, _ look: Look) -> [ForwardingEntry] {
        func remote(_ address: InternetAddress) -> ForwardingEntry {
            ForwardingEntry(remote: address, linkIndex: tunnel.linkIndex)
        }
        let kind = look.table.entries[index]?.interface.kind
        // Its own remote is only the first of these, each bound to an interface of its own or to none (`vxlan_xmit_one`).
        if kind == "vxlan" { return self.forwardingEntries(of: index, withLearnt: tunnel.learns) }
        if let own = tunnel.remote { return [remote(own)] }
        switch kind {
        // A device for many ends, such as tunl0, sends to the gateway of the route (`ip_tunnel_xmit`).
        case "ipip", "gre": return look.entrances(of: index).compactMap(\.gateway).map(remote)
        default: return []
        }
    }

    private func forwardingEntries(of index: UInt32, withLearnt: Bool) -> [ForwardingEntry] {
        self.watched.isForwarding = true
        var entries: [ForwardingEntry] = []
        let isEnough = { entries.count { !$0.isLearnt } > Self.endpointLimit }
        _ = self.queries.dumpRepeatedly(.dumpForwarding(of: index), until: isEnough) { message in
            // Those for single hardware addresses come and go by the thousand, and are not heard of.
            guard ForwardingEntry.owner(message) == index, withLearnt || ForwardingEntry.isDefault(message),
                let entry = ForwardingEntry(message), !entries.contains(entry)
            else { return }
            entries.append(entry)
        }
        return entries
    }

    // MARK: Marks

    private func marked(_ index: UInt32, _ look: Look) -> [Flow] {
        func ownMark() -> UInt32? {
            // The kernel's own tunnels have none but what they say.
            guard look.table.entries[index]?.tunnel == nil,
                let entrance = look.entrances(of: index).first(where: { $0.table != nil }), let table = entrance.table
            else { return nil }
            return RoutingRule.ownMark(ofTunnelIn: table, entrance.destination.family, among: self.lookup.rules ?? [])
        }
        guard let mark = look.rule(for: index)?.tunnelMark ?? ownMark() else { return [] }
        return self.destinations.map { Flow(to: $0).with(\.mark, mark) }
    }

    // MARK: Default routes

    /// Packets through other interfaces that may have a default route, those without a carrier included, of which the
    /// table holds none.
    private func defaultRoutes(beside tunnel: UInt32, _ look: Look) -> [Flow] {
        look.interfaces(beside: tunnel).flatMap { index -> [Flow] in
            guard let interface = look.table.entries[index]?.interface, interface.flags.contains(.up) else { return [] }
            return self.destinations.filter { destination in
                interface.hasCarrier == false
                    || interface.defaultRoutes?.contains { $0.family == destination.family } == true
            }.map { Flow(to: $0).with(\.interface, index) }
        }
    }
}

extension TunnelLookup {
    /// What one look goes by.
    struct Look {
        let table: LinkTable
        let rules: [InterfaceRule]
        /// What leads packets into interfaces.
        let answers: [ReferenceRoute]
        /// The interfaces that may lead out and are no tunnels.
        private var principals: [UInt32] = []
        /// The interfaces that routes with a gateway lead through; nil until they are asked for.
        var gatewayed: [UInt32]?
        /// The routes to single hosts, those through the same interfaces once; nil until they are asked for.
        var hostRoutes: Set<TableRoute>?
        /// The answers about the tunnels among the ports of bridges, of which several may be connected.
        var routesOfPorts: [UInt32: [OuterRoute]] = [:]

        init(table: LinkTable, rules: [InterfaceRule], answers: [ReferenceRoute]) {
            (self.table, self.rules, self.answers) = (table, rules, answers)
            self.principals = table.principals.filter { !self.isTunnel($0) }
        }

        /// The interfaces that may lead the packets of a tunnel out.
        func interfaces(beside tunnel: UInt32) -> [UInt32] { self.principals.filter { $0 != tunnel } }

        func rule(for index: UInt32) -> InterfaceRule? {
            guard !self.rules.isEmpty, let interface = self.table.entries[index]?.interface else { return nil }
            return self.rules.first { $0.match.fits(interface) }
        }

        func isTunnel(_ index: UInt32) -> Bool {
            guard let interface = self.table.entries[index]?.interface else { return false }
            if let isTunnel = self.rule(for: index)?.isTunnel { return isTunnel }
            return !interface.isParentElsewhere
                && (interface.hasTunnelKind || self.table.foundation(of: index) == .tunnels)
        }

        /// A packet that is sent into an interface, and the route that leads there.
        struct Entrance {
            var destination: InternetAddress
            var gateway: InternetAddress?
            var table: UInt32?
        }

        /// Whether a tunnel whose far end is unknown takes its own packets too, unless a route to a single host is for them.
        ///
        /// A policy rule that leads into it may leave out the packets of its program; a route cannot, and what the kernel
        /// sends itself has no mark that a rule could go by.
        func takesItsOwnPackets(_ index: UInt32) -> Bool {
            let entrances = self.entrances(of: index)
            return self.table.entries[index]?.tunnel != nil || entrances.isEmpty
                || entrances.contains { $0.table == Route.mainTable }
        }

        /// The packets that are sent into an interface; empty where that is not known.
        func entrances(of index: UInt32) -> [Entrance] {
            self.answers.compactMap { answer in
                guard case .route(let route) = answer.answer,
                    let nextHop = route.nextHops.first(where: { $0.interfaceIndex == index })
                else { return nil }
                return Entrance(destination: answer.destination, gateway: nextHop.gateway, table: route.table)
            }
        }
    }
}

extension LinkTable {
    /// Whether an interface can be a tunnel, or stand on one, without a rule that says so.
    func mayBeTunnel(_ index: UInt32) -> Bool {
        self.mayBeTunnelItself(index) || !self.tunnelsBesideOthers(of: index).isEmpty
    }

    private func mayBeTunnelItself(_ index: UInt32) -> Bool {
        // One by one: an interface is large.
        let kind = self.entries[index]?.interface.kind
        return self.entries[index]?.hasTunnelKind == true || kind == "ppp" || self.foundation(of: index) == .tunnels
            || (kind != "veth" && self.entries[index]?.interface.underlyingIndex != nil)
    }

    /// The tunnels of which one, and a far end of which, is chosen for each frame: a VXLAN, or the ports of a bridge.
    func tunnelsToChoose(for index: UInt32) -> Set<UInt32> {
        if self.entries[index]?.interface.kind == "vxlan" { return [index] }
        return self.foundation(of: index) == .tunnels ? Set(self.tunnels(of: index)) : []
    }

    /// The tunnels that the members of a bridge, bond or VRF are or stand on, as far as they are used.
    func tunnels(of index: UInt32) -> [UInt32] {
        (self.entries[index]?.bond?.activeMember.map { [$0] } ?? self.members(of: index)).compactMap(self.tunnel)
    }

    /// The first interfaces that may be tunnels.
    var possibleTunnels: [UInt32] {
        var possible: [UInt32] = []
        // Bridges that are connected have the same ports, and are looked through once for all of them.
        var bridgesWithout: Set<UInt32> = []
        for index in self.principals where possible.count < 64 {
            if self.mayBeTunnelItself(index) {
                possible.append(index)
            } else if self.entries[index]?.interface.kind == "bridge", !bridgesWithout.contains(index) {
                guard self.tunnelsBesideOthers(of: index).isEmpty else {
                    possible.append(index)
                    continue
                }
                // More than the limit are seen in part, and another part from each of them.
                let connected = self.bridges(connectedTo: index)
                if connected.count < Self.bridgeLimit { bridgesWithout.formUnion(connected) }
            }
        }
        return possible
    }

    /// Whether an interface is up and has a carrier, as far as it says.
    func isReady(_ index: UInt32) -> Bool { self.entries[index]?.hasCarrier == true }
}

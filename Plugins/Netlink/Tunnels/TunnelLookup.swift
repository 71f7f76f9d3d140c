// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// Asks the kernel what it would do with the packets that tunnels themselves send.
///
/// Only about the tunnels that packets to the internet would be sent into, and those below these: without any nothing
/// is asked.
final class TunnelLookup {
    private let queries: KernelQueries
    private let lookup: RouteLookup
    private let clock: any MonotonicClock
    /// One address of each family that stands for the internet.
    private let destinations: [InternetAddress]

    /// Who answers about WireGuard's interfaces; made when the first is met.
    private lazy var wireGuard = WireGuardQueries()
    private var memories: [UInt32: Memory] = [:]
    private var lastAnswer: [UInt32: TunnelEvidence] = [:]
    private var isStale = true

    /// What is remembered of a tunnel between two questions.
    private struct Memory {
        var routes: [OuterRoute] = []
        /// Since when the kernel answers as it does.
        var since: MonotonicTime
        /// How many packets had come in by then.
        var received: UInt64?
        var stoodBesideRoute = false
    }

    /// What routing events have to be heard of besides those about the internet.
    struct Watched: Hashable {
        var endpoints: Set<InternetAddress> = []
        /// Where nobody knows where a tunnel's packets go, any new route may be theirs.
        var isEveryRoute = false
    }

    /// What the answers depend on.
    private(set) var watched = Watched()

    init(
        _ queries: KernelQueries,
        _ lookup: RouteLookup,
        clock: any MonotonicClock,
        referenceDestinations: [InternetAddress]
    ) {
        self.queries = queries
        self.lookup = lookup
        self.clock = clock
        self.destinations = AddressFamily.allCases.compactMap { family in
            referenceDestinations.first { $0.family == family }
        }
    }

    /// Notes that the kernel may answer otherwise than before.
    func invalidate() {
        self.isStale = true
    }

    /// Forgets an interface, whose index may come back as another one's.
    func forget(_ index: UInt32) {
        self.memories[index] = nil
    }

    /// Finds out about the tunnels among the interfaces that packets to the internet leave through.
    ///
    /// - Parameters:
    ///   - referenceRoutes: What the kernel does with these packets.
    ///   - table: The interfaces.
    ///   - rules: What the configuration says of interfaces; read only where it matters.
    /// - Returns: What is known of each tunnel's own packets.
    func evidence(
        _ referenceRoutes: [ReferenceRoute],
        in table: LinkTable,
        rules: @autoclosure () -> [InterfaceRule]
    ) -> [UInt32: TunnelEvidence] {
        guard self.isStale else { return self.lastAnswer }
        self.isStale = false
        self.watched = Watched()
        self.lastAnswer.removeAll()
        var pending = referenceRoutes.egress
        // Without a rule about it only a kind that the kernel names can be a tunnel, or what stands on one.
        guard pending.contains(where: { table.mayBeTunnel($0) }) || rules().contains(where: { $0.isTunnel == true })
        else { return self.lastAnswer }
        let rules = rules()
        var entrances: [UInt32: (table: UInt32, family: AddressFamily)] = [:]
        for question in referenceRoutes {
            guard case .route(let route) = question.answer else { continue }
            for nextHop in route.nextHops where entrances[nextHop.interfaceIndex] == nil {
                entrances[nextHop.interfaceIndex] = route.table.map { ($0, question.destination.family) }
            }
        }
        var seen: Set<UInt32> = []
        while let index = pending.popLast() {
            // Tunnels may lead into one another in a circle.
            guard seen.insert(index).inserted, let interface = table.entries[index]?.interface else { continue }
            let rule = rules.first { $0.match.fits(interface) }
            guard table.isTunnel(index, rule) || self.isCarriedByL2TP(interface, rule) else {
                if let parent = interface.underlyingIndex, table.mayBeTunnel(parent) { pending.append(parent) }
                continue
            }
            let packets = self.tunnelEvidence(of: index, table, rule, rules, entrance: entrances[index])
            self.lastAnswer[index] = packets
            for outer in packets.routes {
                guard case .route(let route) = outer.answer else { continue }
                pending += route.nextHops.map(\.interfaceIndex).filter { $0 != index }
            }
        }
        return self.lastAnswer
    }

    private func isCarriedByL2TP(_ interface: NetworkInterface, _ rule: InterfaceRule?) -> Bool {
        interface.kind == "ppp" && rule?.isTunnel == nil && L2TPSessions.interfaces().contains(interface.name)
    }

    // MARK: One tunnel

    private func tunnelEvidence(
        of index: UInt32,
        _ table: LinkTable,
        _ rule: InterfaceRule?,
        _ rules: [InterfaceRule],
        entrance: (table: UInt32, family: AddressFamily)?
    ) -> TunnelEvidence {
        let beside = table.principals.filter { other in
            other != index && !table.isTunnel(other, table.rule(for: other, among: rules))
        }
        let inner = table.entries[index]?.interface.addresses.map(\.prefix.address) ?? []
        func ask(_ basis: OuterRoute.Basis, _ flows: [Flow]) -> [OuterRoute] {
            let answers = self.lookup.answers(toOuter: flows) { family, interface in
                table.sources(family, of: interface).filter { !inner.contains($0) }
            }
            return zip(flows, answers).map { OuterRoute(basis, to: $0.destination, through: $0.interface, $1) }
        }
        let endpoints = self.endpoints(of: index, table, rule)
        var routes = ask(.endpoint, endpoints)
        self.watched.endpoints.formUnion(endpoints.map(\.destination))
        // An answer that leads to this machine, such as to a proxy, tells nothing; nor does a mark that leads back.
        if routes.allSatisfy({ $0.isThrough([RouteLookup.loopback]) }) {
            routes += ask(.mark, self.marked(rule, entrance))
        }
        if routes.allSatisfy({
            $0.isThrough($0.basis == .mark ? [RouteLookup.loopback, index] : [RouteLookup.loopback])
        }) {
            routes += ask(.defaultRoute, self.defaultRoutes(beside, table)).filter(\.answer.isRouted)
        }

        var memory = self.memories[index] ?? Memory(since: self.clock.now())
        if beside.contains(where: { table.entries[$0]?.interface.defaultRoutes?.isEmpty == false }) {
            memory.stoodBesideRoute = true
        }
        var packets = TunnelEvidence(routes: routes)
        if !routes.contains(where: { $0.isAlive(in: table) }) {
            packets.isReceiving = self.isReceiving(index, routes, &memory)
            if !routes.contains(where: { $0.basis == .endpoint && !$0.isThrough([RouteLookup.loopback]) }) {
                self.watched.isEveryRoute = true
                let gatewayed = self.gatewayedInterfaces(besides: index, table)
                packets.gatewayedInterfaces = gatewayed
                if !gatewayed.isEmpty { memory.stoodBesideRoute = true }
            }
        }
        packets.stoodBesideRoute = memory.stoodBesideRoute
        memory.routes = routes
        self.memories[index] = memory
        return packets
    }

    // MARK: What to ask by

    /// As many other ends as anybody needs to learn whether one can be reached.
    private static let endpointLimit = 16

    private func endpoints(of index: UInt32, _ table: LinkTable, _ rule: InterfaceRule?) -> [Flow] {
        if let rule, !rule.tunnelEndpoints.isEmpty {
            return rule.tunnelEndpoints.prefix(Self.endpointLimit).map { endpoint in
                var flow = Flow(to: endpoint.address)
                flow.mark = rule.tunnelMark
                // An interface that does not exist leads nowhere, as 0 would not.
                flow.interface = endpoint.zone.map { AddressZone.interface($0) ?? .max >> 1 }
                return flow
            }
        }
        if table.entries[index]?.interface.kind == "wireguard", let device = self.wireGuard?.device(index) {
            return device.endpoints(towards: self.destinations).prefix(Self.endpointLimit).map { endpoint in
                var flow = Flow(to: endpoint.address)
                flow.mark = rule?.tunnelMark ?? device.mark
                flow.interface = endpoint.zone
                return flow
            }
        }
        if table.foundation(of: index) == .tunnels {
            // What a bridge of tunnels sends is sent by one of them.
            let ends = table.members(of: index).flatMap { self.endpoints(of: $0, table, nil) }
            return Array(ends.prefix(Self.endpointLimit))
        }
        guard let entry = table.entries[index], let tunnel = entry.tunnel else { return [] }
        var remotes = tunnel.remote.map { [ForwardingEntry(remote: $0)] } ?? []
        if remotes.isEmpty, entry.interface.kind == "vxlan" { remotes = self.forwardingEntries(of: index) }
        return remotes.prefix(Self.endpointLimit).map { remote in
            var flow = Flow(to: remote.remote)
            flow.mark = rule?.tunnelMark ?? tunnel.mark
            flow.interface = remote.linkIndex ?? tunnel.linkIndex
            flow.source = tunnel.local?.family == remote.remote.family ? tunnel.local : nil
            return flow
        }
    }

    private func forwardingEntries(of index: UInt32) -> [ForwardingEntry] {
        var entries: [ForwardingEntry] = []
        let isEnough = { entries.count >= Self.endpointLimit }
        _ = self.queries.dumpRepeatedly(.dumpForwarding(of: index), until: isEnough) { message in
            guard ForwardingEntry.owner(message) == index, let entry = ForwardingEntry(message),
                !entries.contains(entry)
            else { return }
            entries.append(entry)
        }
        return entries
    }

    private func marked(_ rule: InterfaceRule?, _ entrance: (table: UInt32, family: AddressFamily)?) -> [Flow] {
        guard let mark = rule?.tunnelMark ?? entrance.flatMap({ self.ownMark($0.table, $0.family) }) else { return [] }
        return self.destinations.map { Flow(to: $0).with(\.mark, mark) }
    }

    private func ownMark(_ table: UInt32, _ family: AddressFamily) -> UInt32? {
        RoutingRule.ownMark(ofTunnelIn: table, family, among: self.lookup.rules ?? [])
    }

    /// Packets through other interfaces that may have a default route, those without a carrier included, of which the
    /// table holds none.
    private func defaultRoutes(_ beside: [UInt32], _ table: LinkTable) -> [Flow] {
        beside.flatMap { index -> [Flow] in
            guard let interface = table.entries[index]?.interface, interface.flags.contains(.up) else { return [] }
            return self.destinations.filter { destination in
                interface.hasCarrier == false
                    || interface.defaultRoutes?.contains { $0.family == destination.family } == true
            }.map { Flow(to: $0).with(\.interface, index) }
        }
    }

    // MARK: What is asked when no way is found

    /// How long packets that were on their way may still come in.
    private static let drainTime: Duration = .seconds(2)

    private func isReceiving(_ index: UInt32, _ routes: [OuterRoute], _ memory: inout Memory) -> Bool {
        guard case .success(let received) = self.queries.ask(.counters(index), ReceivedPackets.init) else {
            return false
        }
        let now = self.clock.now()
        if memory.routes != routes { memory.since = now }
        if memory.received == nil || now - memory.since < Self.drainTime { memory.received = received.count }
        return memory.received.map { $0 < received.count } ?? false
    }

    private func gatewayedInterfaces(besides index: UInt32, _ table: LinkTable) -> [UInt32] {
        var found: Set<UInt32> = []
        for family in AddressFamily.allCases {
            let isEnough = { !found.isEmpty }
            _ = self.queries.dumpRepeatedly(.dumpRoutes(family), until: isEnough) { message in
                guard found.isEmpty, let route = GatewayedRoute(message) else { return }
                found.formUnion(
                    route.interfaces.filter { other in
                        other != index && !table.isTunnel(other, nil) && table.isReady(other)
                    }
                )
            }
        }
        return found.sorted()
    }
}

extension TunnelEvidence {
    /// The interfaces that the answers are about.
    var interfaces: [UInt32] {
        self.routes.flatMap { outer -> [UInt32] in
            guard case .route(let route) = outer.answer else { return [] }
            return route.nextHops.map(\.interfaceIndex)
        } + (self.gatewayedInterfaces ?? [])
    }
}

extension OuterRoute {
    /// Whether the packets would go through some of these interfaces.
    fileprivate func isThrough(_ interfaces: [UInt32]) -> Bool {
        guard case .route(let route) = self.answer else { return false }
        return route.nextHops.contains { interfaces.contains($0.interfaceIndex) }
    }

    /// Whether they would leave through an interface that looks well.
    fileprivate func isAlive(in table: LinkTable) -> Bool {
        guard case .route(let route) = self.answer else { return false }
        return route.nextHops.contains { !$0.isDown && table.isReady($0.interfaceIndex) }
    }
}

extension LinkTable {
    /// Whether an interface can be a tunnel, or stand on one, without a rule that says so.
    func mayBeTunnel(_ index: UInt32) -> Bool {
        // One by one: an interface is large.
        let kind = self.entries[index]?.interface.kind
        return NetworkInterface.isTunnelKind(kind) || kind == "ppp" || self.foundation(of: index) == .tunnels
            || (kind != "veth" && self.entries[index]?.interface.underlyingIndex != nil)
    }

    fileprivate func rule(for index: UInt32, among rules: [InterfaceRule]) -> InterfaceRule? {
        guard !rules.isEmpty, let interface = self.entries[index]?.interface else { return nil }
        return rules.first { $0.match.fits(interface) }
    }

    fileprivate func isTunnel(_ index: UInt32, _ rule: InterfaceRule?) -> Bool {
        guard let interface = self.entries[index]?.interface else { return false }
        if let isTunnel = rule?.isTunnel { return isTunnel }
        return !interface.isParentElsewhere && (interface.hasTunnelKind || self.foundation(of: index) == .tunnels)
    }

    /// Whether an interface is up and has a carrier, as far as it says.
    fileprivate func isReady(_ index: UInt32) -> Bool {
        guard let interface = self.entries[index]?.interface else { return false }
        return interface.flags.contains(.up) && interface.hasCarrier != false
    }
}

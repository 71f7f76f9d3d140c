// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// Asks the kernel what it would do with the packets that tunnels themselves send.
///
/// Only about the tunnels that packets would be sent into, and those below these: without any nothing is asked. What the answers mean is for the evaluation to say.
final class TunnelLookup {
    let queries: KernelQueries
    let lookup: RouteLookup
    /// One address of each family that stands for the internet.
    let destinations: [InternetAddress]

    /// Who answers about WireGuard's interfaces; made when the first is met.
    lazy var wireGuard = WireGuardQueries()
    private var memories: [UInt32: TunnelMemory] = [:]
    private(set) var lastAnswer: [UInt32: TunnelEvidence] = [:]
    /// Whether the kernel may answer otherwise than last.
    private(set) var isStale = true

    /// What events have to be heard of besides those about the internet.
    struct Watched: Hashable {
        var endpoints: Set<InternetAddress> = []
        /// Where it is unknown where a tunnel's packets go, any new route may be theirs.
        var isEveryRoute = false
        /// Whether the IPv4 route to a single host may be that to the far end of a tunnel.
        var isHostRoute = false
        /// Whether forwarding entries of VXLAN name the far ends.
        var isForwarding = false
    }

    /// What the answers depend on.
    var watched = Watched()

    init(_ queries: KernelQueries, _ lookup: RouteLookup, referenceDestinations: [InternetAddress]) {
        self.queries = queries
        self.lookup = lookup
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

    /// Finds out about the packets of those interfaces that are tunnels, and of what carries them.
    ///
    /// What leads packets there is read only where there is a tunnel.
    func evidence(
        of interfaces: [UInt32],
        _ answers: @autoclosure () -> [ReferenceRoute],
        in table: LinkTable,
        rules: @autoclosure () -> [InterfaceRule]
    ) -> [UInt32: TunnelEvidence] {
        self.isStale = false
        self.watched = Watched()
        self.lastAnswer.removeAll()
        var pending = interfaces
        // Without a rule about it only a kind that the kernel names can be a tunnel, or what stands on one.
        guard pending.contains(where: { table.mayBeTunnel($0) }) || rules().contains(where: { $0.isTunnel == true })
        else { return self.lastAnswer }
        var look = Look(table: table, rules: rules(), answers: answers())
        var seen: Set<UInt32> = []
        while let index = pending.popLast() {
            // Tunnels may lead into one another in a circle.
            guard seen.insert(index).inserted, let interface = table.entries[index]?.interface else { continue }
            guard look.isTunnel(index) || self.isCarriedByL2TP(interface, look.rule(for: index)) else {
                self.lastAnswer[index] = self.evidence(ofBridge: index, &look)
                if let parent = interface.underlyingIndex, table.mayBeTunnel(parent) { pending.append(parent) }
                continue
            }
            let evidence = self.evidence(of: index, &look)
            self.lastAnswer[index] = evidence
            pending += evidence.routes.flatMap(\.interfaces).filter { $0 != index }
        }
        return self.lastAnswer
    }

    /// What is known of a bridge that has tunnels beside other ports: nothing while one of these has no way, since what
    /// packets go to may be behind it; nil otherwise.
    private func evidence(ofBridge index: UInt32, _ look: inout Look) -> TunnelEvidence? {
        for tunnel in look.table.tunnelsBesideOthers(of: index) {
            let routes = look.routesOfPorts[tunnel] ?? self.answers(about: tunnel, .endpoint, look)
            look.routesOfPorts[tunnel] = routes
            if look.table.isReady(tunnel), routes.contains(where: { $0.leadsOut(of: tunnel, look.table) }) { continue }
            guard let destination = routes.first?.destination ?? self.destinations.first else { continue }
            return TunnelEvidence(routes: [OuterRoute(.endpoint, to: destination, .unknown)])
        }
        return nil
    }

    private func isCarriedByL2TP(_ interface: NetworkInterface, _ rule: InterfaceRule?) -> Bool {
        interface.kind == "ppp" && rule?.isTunnel == nil && L2TPSessions.interfaces().contains(interface.name)
    }

    // MARK: One tunnel

    private func evidence(of index: UInt32, _ look: inout Look) -> TunnelEvidence {
        let table = look.table
        var evidence = TunnelEvidence()
        // What is known best is asked about first, and the next only where that tells nothing.
        for basis in [OuterRoute.Basis.endpoint, .mark, .defaultRoute]
        where evidence.routes.allSatisfy({ $0.isMeaningless(about: index) }) {
            evidence.routes += self.answers(about: index, basis, look)
        }
        let basis = evidence.routes.first { !$0.isMeaningless(about: index) }?.basis ?? .defaultRoute
        let alive = evidence.routes.filter { $0.leadsOut(of: index, table) }
        if alive.isEmpty, basis != .endpoint {
            self.watched.isEveryRoute = true
            evidence.gatewayedInterfaces = self.gatewayedInterfaces(&look)
        } else if basis == .defaultRoute, look.takesItsOwnPackets(index) {
            self.watched.isHostRoute = true
            evidence.hostInterfaces = self.hostInterfaces(beside: evidence.routes.flatMap(\.interfaces), &look)
        }
        if alive.isEmpty { evidence.isSocketElsewhere = self.isSocketElsewhere(of: index, table) }
        self.remember(index, &evidence, basis, alive: alive, look)
        return evidence
    }

    /// Notes what carries a tunnel, and adds what is known from before where nothing does.
    private func remember(
        _ index: UInt32,
        _ evidence: inout TunnelEvidence,
        _ basis: OuterRoute.Basis,
        alive: [OuterRoute],
        _ look: Look
    ) {
        let table = look.table
        let beside = look.interfaces(beside: index)
        let gatewayed = (evidence.gatewayedInterfaces ?? []).filter { table.isReady($0) }
        let carriers =
            basis == .defaultRoute
            ? gatewayed + beside.filter { table.entries[$0]?.interface.defaultRoutes?.isEmpty == false }
            : alive.flatMap(\.interfaces)
        var memory = self.memories[index] ?? TunnelMemory()
        defer { self.memories[index] = memory }
        memory.note(carriers, isCarried: !alive.isEmpty)
        guard alive.isEmpty else { return }
        if carriers.isEmpty { evidence.formerCarriers = memory.carriers }
        // What is on the link of an interface needs no route.
        let links = beside.filter { table.isReady($0) && table.mayHaveDefaultRoutes($0) }
        let ways = TunnelMemory.Ways(routes: evidence.routes, interfaces: gatewayed + links)
        evidence.isReceiving = memory.isReceiving(ways, now: self.lookup.clock.now()) {
            try? self.queries.ask(.link(index, withCounters: true), LinkUpdate.receivedPackets).get()
        }
    }

    private func answers(about index: UInt32, _ basis: OuterRoute.Basis, _ look: Look) -> [OuterRoute] {
        let flows = self.flows(of: index, basis, look)
        switch basis {
        case .endpoint: return self.answers(about: index, toFarEnds: flows, look)
        case .mark: return self.routes(of: flows, basis, about: index, look)
        case .defaultRoute:
            // Other interfaces than those with a default route are asked about to learn which have one.
            let routes = self.routes(of: flows, basis, about: index, look).filter(\.answer.isRouted)
            // A VXLAN that was told no far end sends to those only that it learns, of which nothing is heard.
            guard look.table.entries[index]?.interface.kind == "vxlan" else { return routes }
            return routes.map { $0.isAlive(in: look.table) ? OuterRoute(basis, to: $0.destination, .unknown) : $0 }
        }
    }

    /// What becomes of packets to far ends.
    private func answers(about index: UInt32, toFarEnds flows: [OuterFlow], _ look: Look) -> [OuterRoute] {
        func ask(_ flows: [OuterFlow]) -> (flows: [OuterFlow], routes: [OuterRoute], leading: [Int]) {
            let asked = Array(flows.prefix(Self.endpointLimit))
            let routes = self.routes(of: asked, .endpoint, about: index, look)
            return (asked, routes, asked.indices.filter { routes[$0].leadsOut(of: asked[$0].tunnel, look.table) })
        }
        let told = flows.filter { !$0.isLearnt }
        // Of what it learnt alone nothing is heard.
        if told.isEmpty { return [] }
        let (asked, answers, leading) = ask(told)
        var routes = answers
        for position in leading {
            guard let learning = asked[position].learning else { continue }
            let first = ask([OuterFlow(flow: learning, tunnel: asked[position].tunnel)])
            // What was learnt before lasts for a while.
            if first.leading.isEmpty { routes[position].answer = .unknown }
        }
        let hasRule = look.rule(for: index)?.tunnelEndpoints.isEmpty == false
        let tunnels = hasRule ? [] : look.table.tunnelsToChoose(for: index)
        let learnt = ask(flows.filter(\.isLearnt))
        // Behind which of them the gateway is is not asked.
        let areSomeLost = leading.count + learnt.leading.count < asked.count + learnt.flows.count
        if !tunnels.isEmpty, areSomeLost || !tunnels.isSubset(of: asked.map(\.tunnel)) {
            for position in leading { routes[position].answer = .unknown }
        }
        // Of those that are not asked about one may have a way.
        var rest = Array(told.dropFirst(asked.count).prefix(1))
        if leading.isEmpty {
            rest += learnt.leading.prefix(1).map { learnt.flows[$0] }
            // A port of which no far end is known, such as a tap, may lead to the gateway.
            let others = tunnels.subtracting(asked.map(\.tunnel))
            if others.contains(where: { look.table.isReady($0) }) { rest += asked.prefix(1) }
        }
        return routes + rest.map { OuterRoute(.endpoint, to: $0.flow.destination, .unknown) }
    }

    /// What the kernel would do with packets.
    private func routes(
        of outer: [OuterFlow],
        _ basis: OuterRoute.Basis,
        about index: UInt32,
        _ look: Look
    ) -> [OuterRoute] {
        let inner = look.table.entries[index]?.interface.addresses.map(\.prefix.address) ?? []
        let answers = self.lookup.answers(toOuter: outer.map(\.flow)) { family, interface in
            look.table.sources(family, of: interface).filter { !inner.contains($0) }
        }
        return zip(outer, answers).map { outer, answer in
            let isUnknown = self.mayDependOnProtocol(outer.flow, of: outer.tunnel, look.table)
            // What stands on a tunnel may keep its carrier when that is set down (a macvlan that passes everything through).
            let isDown = outer.tunnel != index && !look.table.isReady(outer.tunnel)
            let answer: RouteLookupResult = isDown ? .noRoute : isUnknown ? .unknown : answer
            return OuterRoute(basis, to: outer.flow.destination, through: outer.flow.interface, answer)
        }
    }

    // MARK: What is asked when no way is found

    /// Whether WireGuard's packets leave from another namespace: the one in which the interface was made.
    ///
    /// While it is up its socket is bound, and shows in procfs; to which port is told to CAP_NET_ADMIN only.
    private func isSocketElsewhere(of index: UInt32, _ table: LinkTable) -> Bool {
        table.entries[index]?.interface.kind == "wireguard" && table.isReady(index)
            && UDPSockets.isBound(to: self.wireGuard?.device(index)?.port) == false
    }

    private func gatewayedInterfaces(_ look: inout Look) -> [UInt32] {
        if let known = look.gatewayed { return known }
        var found: Set<UInt32> = []
        for family in AddressFamily.allCases {
            let isEnough = { found.contains { look.table.isReady($0) } }
            _ = self.queries.dumpRepeatedly(.dumpRoutes(family), until: isEnough) { message in
                guard let route = TableRoute(message) else { return }
                found.formUnion(route.gatewayed.filter { !found.contains($0) && !look.isTunnel($0) })
            }
        }
        look.gatewayed = found.sorted()
        return found.sorted()
    }

    // MARK: What is asked beside a way

    /// As many routes as are looked through: a router that has more runs no VPN of which nothing is known.
    private static let routeLimit = 10_000

    /// The interfaces besides tunnels that routes to single hosts lead through, with a gateway or beside a default route; nil
    /// where there are too many routes to look through.
    private func hostInterfaces(beside uplinks: [UInt32], _ look: inout Look) -> [UInt32]? {
        if look.hostRoutes == nil { look.hostRoutes = self.hostRoutes() }
        return look.hostRoutes.map { routes in
            let gatewayed = routes.flatMap(\.gatewayed).filter { !look.isTunnel($0) }
            return Set(gatewayed + routes.flatMap(\.direct).filter(uplinks.contains)).sorted()
        }
    }

    /// The IPv4 routes to single hosts, of all tables, each once; nil where there are too many routes to look through.
    ///
    /// Not those of IPv6: an unknown far end has an IPv4 address rather.
    private func hostRoutes() -> Set<TableRoute>? {
        var found: Set<TableRoute> = []
        var count = 0
        let isTooMuch = { count > Self.routeLimit }
        _ = self.queries.dumpRepeatedly(.dumpRoutes(.ipv4), until: isTooMuch) { message in
            count += 1
            if let route = TableRoute(message), route.isToHost { found.insert(route) }
        }
        return count > Self.routeLimit ? nil : found
    }
}

extension TunnelEvidence {
    /// The interfaces that the answers are about.
    var interfaces: [UInt32] {
        self.routes.flatMap(\.interfaces) + (self.gatewayedInterfaces ?? []) + (self.hostInterfaces ?? [])
    }
}

extension OuterRoute {
    /// The interfaces the packets would go through.
    fileprivate var interfaces: [UInt32] { self.answer.nextHops.map(\.interfaceIndex) }

    /// Whether the answer tells nothing: it leads to this machine, such as to a proxy, or is about a mark that leads back.
    fileprivate func isMeaningless(about tunnel: UInt32) -> Bool {
        self.interfaces.contains { $0 == NetworkInterface.loopbackIndex || (self.basis == .mark && $0 == tunnel) }
    }

    /// Whether the packets would leave through an interface that looks well, and does not lead them back into the tunnel.
    fileprivate func leadsOut(of tunnel: UInt32, _ table: LinkTable) -> Bool {
        self.isAlive(in: table) && !self.interfaces.contains { table.stands($0, on: tunnel) }
    }

    /// Whether the packets would leave through an interface that looks well.
    fileprivate func isAlive(in table: LinkTable) -> Bool {
        self.answer.nextHops.contains { !$0.isDown && table.isReady($0.interfaceIndex) }
    }
}

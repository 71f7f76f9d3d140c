// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the kernel's answers about the outer packets of a tunnel mean.
extension AssessedEvidence {
    /// What becomes of these packets by each answer, and by what that is known: by the far end, else by their mark, else by
    /// the best default routes beside the tunnel.
    func answers(
        about tunnel: NetworkInterface,
        below above: Set<UInt32>
    ) -> (basis: OuterRoute.Basis, [TunnelTransport]) {
        // A backend that does not ask knows at least what a tunnel is bound to.
        if tunnel.tunnelEvidence == nil, let parent = tunnel.indispensableParent,
            self.assessments[parent]?.isUsable == true,
            self.uplinks(beside: TunnelEvidence()).contains(where: { $0.index == parent })
        {
            return (.endpoint, [.carried(by: [parent])])
        }
        for basis in [OuterRoute.Basis.endpoint, .mark] {
            let routes = tunnel.tunnelEvidence?.routes.filter { $0.basis == basis } ?? []
            let answers = routes.compactMap { route in
                self.transport(route, of: tunnel, below: above).map { (route.destination.family, $0) }
            }
            if !answers.isEmpty { return (basis, basis == .mark ? Self.doubtingIPv6Alone(answers) : answers.map(\.1)) }
        }
        let beside = self.defaultRoutes(beside: tunnel, below: above).map {
            (route: $0, transport: self.transport($0, of: tunnel, below: above))
        }
        let ways = AddressFamily.allCases.compactMap { family -> (AddressFamily, TunnelTransport)? in
            let routes = beside.filter { $0.route.destination.family == family }
            let metric = routes.map(\.route.answer.metric).min()
            // Several of the same metric are the next hops of one multipath route.
            let best = TunnelTransport.joined(
                routes.filter { $0.route.answer.metric == metric }.compactMap(\.transport)
            )
            // The program behind the tunnel may be bound to another interface.
            let isDoubtful = best?.isCarried != true && routes.contains { $0.transport?.isCarried == true }
            return (isDoubtful ? .doubtful : best).map { (family, $0) }
        }
        guard let hosts = tunnel.tunnelEvidence?.hostInterfaces, ways.contains(where: { $0.1.isCarried }) else {
            return (.defaultRoute, Self.doubtingIPv6Alone(ways))
        }
        if hosts.contains(where: { self.assessments[$0]?.isUsable != true || self.isIgnored($0) }) {
            return (.defaultRoute, [.doubtful])
        }
        guard self.takesInternet(tunnel) else { return (.defaultRoute, Self.doubtingIPv6Alone(ways)) }
        return (.defaultRoute, [hosts.isEmpty ? .doubtful : .carried(by: hosts)])
    }

    /// Whether a tunnel takes the packets of its own program as well, but for a route to its far end.
    private func takesInternet(_ tunnel: NetworkInterface) -> Bool {
        self.evidence.referenceRoutes.contains { $0.answer.nextHops.contains { $0.interfaceIndex == tunnel.index } }
    }

    /// What becomes of packets by ways of both families: an unknown far end has an IPv4 address rather than an IPv6 one, so
    /// that a way of IPv6 alone is in doubt.
    private static func doubtingIPv6Alone(
        _ ways: [(family: AddressFamily, transport: TunnelTransport)]
    ) -> [TunnelTransport] {
        let isAlone = !ways.contains { $0.family == .ipv4 && $0.transport.isCarried }
        return ways.map { isAlone && $0.transport.isCarried ? .doubtful : $0.transport }
    }

    // MARK: One answer

    /// What one answer says; nil when it is not about a way out of the machine.
    private func transport(
        _ outer: OuterRoute,
        of tunnel: NetworkInterface,
        below above: Set<UInt32>
    ) -> TunnelTransport? {
        switch outer.answer {
        case .unknown: return .doubtful
        case .noRoute: return .notCarried(.route(to: outer.destination, nil))
        case .rejected(let rejection): return .notCarried(.route(to: outer.destination, rejection))
        case .route(let route):
            // A proxy on this machine: where it sends the packets is not known. A mark that leads into the tunnel again is
            // not the mark of its own packets.
            let isMeaningless = route.nextHops.contains {
                self.byIndex[$0.interfaceIndex]?.type == .loopback
                    || (outer.basis == .mark && $0.interfaceIndex == tunnel.index)
            }
            if isMeaningless { return nil }
            let used = route.nextHops.filter { !$0.isPassedOver }
            let hops = (used.isEmpty ? route.nextHops : used).map {
                self.transport(through: $0, route, to: outer.destination, below: above)
            }
            return TunnelTransport.joined(hops) ?? .doubtful
        }
    }

    private func transport(
        through nextHop: NextHop,
        _ route: Route,
        to destination: InternetAddress,
        below above: Set<UInt32>
    ) -> TunnelTransport {
        let index = nextHop.interfaceIndex
        guard let interface = self.byIndex[index] else {
            return nextHop.isDown ? .notCarried(.nothingLeft) : .carried(by: [index])
        }
        guard !nextHop.isDown, self.assessments[index]?.isUsable == true, !self.isIgnored(index) else {
            return .notCarried(.interface(index))
        }
        switch nextHop.place {
        case .lost(let port): return .notCarried(.port(port, of: index, to: nextHop.gateway ?? destination))
        case .unknown: return .doubtful
        case .reachable, nil: break
        }
        if self.isTunnel(interface) {
            if above.contains(index) { return .notCarried(.loop(to: destination)) }
            let transport = self.judge(interface, below: above).transport
            if case .carried([], let losing) = transport { return .carried(by: [index], losing: losing) }
            return transport
        }
        switch route.source {
        case .address(let source) where self.isUsableOuterSource(source, to: destination): break
        case .none, .address: return .notCarried(.source(index, to: destination))
        case .unknown: break
        }
        return .carried(by: [index])
    }

    /// Whether answers to outer packets with this source find their way back: whichever interface holds it, but not a
    /// tunnel alone.
    private func isUsableOuterSource(_ source: InternetAddress, to destination: InternetAddress) -> Bool {
        guard self.isUsableSource(source, toLink: destination.isLinkLocal) else { return false }
        let holders = self.interfaces.filter { $0.addresses.contains { $0.prefix.address == source } }
        return holders.isEmpty || holders.contains { !self.isTunnel($0) }
    }

    /// The default routes through interfaces that are no tunnels, dead ones included where the backend asked for them.
    private func defaultRoutes(beside tunnel: NetworkInterface, below above: Set<UInt32>) -> [OuterRoute] {
        if let outer = tunnel.tunnelEvidence { return outer.routes.filter { $0.basis == .defaultRoute } }
        return self.interfaces.filter { !above.contains($0.index) && !self.isTunnel($0) && $0.type != .loopback }
            .flatMap { interface in
                (interface.defaultRoutes ?? []).map { route in
                    let nextHop = NextHop(interfaceIndex: interface.index, gateway: route.gateway)
                    return OuterRoute(
                        .defaultRoute,
                        to: route.family == .ipv4 ? InternetAddress(ipv4: 0) : InternetAddress(ipv6: 0),
                        through: interface.index,
                        .route(Route(nextHops: [nextHop], metric: route.metric, table: route.table))
                    )
                }
            }
    }
}

extension TunnelTransport {
    var isCarried: Bool { if case .carried = self { true } else { false } }

    /// What several next hops come to, of which the kernel chooses one for each flow; nil for none.
    fileprivate static func joined(_ hops: [TunnelTransport]) -> TunnelTransport? {
        var (through, losing): (Set<UInt32>, Set<UInt32>) = ([], [])
        for hop in hops {
            switch hop {
            case .carried(let some, let lost):
                through.formUnion(some)
                losing.formUnion(lost)
            case .notCarried(.interface(let index)), .notCarried(.source(let index, _)),
                .notCarried(.port(_, let index, _)):
                losing.insert(index)
            case .notCarried, .doubtful: break
            }
        }
        if !through.isEmpty { return .carried(by: through.sorted(), losing: losing.subtracting(through).sorted()) }
        return hops.contains(.doubtful) ? .doubtful : hops.first
    }
}

extension RouteLookupResult {
    fileprivate var metric: UInt32 { if case .route(let route) = self { route.metric ?? .max } else { .max } }
}

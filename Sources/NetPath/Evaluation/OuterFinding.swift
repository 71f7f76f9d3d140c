// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the kernel's answer about an outer packet means.
package enum OuterFinding: Hashable {
    /// It leaves through one of these interfaces; where the kernel chooses others, it is lost.
    case leaves(through: [UInt32], losing: [UInt32] = [])
    case lost(TunnelTransport.Cause)
    case undecided
    /// The answer is not about a way out of the machine.
    case meaningless
}

extension AssessedEvidence {
    /// What is known of the outer packets of a tunnel, and by what: by the far end, else by their mark, else by the best
    /// default routes beside the tunnel.
    func findings(
        about tunnel: NetworkInterface,
        below above: Set<UInt32>
    ) -> (basis: OuterRoute.Basis, [OuterFinding]) {
        // A backend that does not ask knows at least what a tunnel is bound to.
        if tunnel.tunnelEvidence == nil, tunnel.kind != "xfrm", let parent = tunnel.underlyingIndex,
            self.assessments[parent]?.isUsable == true,
            self.uplinks(beside: TunnelEvidence()).contains(where: { $0.index == parent })
        {
            return (.endpoint, [.leaves(through: [parent])])
        }
        for basis in [OuterRoute.Basis.endpoint, .mark] {
            let routes = tunnel.tunnelEvidence?.routes.filter { $0.basis == basis } ?? []
            let findings = routes.map { self.finding($0, of: tunnel, below: above) }.filter { $0 != .meaningless }
            if !findings.isEmpty { return (basis, findings) }
        }
        let beside = self.defaultRoutes(beside: tunnel, below: above).map {
            (route: $0, finding: self.finding($0, of: tunnel, below: above))
        }
        return (
            .defaultRoute,
            AddressFamily.allCases.compactMap { family in
                let routes = beside.filter { $0.route.destination.family == family }
                let metric = routes.map(\.route.answer.metric).min()
                // Several of the same metric are the next hops of one multipath route.
                let best = OuterFinding.joined(
                    routes.filter { $0.route.answer.metric == metric }.map(\.finding)
                )
                // The program behind the tunnel may be bound to another interface, or have a route of its own.
                let isDoubtful = best.ways == nil && routes.contains { $0.finding.ways != nil }
                return isDoubtful ? .undecided : routes.isEmpty ? nil : best
            }
        )
    }

    // MARK: One answer

    private func finding(_ outer: OuterRoute, of tunnel: NetworkInterface, below above: Set<UInt32>) -> OuterFinding {
        switch outer.answer {
        case .unknown: return .undecided
        case .noRoute: return .lost(.route(to: outer.destination, nil))
        case .rejected(let rejection): return .lost(.route(to: outer.destination, rejection))
        case .route(let route):
            // A proxy on this machine: where it sends the packets is not known.
            if route.nextHops.contains(where: { self.byIndex[$0.interfaceIndex]?.type == .loopback }) {
                return .meaningless
            }
            // A mark that leads into the tunnel again is not the mark of its own packets.
            if outer.basis == .mark, route.nextHops.contains(where: { $0.interfaceIndex == tunnel.index }) {
                return .meaningless
            }
            let used = route.nextHops.filter { !$0.isPassedOver }
            return .joined(
                (used.isEmpty ? route.nextHops : used).map {
                    self.finding($0, route, to: outer.destination, below: above)
                }
            )
        }
    }

    private func finding(
        _ nextHop: NextHop,
        _ route: Route,
        to destination: InternetAddress,
        below above: Set<UInt32>
    ) -> OuterFinding {
        let index = nextHop.interfaceIndex
        guard let interface = self.byIndex[index] else {
            return nextHop.isDown ? .lost(.nothingLeft) : .leaves(through: [index])
        }
        guard !nextHop.isDown, self.assessments[index]?.isUsable == true, !self.isIgnored(index) else {
            return .lost(.interface(index))
        }
        switch nextHop.place {
        case .lost(let port): return .lost(.port(port, of: index, to: nextHop.gateway ?? destination))
        case .unknown: return .undecided
        case .reachable, nil: break
        }
        if self.isTunnel(interface) {
            if above.contains(index) { return .lost(.loop(to: destination)) }
            switch self.judge(interface, below: above).transport {
            case .carried(let below, let losing):
                return .leaves(through: below.isEmpty ? [index] : below, losing: losing)
            case .notCarried(let cause): return .lost(cause)
            case .doubtful: return .undecided
            }
        }
        switch route.source {
        case .none: return .lost(.source(index, to: destination))
        case .address(let source) where !self.isUsableOuterSource(source, to: destination):
            return .lost(.source(index, to: destination))
        case .address, .unknown: return .leaves(through: [index])
        }
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

extension OuterFinding {
    /// The interfaces that it leaves through, if any.
    var ways: [UInt32]? { if case .leaves(let through, _) = self { through } else { nil } }

    /// What several next hops come to, of which the kernel chooses one for each flow.
    fileprivate static func joined(_ hops: [OuterFinding]) -> OuterFinding {
        var (through, losing): (Set<UInt32>, Set<UInt32>) = ([], [])
        for hop in hops {
            switch hop {
            case .leaves(let some, let lost):
                through.formUnion(some)
                losing.formUnion(lost)
            case .lost(.interface(let index)), .lost(.source(let index, _)), .lost(.port(_, let index, _)):
                losing.insert(index)
            case .lost, .undecided, .meaningless: break
            }
        }
        if !through.isEmpty { return .leaves(through: through.sorted(), losing: losing.subtracting(through).sorted()) }
        return hops.contains(.undecided) ? .undecided : hops.first ?? .undecided
    }
}

extension RouteLookupResult {
    fileprivate var metric: UInt32 { if case .route(let route) = self { route.metric ?? .max } else { .max } }
}

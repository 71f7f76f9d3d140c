// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What becomes of the outer packets of a tunnel: those that the tunnel itself sends.
package enum TunnelTransport: Hashable {
    /// They leave through this interface, which is no tunnel; nil when nobody knows through which.
    case carried(by: UInt32?)
    /// They do not leave.
    case notCarried(Cause)
    /// The evidence does not decide it.
    case doubtful

    /// Why they do not leave.
    package enum Cause: Hashable {
        /// What this interface is in, which they would leave through or could.
        case interface(UInt32)
        /// There is no usable address to send to the destination from through this interface.
        case source(UInt32, to: InternetAddress)
        /// The routes to this address; the rejection, where one refuses them.
        case route(to: InternetAddress, RouteRejection?)
        /// The way to this address leads into the tunnel itself.
        case loop(to: InternetAddress)
        /// There is no interface left that they could leave through.
        case nothingLeft
    }
}

extension AssessedEvidence {
    /// Whether packets into an interface become outer packets that need a way of their own.
    ///
    /// A tunnel whose link lives in another namespace (IFLA_LINK_NETNSID) sends there, so that its packets are out as
    /// far as this one is concerned. A rule comes before all that.
    func isTunnel(_ interface: NetworkInterface) -> Bool {
        self.isTunnel(interface, depth: 0)
    }

    private func isTunnel(_ interface: NetworkInterface, depth: Int) -> Bool {
        if let isTunnel = self.rule(interface.index)?.isTunnel { return isTunnel }
        if interface.isParentElsewhere || interface.type == .loopback { return false }
        // A backend asks about nothing but tunnels.
        if interface.hasTunnelKind || interface.foundation == .tunnels || interface.tunnelEvidence != nil {
            return true
        }
        // Stacks are finite, but a changing one can look like a loop; the parent of a veth is its other end.
        guard depth < 8, interface.hasWayOfItsParent,
            let parent = interface.underlyingIndex.flatMap({ self.byIndex[$0] })
        else { return false }
        return self.isTunnel(parent, depth: depth + 1)
    }

    /// Decides what becomes of the outer packets of a tunnel.
    ///
    /// The first of these that was asked about decides: the far end, the tunnel's own mark, the best default route
    /// beside it. What cannot be decided is doubtful: a tunnel that works is never called dead for want of knowledge.
    ///
    /// - Parameters:
    ///   - tunnel: The tunnel.
    ///   - above: The tunnels that already led here; a tunnel inside itself goes nowhere.
    /// - Returns: What becomes of them.
    func transport(of tunnel: NetworkInterface, below above: Set<UInt32> = []) -> TunnelTransport {
        let above = above.union([tunnel.index])
        // A VLAN on a tunnel goes the way of the tunnel.
        if tunnel.hasWayOfItsParent, let parent = tunnel.underlyingIndex.flatMap({ self.byIndex[$0] }),
            self.isTunnel(parent)
        {
            return above.contains(parent.index)
                ? .notCarried(.nothingLeft) : self.transport(of: parent, below: above)
        }
        let outer = tunnel.tunnelEvidence
        for basis in [OuterRoute.Basis.endpoint, .mark] {
            let routes = outer?.routes.filter { $0.basis == basis } ?? []
            let findings = routes.map { self.finding($0, of: tunnel, below: above) }.filter { $0 != .meaningless }
            guard !findings.isEmpty else { continue }
            return self.transport(findings, basis, of: tunnel)
        }
        // A backend that does not ask knows at least what a tunnel is bound to.
        if outer == nil, let parent = tunnel.underlyingIndex, self.isUsableUplink(parent, beside: nil) {
            return .carried(by: parent)
        }
        return self.transportByDefaultRoute(of: tunnel, below: above)
    }

    // MARK: What was asked about

    /// What the kernel's answer about an outer packet means.
    private enum OuterFinding: Hashable {
        case leaves(through: UInt32)
        case lost(TunnelTransport.Cause)
        case undecided
        /// The answer is not about a way out of the machine.
        case meaningless
    }

    private func finding(
        _ outer: OuterRoute,
        of tunnel: NetworkInterface,
        below above: Set<UInt32>
    ) -> OuterFinding {
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
            let nextHops = route.nextHops.map { self.finding($0, route, to: outer.destination, below: above) }
            return nextHops.first { if case .leaves = $0 { true } else { false } } ?? nextHops.first {
                $0 == .undecided
            }
                ?? nextHops.first ?? .undecided
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
            return nextHop.isDown ? .lost(.nothingLeft) : .leaves(through: index)
        }
        guard !nextHop.isDown, self.assessments[index]?.isUsable == true, !self.isIgnored(index) else {
            return .lost(.interface(index))
        }
        if self.isTunnel(interface) {
            if above.contains(index) { return .lost(.loop(to: destination)) }
            switch self.transport(of: interface, below: above) {
            case .carried(let below): return .leaves(through: below ?? index)
            case .notCarried(let cause): return .lost(cause)
            case .doubtful: return .undecided
            }
        }
        switch route.source {
        case .none: return .lost(.source(index, to: destination))
        case .address(let source) where !self.isUsableOuterSource(source, to: destination):
            return .lost(.source(index, to: destination))
        case .address, .unknown: return .leaves(through: index)
        }
    }

    /// Whether answers to outer packets with this source find their way back: whichever interface holds it, but not a
    /// tunnel alone.
    private func isUsableOuterSource(_ source: InternetAddress, to destination: InternetAddress) -> Bool {
        if source.isLoopback || source.isUnspecified { return false }
        if source.family == .ipv6, source.isLinkLocal, !destination.isLinkLocal { return false }
        let holders = self.holders(of: source)
        return holders.isEmpty
            || holders.contains { interface in
                !self.isTunnel(interface)
                    && interface.addresses.contains { $0.prefix.address == source && $0.isUsable }
            }
    }

    private func holders(of address: InternetAddress) -> [NetworkInterface] {
        self.interfaces.filter { $0.addresses.contains { $0.prefix.address == address } }
    }

    private func transport(
        _ findings: [OuterFinding],
        _ basis: OuterRoute.Basis,
        of tunnel: NetworkInterface
    ) -> TunnelTransport {
        for case .leaves(let index) in findings { return .carried(by: index) }
        if findings.contains(.undecided) { return .doubtful }
        if tunnel.tunnelEvidence?.isReceiving == true { return .carried(by: nil) }
        // Of a tunnel whose mark is known and nothing else the far end may lie behind such a route.
        let outer = tunnel.tunnelEvidence
        if basis == .mark, self.hasUsableGateway(outer) { return .doubtful }
        let causes = findings.compactMap { if case .lost(let cause) = $0 { cause } else { nil } }
        if let cause = causes.first(where: { !$0.isAboutRoutes }) { return .notCarried(cause) }
        // "There is no route" explains nothing while no interface could have one.
        let best = self.bestUplink(beside: outer)
        return .notCarried(
            best.map { self.lacksRoute($0) ? .interface($0) : causes.first ?? .interface($0) } ?? .nothingLeft
        )
    }

    // MARK: What nobody could be asked about

    private func transportByDefaultRoute(of tunnel: NetworkInterface, below above: Set<UInt32>) -> TunnelTransport {
        let outer = tunnel.tunnelEvidence
        let beside = self.defaultRoutes(beside: above, outer)
        for family in AddressFamily.allCases {
            let best = beside.filter { $0.destination.family == family }
                .min { ($0.answer.metric, $0.interfaceIndex ?? 0) < ($1.answer.metric, $1.interfaceIndex ?? 0) }
            if let best, case .leaves(let index) = self.finding(best, of: tunnel, below: above) {
                return .carried(by: index)
            }
        }
        // The program behind the tunnel may be bound to another interface, or have a route of its own.
        let isAlive = beside.contains {
            if case .leaves = self.finding($0, of: tunnel, below: above) { true } else { false }
        }
        if isAlive || self.hasUsableGateway(outer) { return .doubtful }
        let uplinks = self.uplinks(beside: outer)
        let usable = uplinks.filter { self.assessments[$0.index]?.isUsable == true }
        // The far end may be on the link.
        if usable.contains(where: \.mayHaveGlobalAddress) { return .doubtful }
        if outer?.isReceiving == true { return .carried(by: nil) }
        // What had a route to travel on before needs an address to travel on now.
        if outer?.stoodBesideRoute != true {
            if uplinks.isEmpty { return .carried(by: nil) }
            // A program may send frames without any address, as PPPoE does.
            if !usable.isEmpty, tunnel.kind == "tun" { return .doubtful }
        }
        return .notCarried(self.bestUplink(beside: outer).map { .interface($0) } ?? .nothingLeft)
    }

    /// The default routes through interfaces that are no tunnels, dead ones included where the backend asked for them.
    private func defaultRoutes(beside above: Set<UInt32>, _ outer: TunnelEvidence?) -> [OuterRoute] {
        if let outer { return outer.routes.filter { $0.basis == .defaultRoute } }
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

extension TunnelTransport.Cause {
    /// Whether it is that no route leads out, whatever the interfaces are in.
    fileprivate var isAboutRoutes: Bool {
        switch self {
        case .route, .loop: true
        case .interface, .source, .nothingLeft: false
        }
    }
}

extension NetworkInterface {
    /// Whether its packets are those of what it is built on: not those of a tunnel, which are packets of their own, nor
    /// those of a veth, whose other end is named as its parent, nor of what the policies of IPsec route.
    fileprivate var hasWayOfItsParent: Bool { !self.hasTunnelKind && self.kind != "veth" && self.kind != "xfrm" }
}

extension RouteLookupResult {
    fileprivate var metric: UInt32 { if case .route(let route) = self { route.metric ?? .max } else { .max } }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension PathReason {
    static func alternative(_ interface: NetworkInterface) -> PathReason {
        PathReason(.alternative, interface.name + " could carry the path")
    }
}

extension AssessedEvidence {
    /// The verdict when at least one family has a path; nil when none has.
    func satisfied(_ findings: [FamilyFinding]) -> Verdict? {
        var families: Set<AddressFamily> = []
        var hops: [RoutedHop] = []
        for case .routed(let found) in findings {
            if let family = found.first?.family { families.insert(family) }
            hops += found
        }
        guard !hops.isEmpty else { return nil }
        var nextHops: [NextHop] = []
        var egress: [UInt32] = []
        for hop in hops {
            if !nextHops.contains(hop.nextHop) { nextHops.append(hop.nextHop) }
            if !egress.contains(hop.nextHop.interfaceIndex) { egress.append(hop.nextHop.interfaceIndex) }
        }
        let lost = self.lostHops.filter { families.contains($0.family) }
        let alternatives = self.alternatives(besides: egress + lost.flatMap(\.nextHops).map(\.interfaceIndex))
        let carriers = egress.map { self.carriers(under: $0) }
        let unlisted = carriers.joined().filter { !egress.contains($0) && !alternatives.contains($0) }
        var listed = egress.compactMap { self.listed($0, hops, nextHops) } + self.listed(lost, besides: egress)
        listed += Set(unlisted).sorted().compactMap { self.byIndex[$0] }.map {
            PathInterface($0, reason: PathReason(.carriesTunnel, $0.name + " carries the packets of a tunnel"))
        }
        listed += alternatives.compactMap { self.byIndex[$0] }.map { PathInterface($0, reason: .alternative($0)) }
        let gateways = nextHops.compactMap { nextHop in
            nextHop.gateway.map {
                Gateway(address: $0, interfaceIndex: nextHop.interfaceIndex, answers: self.answers(nextHop))
            }
        }
        var verdict = Verdict(.satisfied, self.routedReason(families, egress, lost), interfaces: listed)
        for doubt in self.doubts(about: nextHops) { verdict.reason.message += "; \(doubt)" }
        verdict.reason.message += self.silenceText(gateways)
        verdict.families = families
        if egress.count == 1, verdict.interfaces.first?.index == egress[0] {
            verdict.interfaces[0].supportsIPv4 = families.contains(.ipv4)
            verdict.interfaces[0].supportsIPv6 = families.contains(.ipv6)
        }
        verdict.gateways = gateways
        verdict.carriedByIndex = carriers[0].count == 1 ? carriers[0][0] : nil
        // Packets may take any of these ways.
        for (index, carriers) in zip(egress, carriers) {
            let ways: [UInt32?] = carriers.isEmpty ? [nil] : carriers
            for carrier in ways {
                let costs = self.ruled(index, carrier, { $0.isExpensive }) ?? self.costs(index, carrier)
                if costs { verdict.isExpensive = true }
                let isConstrained =
                    self.ruled(index, carrier, { $0.isConstrained }) ?? self.facts(index)?.isConstrained
                    ?? carrier.flatMap { self.facts($0)?.isConstrained }
                if isConstrained == true { verdict.isConstrained = true }
            }
        }
        return verdict
    }

    private func routedReason(_ families: Set<AddressFamily>, _ egress: [UInt32], _ lost: [LostHops]) -> PathReason {
        var message = families.count == 2 ? "IPv4 and IPv6" : families.contains(.ipv4) ? "IPv4" : "IPv6"
        for index in egress { message += (index == egress[0] ? " through " : " and ") + self.name(index) }
        for hops in lost { message += "; " + self.description(hops, amongSeveralFamilies: families.count == 2) }
        var encapsulations: Set<String> = []
        let routes = self.evidence.referenceRoutes
        for position in routes.indices {
            guard case .route(let route) = routes[position].answer, let name = route.encapsulation,
                families.contains(routes[position].destination.family)
            else { continue }
            encapsulations.insert(name)
        }
        if !encapsulations.isEmpty {
            let names = encapsulations.sorted().joined(separator: " and ")
            message += "; the route encapsulates packets (\(names)), which may drop them"
        }
        return PathReason(.routed, message + self.tunnelText(egress))
    }

    /// What a rule says of traffic through an interface: that about a tunnel first, then that about what carries it.
    private func ruled(_ index: UInt32, _ carrier: UInt32?, _ property: (InterfaceRule) -> Bool?) -> Bool? {
        self.rule(index).flatMap(property) ?? carrier.flatMap { self.rule($0) }.flatMap(property)
    }

    /// Whether traffic through an interface costs money, as the evidence has it.
    private func costs(_ index: UInt32, _ carrier: UInt32?) -> Bool {
        self.isExpensive(index) ?? carrier.flatMap { self.isExpensive($0) }
            ?? (self.type(of: carrier ?? index) == .cellular)
    }

    private func isExpensive(_ index: UInt32) -> Bool? {
        self.byIndex.position(of: index).flatMap { self.interfaces[$0].isExpensive }
    }

    /// The other usable interfaces that have a default route of their own, the preferred one first.
    private func alternatives(besides egress: [UInt32]) -> [UInt32] {
        let positions = self.candidatePositions.filter { position in
            !egress.contains(self.interfaces[position].index)
                && self.interfaces[position].isAlternative
                && self.assessments.values[position].isUsable
        }
        // By what is compared: a function that compares positions copies everything.
        return positions.map { (Self.preference(self.interfaces[$0]), self.interfaces[$0].index) }.sorted(by: <)
            .map(\.1)
    }

    /// Metrics of different families do not compare: IPv6 counts from 1024, IPv4 from 0.
    private static func preference(_ interface: NetworkInterface) -> UInt64 {
        let preferred = interface.preferredRoute
        return (preferred?.family == .ipv4 ? 0 : 1 << 32) + UInt64(preferred?.metric ?? .max)
    }

    /// An interface that hops lead through; nil when it is not seen.
    private func listed(_ index: UInt32, _ hops: [RoutedHop], _ nextHops: [NextHop]) -> PathInterface? {
        guard let interface = self.byIndex[index] else { return nil }
        let route = hops.first(where: { $0.nextHop.interfaceIndex == index }).map {
            InterfaceRoute(family: $0.family, gateway: $0.nextHop.gateway, metric: $0.metric, table: $0.table)
        }
        let gateways = nextHops.compactMap { $0.interfaceIndex == index ? $0.gateway : nil }
        let reason = PathReason(.routed, interface.name + " carries the path")
        return PathInterface(interface, reason: reason, route: route, gateways: gateways)
    }

    /// The interfaces of lost next hops, as what they are.
    private func listed(_ lost: [LostHops], besides egress: [UInt32]) -> [PathInterface] {
        var listed: [PathInterface] = []
        for nextHop in lost.flatMap(\.nextHops) where !egress.contains(nextHop.interfaceIndex) {
            guard let interface = self.byIndex[nextHop.interfaceIndex],
                !listed.contains(where: { $0.index == nextHop.interfaceIndex })
            else { continue }
            listed.append(PathInterface(interface, reason: self.reason(nextHop)))
        }
        return listed
    }
}

extension PathInterface {
    /// The interface as it is, in a role; with the route that leads through it and its gateways, where they are not its own
    /// default routes.
    package init(
        _ interface: NetworkInterface,
        reason: PathReason,
        route: InterfaceRoute? = nil,
        gateways: [InternetAddress] = []
    ) {
        let preferred = route ?? interface.preferredRoute
        self.init(index: interface.index, name: interface.name, type: interface.type, reason: reason)
        self.kind = interface.kind
        self.operationalState = interface.operationalState
        self.addresses = interface.addresses.compactMap { $0.isUsable ? $0.prefix : nil }
        self.knowsAddresses = interface.knowsAddresses
        self.gateways = gateways.isEmpty ? interface.defaultRoutes?.compactMap(\.gateway) ?? [] : gateways
        self.metric = preferred?.metric
        self.table = preferred?.table
        self.underlyingIndex = interface.underlyingIndex
        self.supportsIPv4 = interface.isAlternative(.ipv4)
        self.supportsIPv6 = interface.isAlternative(.ipv6)
    }
}

extension NetworkInterface {
    @inline(__always) fileprivate var preferredRoute: InterfaceRoute? {
        self.defaultRoutes?.first { $0.family == .ipv4 } ?? self.defaultRoutes?.first
    }
}

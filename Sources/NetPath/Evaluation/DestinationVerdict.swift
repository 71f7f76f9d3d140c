// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What becomes of packets to one destination.
public struct DestinationVerdict: Hashable, Sendable {
    /// Whether they would be sent.
    public var isRouted: Bool
    /// Why; the codes are those of paths.
    public var reason: PathReason
    /// The index of the interface they would leave through, or that keeps them; nil without one.
    public var interfaceIndex: UInt32?
    /// That interface as the rules see it; nil when no backend has reported it.
    public var interface: NetworkInterface?
    /// What carries the packets of that interface, if it is a tunnel, as the rules see it: asked of the kernel, never
    /// guessed; nil when it is unknown.
    public var carrier: NetworkInterface?
    /// Whether that interface is a tunnel of which it is not known that anything carries its packets.
    public var isDoubtful = false
    /// The next hop; nil when the destination is on the link, or the link has no gateways.
    public var gateway: InternetAddress?
    /// Whether that next hop answers, as ``Gateway/answers``.
    public var gatewayAnswers: Bool?
    /// The source address they would carry; nil when unknown.
    public var source: InternetAddress?
}

extension DestinationVerdict {
    /// Creates a verdict without details; everything else is set afterwards.
    public init(isRouted: Bool, reason: PathReason) {
        self.init(isRouted: isRouted, reason: reason, source: nil)
    }
}

extension Evidence {
    /// Turns the kernel's answer about one destination into a verdict, by the same rules as those about the internet.
    ///
    /// Other than there, loopback carries packets while it is up, because the destination may be this host; an address of
    /// the link will do as source for a destination on the link; and an interface that no backend reported counts as
    /// usable, because a host can lie behind one of thousands. An address that is no single host's is never routed to:
    /// `connect(2)` refuses broadcast addresses and, for TCP, multicast groups, whatever the routes.
    ///
    /// - Parameters:
    ///   - answer: The kernel's answer.
    ///   - destination: The address that was asked about.
    ///   - policy: What the verdict depends on besides the evidence.
    ///   - now: The present moment.
    /// - Returns: The verdict; nil when the answer does not allow one.
    public func verdict(
        on answer: RouteLookupResult,
        to destination: InternetAddress,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) -> DestinationVerdict? {
        if let kind = destination.kindOfMany ?? (answer == .rejected(.broadcast) ? "a broadcast address" : nil) {
            let message = "\(destination) is \(kind), to which no connection can be made"
            return DestinationVerdict(isRouted: false, reason: PathReason(.notConnectable, message))
        }
        let evidence = AssessedEvidence(self.about(answer), policy: policy, now: now, towards: answer)
        func verdict(_ reason: PathReason, isRouted: Bool = false, nextHop: NextHop? = nil) -> DestinationVerdict {
            var verdict = DestinationVerdict(isRouted: isRouted, reason: reason)
            verdict.interfaceIndex = nextHop?.interfaceIndex
            verdict.interface = nextHop.flatMap { evidence.byIndex[$0.interfaceIndex] }
            verdict.carrier = nextHop.flatMap { evidence.knownCarrier(under: $0.interfaceIndex) }
            verdict.isDoubtful = nextHop.map { evidence.transports[$0.interfaceIndex] == .doubtful } ?? false
            verdict.gateway = nextHop?.gateway
            verdict.gatewayAnswers = nextHop.flatMap { evidence.answers($0) }
            if case .route(let route) = answer, case .address(let source) = route.source { verdict.source = source }
            return verdict
        }
        switch evidence.finding(of: answer, destination.family, to: destination) {
        case .unknown: return nil
        case .routed(let hops):
            let egress = hops.prefix(1).map(\.nextHop.interfaceIndex)
            let names = egress.map { evidence.name($0) }.joined()
            return verdict(
                PathReason(.routed, "\(destination) through \(names)" + evidence.tunnelText(egress)),
                isRouted: true,
                nextHop: hops.first?.nextHop
            )
        case .rejected(let rejection):
            return verdict(PathReason(.routeRejects, "\(rejection.description) refuses packets to \(destination)"))
        case .noRoute: return verdict(PathReason(.noRoute, "there is no route to \(destination)"))
        case .noSource(let index):
            let reason = PathReason(
                .noAddress,
                "there is no usable address to send from through \(evidence.name(index))"
            )
            return verdict(reason, nextHop: answer.nextHop(through: index))
        case .egressUnusable(let index) where evidence.leadsBack(index, answer):
            let message = "the route to \(destination) leads back to this machine, which does not have the address"
            return verdict(PathReason(.routeRejects, message), nextHop: answer.nextHop(through: index))
        case .egressUnusable(let index):
            let name = evidence.name(index)
            let assessment = evidence.assessments[index]
            let reason =
                evidence.isIgnored(index)
                ? PathReason(.ignoredInterface, "packets would leave through \(name), which a rule says to ignore")
                : assessment.flatMap { $0.isUsable ? nil : $0.reason }
                    ?? evidence.byIndex.position(of: index).flatMap(evidence.deadEnd)
                    ?? PathReason(.noCarrier, "\(name) has no carrier")
            return verdict(reason, nextHop: answer.nextHop(through: index))
        }
    }
}

extension RouteLookupResult {
    /// The next hops of a route; none where there is no route.
    @inline(__always) package var nextHops: [NextHop] {
        if case .route(let route) = self { route.nextHops } else { [] }
    }

    fileprivate func nextHop(through index: UInt32) -> NextHop? { self.nextHops.first { $0.interfaceIndex == index } }
}

extension InternetAddress {
    /// What the address is, when it is that of many hosts on any network; nil when it need not be.
    fileprivate var kindOfMany: String? {
        switch self.family {
        case .ipv4 where self.bits == 0xFFFF_FFFF: "the broadcast address of the link"
        case .ipv4 where self.bits >> 28 == 0xE, .ipv6 where self.bits >> 120 == 0xFF: "a multicast group"
        default: nil
        }
    }
}

extension AssessedEvidence {
    /// What carries the packets that leave through an interface, where that is one: as the kernel answers for tunnels, or
    /// the interface that a tunnel is bound to (IFLA_LINK).
    fileprivate func knownCarrier(under index: UInt32) -> NetworkInterface? {
        let carriers = self.carriers(under: index)
        if let carrier = carriers.first { return carriers.count == 1 ? self.byIndex[carrier] : nil }
        guard self.transports[index] == nil, let tunnel = self.byIndex[index], tunnel.isTunnel,
            !tunnel.isParentElsewhere, let parent = tunnel.underlyingIndex.flatMap({ self.byIndex[$0] }),
            !self.isTunnel(parent), !self.isIgnored(parent.index)
        else { return nil }
        return parent
    }

    /// Whether a route leads through an interface back to this machine, and is not that of an address of its own.
    func leadsBack(_ index: UInt32, _ answer: RouteLookupResult) -> Bool {
        guard case .route(let route) = answer, let table = route.table, table != Route.localTable else { return false }
        return self.isLoopback(index)
    }

    /// Whether an interface leads back to this machine.
    func isLoopback(_ index: UInt32) -> Bool {
        self.byIndex[index]?.flags.contains(.loopback) ?? (index == NetworkInterface.loopbackIndex)
    }

    /// Whether packets to a host can leave through a next hop, whose interface no backend may have reported.
    func canReachHost(through nextHop: NextHop, _ answer: RouteLookupResult) -> Bool {
        if nextHop.isDown || self.isIgnored(nextHop.interfaceIndex) { return false }
        if self.leadsBack(nextHop.interfaceIndex, answer) { return false }
        // A bridge that has lost the gateway of the internet still reaches others.
        if self.lostPort(of: NextHop(interfaceIndex: nextHop.interfaceIndex)) != nil {
            if case .lost = self.place(of: nextHop) { return false }
            return true
        }
        guard let position = self.byIndex.position(of: nextHop.interfaceIndex) else { return true }
        return self.interfaces[position].hasPorts != false && self.assessments.values[position].isUsable
    }

    /// Whether packets with this source address to a host, or without one to the internet, find their way back.
    func isUsableSource(_ source: InternetAddress, to host: InternetAddress?, _ route: Route) -> Bool {
        if self.isUsableSource(source) { return true }
        guard host != nil else { return false }
        let isOnLink = route.nextHops.contains { $0.gateway == nil }
        return source.isLoopback || (isOnLink && source.isLinkLocal && self.isConfigured(source))
    }

    /// The name servers, judged as any other destination where the kernel was asked about them.
    package var dnsServers: [DNSServer]? {
        guard var servers = self.evidence.dnsServers else { return nil }
        for (position, answer) in zip(servers.indices, self.evidence.dnsRoutes) {
            let address = servers[position].address
            switch self.finding(of: answer, address.family, to: address) {
            case .unknown: break
            case .routed: servers[position].isReachable = true
            case .rejected, .egressUnusable, .noSource, .noRoute: servers[position].isReachable = false
            }
        }
        return servers
    }

    private func isConfigured(_ address: InternetAddress) -> Bool {
        let holders = self.interfaces.flatMap(\.addresses).filter { $0.prefix.address == address }
        return holders.isEmpty || holders.contains(where: \.isUsable)
    }
}

extension Evidence {
    /// The part that matters to one answer: there may be thousands of interfaces, and a client waits.
    fileprivate func about(_ answer: RouteLookupResult) -> Evidence {
        guard case .route(let route) = answer, let interfaces = self.interfaces else { return self }
        var indices = Set(route.nextHops.map(\.interfaceIndex))
        for interface in interfaces where indices.contains(interface.index) {
            if let parent = interface.underlyingIndex { indices.insert(parent) }
        }
        // What carries a tunnel may be any of them.
        if interfaces.contains(where: { indices.contains($0.index) && $0.tunnelEvidence != nil }) { return self }
        var part = self
        part.interfaces = interfaces.filter { interface in
            if indices.contains(interface.index) { return true }
            guard case .address(let source) = route.source else { return false }
            return interface.addresses.contains { $0.prefix.address == source }
        }
        return part
    }
}

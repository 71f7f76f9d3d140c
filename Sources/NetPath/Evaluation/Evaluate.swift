// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Turns evidence into a verdict: the one place where "is there a path?" is decided.
///
/// Pure and deterministic. The rules, in order:
///
/// 1. *satisfied*: for at least one family the kernel would route a packet to every representative address through a
///    usable interface, with a usable source address. Of a multipath route one usable leg suffices.
/// 2. *unsatisfied* when a blackhole, unreachable or prohibit route takes the packets, or when the chosen interface
///    has no carrier: packets are lost even if another interface could carry them.
/// 3. *requiresConnection* when an interface has a step pending, or one that can be started.
/// 4. *unsatisfied* otherwise.
///
/// An interface is usable when it and its parent are up, it has a carrier, and its operational state is `up` or
/// `unknown`. Loopback never carries a path.
///
/// - Parameters:
///   - observation: The evidence.
///   - policy: What the verdict depends on besides the evidence.
///   - now: The present moment.
/// - Returns: The verdict; nil when the evidence does not allow one. `unsatisfied` needs positive evidence.
public func evaluate(_ observation: Observation, policy: EvaluationPolicy, now: MonotonicTime) -> Verdict? {
    guard let interfaces = observation.interfaces else { return evaluateProbes(observation) }
    let evaluation = Evaluation(observation, interfaces: interfaces, policy: policy, now: now)
    return evaluation.verdict()
}

private func evaluateProbes(_ observation: Observation) -> Verdict? {
    // A backend that asks the kernel and does not see interfaces has more to say than its probes.
    guard let probes = observation.probes, observation.representatives.isEmpty else { return nil }
    if probes.answered { return Verdict(.satisfied, PathReason(.probeAnswered, "a probe target answered")) }
    guard probes.isComplete else { return nil }
    return Verdict(.unsatisfied, PathReason(.probeFailed, "no probe target answered"))
}

extension PathReason {
    fileprivate static func alternative(_ interface: NetworkInterface) -> PathReason {
        PathReason(.alternative, "\(interface.name) could carry the path")
    }
}

/// One evaluation in progress.
private struct Evaluation {
    let observation: Observation
    let interfaces: [UInt32: NetworkInterface]
    let assessments: [UInt32: InterfaceAssessment]

    init(
        _ observation: Observation,
        interfaces: [NetworkInterface],
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) {
        self.observation = observation
        let byIndex = Dictionary(interfaces.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        self.interfaces = byIndex
        self.assessments = byIndex.mapValues { interface in
            let parent = interface.parentIndex.flatMap { byIndex[$0] }
            return .assess(interface, parent: parent, policy: policy, now: now)
        }
    }

    func verdict() -> Verdict? {
        let findings = AddressFamily.allCases.map { ($0, self.finding(for: $0)) }
        var verdict: Verdict
        if let satisfied = self.satisfied(findings) {
            verdict = satisfied
        } else {
            // "No" needs positive evidence, and an unanswered question is none.
            guard !findings.contains(where: { $0.1 == .unknown }) else { return nil }
            verdict = self.notSatisfied(findings.map(\.1))
            // Only when something else than an event can change it; a satisfied path needs no clock.
            verdict.reviseAt = self.assessments.values.compactMap(\.reviseAt).min()
        }
        verdict.isPartial = self.observation.isPartial
        return verdict
    }

    private func finding(for family: AddressFamily) -> FamilyFinding {
        let questions = self.observation.representatives.filter { $0.destination.family == family }
        return .weigh(
            questions.map(\.answer),
            destinations: questions.map(\.destination),
            canCarry: { leg in
                guard let interface = self.interfaces[leg.interfaceIndex],
                    let assessment = self.assessments[leg.interfaceIndex]
                else { return leg.isDown ? false : nil }
                return assessment.isUsable && !leg.isDown && interface.type != .loopback
            },
            isUsableSource: self.isUsableSource
        )
    }

    private func isUsableSource(_ source: IPAddress) -> Bool {
        // A router does not forward packets from a link-local IPv6 address (RFC 4291 section 2.5.6); 169.254.0.0/16
        // is real egress in some clouds.
        if source.isUnspecified || (source.family == .ipv6 && source.isLinkLocal) { return false }
        // Without any other address the kernel offers ::1.
        if source.isLoopback { return false }
        // Several interfaces may hold the same address, as long as one of them may use it.
        let holders = self.interfaces.values.flatMap(\.addresses).filter { $0.prefix.address == source }
        return holders.isEmpty || holders.contains(where: \.isUsable)
    }

    private func satisfied(_ findings: [(AddressFamily, FamilyFinding)]) -> Verdict? {
        var families: Set<AddressFamily> = []
        var legs: [RouteLeg] = []
        var details: [UInt32: InterfaceRoute] = [:]
        for case (let family, .routed(let hops)) in findings {
            families.insert(family)
            for hop in hops {
                if !legs.contains(hop.leg) { legs.append(hop.leg) }
                if details[hop.leg.interfaceIndex] == nil {
                    details[hop.leg.interfaceIndex] = InterfaceRoute(
                        family: family,
                        gateway: hop.leg.gateway,
                        metric: hop.metric,
                        table: hop.table
                    )
                }
            }
        }
        guard !legs.isEmpty else { return nil }
        var egress: [UInt32] = []
        for leg in legs where !egress.contains(leg.interfaceIndex) { egress.append(leg.interfaceIndex) }
        let alternatives = self.alternatives(besides: egress)
        let listed =
            egress.compactMap { index in
                self.listed(
                    index,
                    route: details[index],
                    gateways: legs.filter { $0.interfaceIndex == index }.map(\.gateway)
                )
            } + alternatives.compactMap { self.listed($0, route: nil, gateways: []) }

        var verdict = Verdict(.satisfied, self.routedReason(families, legs: legs), interfaces: listed)
        verdict.families = families
        verdict.gateways = legs.compactMap { leg in
            leg.gateway.map { Gateway(address: $0, interfaceIndex: leg.interfaceIndex) }
        }
        verdict.carriedBy = egress.first.flatMap { first in
            self.carrier(under: first, others: egress.dropFirst() + alternatives)
        }
        let payer = (verdict.carriedBy ?? egress.first).flatMap { self.interfaces[$0] }
        verdict.isExpensive = payer?.type == .cellular
        return verdict
    }

    private func routedReason(_ families: Set<AddressFamily>, legs: [RouteLeg]) -> PathReason {
        let names = families.count == 2 ? "IPv4 and IPv6" : families.contains(.ipv4) ? "IPv4" : "IPv6"
        var hops: [String] = []
        for leg in legs {
            let name = self.interfaces[leg.interfaceIndex]?.name ?? "interface \(leg.interfaceIndex)"
            if !hops.contains(name) { hops.append(name) }
        }
        return PathReason(.routed, "\(names) through \(hops.joined(separator: " and "))")
    }

    /// Bluetooth and gadgets are `other` too, but stand for hardware.
    private func isTunnel(_ index: UInt32) -> Bool {
        self.interfaces[index].map { $0.type == .other && $0.isHardware != true } ?? false
    }

    /// The physical interface the packets of a tunnel leave through: the one it is bound to, or the one the kernel
    /// prefers once the tunnel's own routes are out of the way.
    private func carrier(under egress: UInt32, others: some Collection<UInt32>) -> UInt32? {
        guard self.isTunnel(egress) else { return nil }
        let candidates = [self.interfaces[egress]?.parentIndex].compactMap { $0 } + others
        return candidates.first { self.interfaces[$0] != nil && !self.isTunnel($0) }
    }

    /// The other usable interfaces that have a default route of their own, the preferred one first.
    private func alternatives(besides egress: [UInt32]) -> [UInt32] {
        self.interfaces.values
            .filter { interface in
                !egress.contains(interface.index) && interface.type != .loopback
                    && interface.controllerIndex == nil && interface.defaultRoutes?.isEmpty == false
                    && self.assessments[interface.index]?.isUsable == true
            }
            .sorted { (Self.preference($0), $0.index) < (Self.preference($1), $1.index) }
            .map(\.index)
    }

    /// Metrics of different families do not compare: IPv6 counts from 1024, IPv4 from 0.
    private static func preference(_ interface: NetworkInterface) -> UInt64 {
        let preferred = Self.preferredRoute(interface)
        return (preferred?.family == .ipv4 ? 0 : 1 << 32) + UInt64(preferred?.metric ?? .max)
    }

    private static func preferredRoute(_ interface: NetworkInterface) -> InterfaceRoute? {
        interface.defaultRoutes?.first { $0.family == .ipv4 } ?? interface.defaultRoutes?.first
    }

    private func listed(_ index: UInt32, route: InterfaceRoute?, gateways: [IPAddress?]) -> PathInterface? {
        guard let interface = self.interfaces[index] else { return nil }
        let reason =
            route == nil
            ? .alternative(interface)
            : PathReason(.routed, "\(interface.name) carries the path")
        return Self.listed(interface, reason: reason, route: route, gateways: gateways.compactMap { $0 })
    }

    private static func listed(
        _ interface: NetworkInterface,
        reason: PathReason,
        route: InterfaceRoute? = nil,
        gateways: [IPAddress] = []
    ) -> PathInterface {
        let preferred = route ?? Self.preferredRoute(interface)
        return PathInterface(
            index: interface.index,
            name: interface.name,
            type: interface.type,
            kind: interface.kind,
            operationalState: interface.operationalState,
            addresses: interface.addresses.filter(\.isUsable).map(\.prefix),
            gateways: gateways.isEmpty ? interface.defaultRoutes?.compactMap(\.gateway) ?? [] : gateways,
            metric: preferred?.metric,
            table: preferred?.table,
            underlying: interface.parentIndex,
            reason: reason
        )
    }

    // MARK: Not satisfied

    /// Interfaces that could ever carry a path: members of a bridge or bond are represented by it.
    private var candidates: [NetworkInterface] {
        self.interfaces.values
            .filter { $0.type != .loopback && $0.controllerIndex == nil }
            .sorted { $0.index < $1.index }
    }

    private func notSatisfied(_ findings: [FamilyFinding]) -> Verdict {
        let candidates = self.candidates
        // A virtual interface that is down is a container being set up or torn down, not somebody's uplink, unless
        // there is nothing else to show.
        let worthListing = candidates.filter { $0.flags.contains(.up) || $0.isHardware == true }
        let listed = (worthListing.isEmpty ? candidates : worthListing).compactMap { interface in
            self.assessments[interface.index].map { assessment in
                let isAlternative = assessment.reason.code == .noRoute && interface.defaultRoutes?.isEmpty == false
                return Self.listed(interface, reason: isAlternative ? .alternative(interface) : assessment.reason)
            }
        }
        let (status, reason) = self.decision(findings, candidates: candidates)
        return Verdict(status, reason, interfaces: listed)
    }

    private func decision(
        _ findings: [FamilyFinding],
        candidates: [NetworkInterface]
    ) -> (PathStatus, PathReason) {
        for case .rejected(let rejection, let destination) in findings {
            return (
                .unsatisfied,
                PathReason(.routeRejects, "a route of type \(rejection.rawValue) takes packets to \(destination)")
            )
        }
        for case .egressUnusable(let index) in findings {
            guard self.interfaces[index]?.type != .loopback else { continue }
            if let assessment = self.assessments[index], !assessment.isUsable {
                return (assessment.isStartable ? .requiresConnection : .unsatisfied, assessment.reason)
            }
            let name = self.interfaces[index]?.name ?? "interface \(index)"
            return (.unsatisfied, PathReason(.noCarrier, "the route through \(name) has lost its link"))
        }
        let assessed = candidates.compactMap { self.assessments[$0.index] }
        for code in Self.startableOrder {
            if let step = assessed.first(where: { $0.isStartable && $0.reason.code == code }) {
                return (.requiresConnection, step.reason)
            }
        }
        for case .noSource(let index) in findings {
            let name = self.interfaces[index]?.name ?? "interface \(index)"
            return (.unsatisfied, PathReason(.noAddress, "\(name) has a route but no usable source address"))
        }
        // Hardware first: that a container bridge has an address but no route explains nothing when the cable is out.
        let hardware = candidates.filter { $0.isHardware == true }.compactMap { self.assessments[$0.index] }
        for pool in [hardware, assessed] {
            for code in Self.unsatisfiedOrder {
                if let blocked = pool.first(where: { $0.reason.code == code }) { return (.unsatisfied, blocked.reason) }
            }
        }
        return candidates.isEmpty
            ? (.unsatisfied, PathReason(.noInterface, "there is no network interface besides loopback"))
            : (.unsatisfied, PathReason(.allDown, "every network interface is administratively down"))
    }

    /// Strongest first: the step that is closest to a path.
    private static let startableOrder: [PathReason.Code] = [
        .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected,
    ]
    /// Closest to a path first.
    private static let unsatisfiedOrder: [PathReason.Code] = [.noRoute, .noAddress, .noCarrier, .radioBlocked]
}

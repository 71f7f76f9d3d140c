// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension Evidence {
    /// Turns evidence into a verdict: the one place where "is there a path?" is decided.
    ///
    /// Pure and deterministic. The rules, in order:
    ///
    /// 1. *satisfied*: for at least one family the kernel would route a packet to every reference address through a
    ///    usable interface, with a usable source address. Of a multipath route one usable next hop suffices.
    /// 2. Otherwise the family that is closest to a path decides (<doc:Evaluation> ranks them): *requiresConnection* when an
    ///    interface has a step pending, or one that can be started, and *unsatisfied* otherwise. Within a family, packets
    ///    that the kernel sends to an interface without a carrier are lost even if another interface could carry them, and
    ///    those that a blackhole, unreachable or prohibit route refuses are refused.
    ///
    /// An interface is usable when it and its parent are up, it has a carrier, and its operational state is `up` or
    /// `unknown`. Loopback never carries a path. The rules of the policy come before all that: they replace the type of an
    /// interface, hide it, or name a step that can be started.
    ///
    /// Where the evidence allows no verdict, a conclusion that the backend states is taken as it is (``Verdict/isStated``).
    ///
    /// - Parameters:
    ///   - policy: What the verdict depends on besides the evidence.
    ///   - now: The present moment.
    /// - Returns: The verdict; nil when the evidence does not allow one and nothing is stated. `unsatisfied` needs positive evidence.
    public func verdict(policy: EvaluationPolicy, now: MonotonicTime) -> Verdict? {
        if let conclusion = self.conclusion {
            let facts = self.ofThisMachine
            return facts.verdictWithoutConclusion(policy, now) ?? Verdict(conclusion, beside: facts, policy)
        }
        return self.verdictWithoutConclusion(policy, now)
    }

    private func verdictWithoutConclusion(_ policy: EvaluationPolicy, _ now: MonotonicTime) -> Verdict? {
        // A backend that asks the kernel has more to say than its probes, and may know it the next moment.
        guard !self.referenceRoutes.isEmpty else { return self.probes?.verdict }
        guard self.interfaces != nil else { return nil }
        return AssessedEvidence(self, policy: policy, now: now).verdict(policy.gateways)
    }
}

extension ProbeRound {
    fileprivate var verdict: Verdict? {
        if self.answered { return Verdict(.satisfied, PathReason(.probeAnswered, "a probe target answered")) }
        if self.metPortal { return Verdict(.unsatisfied, .portalAnswered) }
        guard self.failed else { return nil }
        return Verdict(.unsatisfied, PathReason(.probeFailed, "no probe target answered"))
    }
}

extension AssessedEvidence {
    func verdict(_ gateways: GatewayInfluence) -> Verdict? {
        let findings = self.findings
        var verdict: Verdict
        if let satisfied = self.satisfied(findings) {
            verdict = satisfied
            if gateways == .required { verdict.requireGateways(findings) }
        } else {
            // "No" needs positive evidence, and an unanswered question is none, unless nothing could carry a packet, or
            // only one family has no answer and none of its packets could be sent, whatever the answer.
            let unknown = zip(AddressFamily.allCases, findings).filter { $1 == .unknown }.map(\.0)
            guard unknown.isEmpty || self.seesNothingUsable || unknown.count == 1 && self.cannotSend(unknown[0])
            else { return nil }
            verdict = self.notSatisfied(findings)
            // Only when something else than an event can change it; a satisfied path needs no clock.
            verdict.reviseAt = self.assessments.values.lazy.compactMap(\.reviseAt).min()
        }
        verdict.isPartial = self.evidence.isPartial
        verdict.dnsServers = self.dnsServers
        return verdict
    }

    /// Whether all interfaces are seen, none is usable, and no answer names another one.
    private var seesNothingUsable: Bool {
        let isAnyUsable = self.interfaces.indices.contains { position in
            self.interfaces[position].type != .loopback && self.assessments.values[position].isUsable
        }
        return !isAnyUsable && !self.evidence.referenceRoutes.isEmpty && self.seesAll
    }

    /// Whether no interface has an address that packets of a family could be sent from, and all are seen.
    private func cannotSend(_ family: AddressFamily) -> Bool {
        // A VRF sends from the addresses of its members, which are not among the interfaces.
        self.interfaces.allSatisfy { $0.kind != "vrf" && !$0.canSend(family) } && self.seesAll
    }

    /// Whether all interfaces are seen, and no answer names another one.
    private var seesAll: Bool {
        !self.evidence.isAbridged
            && self.evidence.referenceRoutes.allSatisfy { referenceRoute in
                guard case .route(let route) = referenceRoute.answer else { return true }
                return !route.nextHops.isEmpty && route.nextHops.allSatisfy { self.byIndex[$0.interfaceIndex] != nil }
            }
    }

    private func notSatisfied(_ findings: [FamilyFinding]) -> Verdict {
        let candidates = self.candidatePositions
        // A virtual interface that is down is a container being set up or torn down, not the machine's uplink, unless
        // there is nothing else to show.
        let worthListing = candidates.filter { position in
            self.interfaces[position].flags.contains(.up) || self.interfaces[position].isHardware == true
                || self.assessments.values[position].isStartable
                || findings.contains(.egressUnusable(self.interfaces[position].index))
        }
        let listed = (worthListing.isEmpty ? candidates : worthListing).map { position in
            let reason = self.assessments.values[position].reason
            let isAlternative =
                reason.code == .noRoute && self.interfaces[position].isAlternative
                && self.assessments.values[position].isUsable
            return PathInterface(
                self.interfaces[position],
                reason: isAlternative ? .alternative(self.interfaces[position]) : reason
            )
        }
        let outlook = self.outlook(findings)
        return Verdict(outlook.status, outlook.reason, interfaces: listed)
    }
}

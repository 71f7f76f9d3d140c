// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Turns evidence into a verdict: the one place where "is there a path?" is decided.
///
/// Pure and deterministic. The rules, in order:
///
/// 1. *satisfied*: for at least one family the kernel would route a packet to every representative address through a
///    usable interface, with a usable source address. Of a multipath route one usable leg suffices.
/// 2. *unsatisfied* when a blackhole, unreachable or prohibit route takes the packets, when a rule says to ignore the
///    chosen interface, or when it has no carrier: packets are lost even if another interface could carry them.
/// 3. *requiresConnection* when an interface has a step pending, or one that can be started.
/// 4. *unsatisfied* otherwise.
///
/// An interface is usable when it and its parent are up, it has a carrier, and its operational state is `up` or
/// `unknown`. Loopback never carries a path. The rules of the policy come before all that: they replace the type of an
/// interface, hide it, or name a step that can be started.
///
/// - Parameters:
///   - observation: The evidence.
///   - policy: What the verdict depends on besides the evidence.
///   - now: The present moment.
/// - Returns: The verdict; nil when the evidence does not allow one. `unsatisfied` needs positive evidence.
public func evaluate(_ observation: Observation, policy: EvaluationPolicy, now: MonotonicTime) -> Verdict? {
    guard observation.interfaces != nil else { return evaluateProbes(observation) }
    return AssessedEvidence(observation, policy: policy, now: now).verdict()
}

private func evaluateProbes(_ observation: Observation) -> Verdict? {
    // A backend that asks the kernel and does not see interfaces has more to say than its probes.
    guard let probes = observation.probes, observation.representatives.isEmpty else { return nil }
    if probes.answered { return Verdict(.satisfied, PathReason(.probeAnswered, "a probe target answered")) }
    guard probes.isComplete else { return nil }
    return Verdict(.unsatisfied, PathReason(.probeFailed, "no probe target answered"))
}

extension AssessedEvidence {
    func verdict() -> Verdict? {
        let findings = [self.finding(for: .ipv4), self.finding(for: .ipv6)]
        var verdict: Verdict
        if let satisfied = self.satisfied(findings) {
            verdict = satisfied
        } else {
            // "No" needs positive evidence, and an unanswered question is none.
            guard !findings.contains(.unknown) else { return nil }
            verdict = self.notSatisfied(findings)
            // Only when something else than an event can change it; a satisfied path needs no clock.
            verdict.reviseAt = self.assessments.values.lazy.compactMap(\.reviseAt).min()
        }
        verdict.isPartial = self.observation.isPartial
        return verdict
    }

    private func finding(for family: AddressFamily) -> FamilyFinding {
        .weigh(
            self.observation.representatives.lazy.filter { $0.destination.family == family },
            canCarry: { self.canCarry($0) },
            isDead: { self.isDead($0) },
            isUsableSource: { self.isUsableSource($0) }
        )
    }

    private func notSatisfied(_ findings: [FamilyFinding]) -> Verdict {
        let candidates = self.candidatePositions
        // A virtual interface that is down is a container being set up or torn down, not somebody's uplink, unless
        // there is nothing else to show.
        let worthListing = candidates.filter { position in
            self.interfaces[position].flags.contains(.up) || self.interfaces[position].isHardware == true
                || self.assessments.values[position].isStartable
        }
        let listed = (worthListing.isEmpty ? candidates : worthListing).map { position in
            let reason = self.assessments.values[position].reason
            let isAlternative = reason.code == .noRoute && self.interfaces[position].defaultRoutes?.isEmpty == false
            return Self.listed(
                self.interfaces[position],
                reason: isAlternative ? .alternative(self.interfaces[position]) : reason
            )
        }
        let (status, reason) = self.decision(findings, candidates: candidates)
        return Verdict(status, reason, interfaces: listed)
    }

    private func decision(
        _ findings: [FamilyFinding],
        candidates: [Int]
    ) -> (PathStatus, PathReason) {
        for case .rejected(let rejection, let destination) in findings {
            return (
                .unsatisfied,
                PathReason(.routeRejects, "a route of type \(rejection.rawValue) takes packets to \(destination)")
            )
        }
        for case .egressUnusable(let index) in findings {
            guard self.byIndex[index]?.type != .loopback else { continue }
            if self.isIgnored(index) {
                let message = "the kernel's route uses \(self.name(index)), which the configuration says to ignore"
                return (.unsatisfied, PathReason(.ignoredInterface, message))
            }
            if let assessment = self.assessments[index], !assessment.isUsable {
                return (assessment.isStartable ? .requiresConnection : .unsatisfied, assessment.reason)
            }
            let name = self.name(index)
            return (.unsatisfied, PathReason(.noCarrier, "the route through \(name) has lost its link"))
        }
        for code in Self.startableOrder {
            let step = candidates.first { self.assessments.values[$0].isStartable && self.hasReason(code, $0) }
            if let step { return (.requiresConnection, self.assessments.values[step].reason) }
        }
        for case .noSource(let index) in findings {
            let name = self.name(index)
            return (.unsatisfied, PathReason(.noAddress, "\(name) has a route but no usable source address"))
        }
        // Hardware first: that a container bridge has an address but no route explains nothing when the cable is out.
        let hardware = candidates.filter { self.interfaces[$0].isHardware == true }
        for pool in [hardware, candidates] {
            for code in Self.unsatisfiedOrder {
                if let blocked = pool.first(where: { self.hasReason(code, $0) }) {
                    return (.unsatisfied, self.assessments.values[blocked].reason)
                }
            }
        }
        return candidates.isEmpty
            ? (.unsatisfied, PathReason(.noInterface, "there is no network interface besides loopback"))
            : (.unsatisfied, PathReason(.allDown, "every network interface is administratively down"))
    }

    private func hasReason(_ code: PathReason.Code, _ position: Int) -> Bool {
        self.assessments.values[position].reason.code == code
    }

    /// Strongest first: the step that is closest to a path.
    private static let startableOrder: [PathReason.Code] = [
        .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected, .dialOnDemand,
    ]
    /// Closest to a path first.
    private static let unsatisfiedOrder: [PathReason.Code] = [.noRoute, .noAddress, .noCarrier, .radioBlocked]
}

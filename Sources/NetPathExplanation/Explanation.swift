// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// Why evidence leads to a verdict, for people.
///
/// Texts quote names as the kernel gives them, which may hold any character: make them printable before showing them.
public struct Explanation: Hashable, Sendable {
    /// The rule that decided, and how it applied: one of `Evidence.verdict(policy:now:)`, or one about several backends.
    public var rule: String
    /// What was asked and answered, one fact each: routes first, then interface by interface.
    public var evidence: [String]
    /// What would bring a path, or close the gaps of one, each a suggestion with the command to type.
    public var remedies: [String]

    /// Creates an explanation from its parts.
    public init(rule: String, evidence: [String], remedies: [String]) {
        self.rule = rule
        self.evidence = evidence
        self.remedies = remedies
    }
}

extension Evidence {
    /// Explains a verdict that was reached on this evidence.
    ///
    /// Pure, as `verdict(policy:now:)` is.
    ///
    /// - Parameters:
    ///   - verdict: What `verdict(policy:now:)` made of it.
    ///   - policy: What the verdict depends on besides the evidence.
    ///   - now: The present moment.
    ///   - describingErrors: The words for an error number of the system, such as those of `strerror(3)`.
    /// - Returns: The rule, the evidence and the remedies.
    public func explanation(
        of verdict: Verdict?,
        policy: EvaluationPolicy = EvaluationPolicy(),
        now: MonotonicTime,
        describingErrors: (Int32) -> String = { "errno \($0)" }
    ) -> Explanation {
        let assessed = AssessedEvidence(self.ofThisMachine, policy: policy, now: now)
        var facts = assessed.facts(describingErrors: describingErrors)
        if let conclusion = self.ofThisMachine.conclusion, let verdict {
            let words = conclusion.facts(beside: verdict)
            // What would change the statement of the backend is unknown.
            if verdict.isStated { return Explanation(rule: conclusion.rule, evidence: words + facts, remedies: []) }
            facts += words
        }
        return Explanation(
            rule: assessed.rule(for: verdict),
            evidence: facts,
            remedies: verdict.map(assessed.remedies) ?? assessed.remediesWithoutVerdict
        )
    }
}

extension AssessedEvidence {
    /// The interfaces the kernel chose although they cannot carry packets, with the families it did so for.
    var deadEgress: [(index: UInt32, family: AddressFamily)] {
        var found: [(index: UInt32, family: AddressFamily)] = []
        for question in self.evidence.referenceRoutes {
            guard case .route(let route) = question.answer,
                let nextHop = route.nextHops.first, route.nextHops.allSatisfy({ self.canCarry($0) == false })
            else { continue }
            let entry = (nextHop.interfaceIndex, question.destination.family)
            if !found.contains(where: { $0 == entry }) { found.append(entry) }
        }
        return found
    }

    // MARK: The rule

    func rule(for verdict: Verdict?) -> String {
        guard let verdict else {
            return self.evidence.interfaces == nil && self.evidence.probes == nil
                ? "No rule applies: the backend reported no interfaces, no probes and no conclusion."
                : "No rule applies: evidence is missing, and \"unsatisfied\" needs positive evidence."
        }
        if self.evidence.interfaces == nil {
            return "Only probes decide: satisfied when any target answers, unsatisfied when a whole round fails."
        }
        if verdict.status == .satisfied {
            return """
                Rule 1, satisfied: for at least one family the kernel would route a packet to every reference destination \
                address through a usable interface, with a usable source address. This is about routing, for a TCP packet \
                of this user to port 443: netpath does not check firewalls or the remote host, and IPsec policies only as root.
                """
        }
        if verdict.reason.code == .gatewaySilent {
            return """
                Unsatisfied because the configuration says `merge.gateways: required`: the kernel routes packets to the \
                internet, and no gateway in use answers.
                """
        }
        let outlook = self.outlook(self.findings)
        let other = outlook.family == .ipv4 ? AddressFamily.ipv6 : .ipv4
        return Self.rule(outlook.closeness)
            + (outlook.differs
                ? " Of the two families \(outlook.family.name) is closer to a path than \(other.name)." : "")
    }

    private static func rule(_ closeness: FamilyOutlook.Closeness) -> String {
        switch closeness {
        case .rejected: "Rule 2, unsatisfied: something refuses or discards the packets."
        case .ignoredEgress:
            """
            Rule 2, unsatisfied: the kernel sends the packets to an interface that the configuration says to ignore.
            """
        case .deadEgress:
            """
            Rule 2, unsatisfied: the kernel sends the packets to an interface that cannot carry them, so they \
            are lost even if another interface could carry them.
            """
        case .stepOfEgress, .stepElsewhere:
            "Rule 3, requiresConnection: a step is pending, or can be started, that may bring a path."
        case .noSource, .noRoute, .nothing:
            """
            Rule 4, unsatisfied: the kernel routes no packet to the internet, and no step is pending; the \
            reason is that of the interface closest to a path.
            """
        }
    }
}

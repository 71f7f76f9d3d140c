// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Gateways that do not answer: the kernel drops what it sends through them, and no route says so.
extension AssessedEvidence {
    /// Whether the next hop of a leg answers; nil when nobody knows, or the link has no gateways.
    func answers(_ leg: RouteLeg) -> Bool? {
        guard let address = leg.gateway else { return nil }
        return self.observation.gateways.first {
            $0.address == address && $0.interfaceIndex == leg.interfaceIndex
        }?.answers
    }

    /// What the reason of a path says of them; empty when all answer.
    func silenceText(_ gateways: [Gateway]) -> String {
        let silent = gateways.filter { $0.answers == false }.map(\.address.description)
        if silent.isEmpty { return "" }
        return "; " + Self.sentence(about: silent)
    }

    static func sentence(about silent: [String]) -> String {
        silent.count == 1
            ? "the gateway \(silent[0]) does not answer"
            : "the gateways \(silent.joined(separator: " and ")) do not answer"
    }

    // MARK: For people

    /// What is known of gateways, one fact each.
    var gatewayFacts: [String] {
        self.observation.gateways.compactMap { gateway in
            gateway.answers.map { answers in
                "Gateway \(gateway.address) on \(self.name(gateway.interfaceIndex)): "
                    + (answers ? "answers" : "does not answer, so that the kernel drops packets through it")
            }
        }
    }

    func remedies(forSilentAmong gateways: [Gateway]) -> [String] {
        gateways.filter { $0.answers == false }.map { gateway in
            let name = self.name(gateway.interfaceIndex)
            let ports = self.byIndex[gateway.interfaceIndex]?.membersWithoutCarrier ?? []
            let cables = ports.isEmpty ? "" : ", and the cable of \(ports.joined(separator: " and "))"
            return """
                Look whether the router \(gateway.address) is switched on, and whether \(name) is connected to its \
                network\(cables): `ip neighbour show dev \(shellWord(name))` lists who answers
                """
        }
    }
}

extension Verdict {
    /// Makes a satisfied verdict unsatisfied where every way leads through a gateway that does not answer.
    mutating func requireGateways(_ findings: [FamilyFinding]) {
        var ways = 0
        for case .routed(let hops) in findings { ways += hops.count { $0.leg.gateway == nil } }
        guard ways == 0, !self.gateways.isEmpty, self.gateways.allSatisfy({ $0.answers == false }) else { return }
        self.status = .unsatisfied
        let sentence = AssessedEvidence.sentence(about: self.gateways.map(\.address.description))
        self.reason = PathReason(.gatewaySilent, sentence)
        self.families = []
    }
}

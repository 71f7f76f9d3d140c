// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Gateways that do not answer: the kernel drops what it sends through them, and no route says so.
extension AssessedEvidence {
    /// Whether the next hop of a next hop answers; nil when it is unknown, or the link has no gateways.
    func answers(_ nextHop: NextHop) -> Bool? { self.gateway(of: nextHop)?.answers }

    /// What is known of the next hop of a next hop; nil when nothing is.
    func gateway(of nextHop: NextHop) -> Gateway? {
        self.evidence.gateways.first {
            $0.address == nextHop.gateway && $0.interfaceIndex == nextHop.interfaceIndex
        }
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
}

extension Verdict {
    /// Makes a satisfied verdict unsatisfied where every way leads through a gateway that does not answer.
    mutating func requireGateways(_ findings: [FamilyFinding]) {
        var ways = 0
        for case .routed(let hops) in findings { ways += hops.count { $0.nextHop.gateway == nil } }
        guard ways == 0, !self.gateways.isEmpty, self.gateways.allSatisfy({ $0.answers == false }) else { return }
        self.status = .unsatisfied
        let sentence = AssessedEvidence.sentence(about: self.gateways.map(\.address.description))
        self.reason = PathReason(.gatewaySilent, sentence)
        self.families = []
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a monitor has to say about a network.
struct ExpectedVerdict: Hashable, Sendable, CustomStringConvertible {
    var status: String
    var reason: String
    var hasIPv4 = false
    var hasIPv6 = false
    /// The names of the interfaces that packets leave through, the preferred one first.
    var egress: [String] = []

    var description: String {
        "\(self.status)(\(self.reason)) IPv4 \(self.hasIPv4) IPv6 \(self.hasIPv6) through \(self.egress)"
    }
}

extension NetworkModel {
    /// The verdict of the rules in `Evaluation.md`, found in another way than `evaluate` finds it: from the state of the
    /// network and not from evidence.
    var verdict: ExpectedVerdict {
        let findings = Family.allCases.map { self.finding($0) }
        var egress: [Int] = []
        for case .path(let interfaces) in findings {
            egress += interfaces.filter { !egress.contains($0) }
        }
        if !egress.isEmpty {
            return ExpectedVerdict(
                status: "satisfied",
                reason: "routed",
                hasIPv4: findings[0].isPath,
                hasIPv6: findings[1].isPath,
                egress: egress.compactMap { self.interface($0)?.name }
            )
        }
        return ExpectedVerdict(status: "unsatisfied", reason: self.reason(findings))
    }

    /// Whether a monitor that has watched may say this.
    ///
    /// Where nothing but the state of interfaces keeps packets from leaving, it names that of one that had a route before, of
    /// which the network shows nothing any more. A route that refuses the packets of the other family is nearer to a path then,
    /// unless that interface could send those of both.
    func allows(_ said: ExpectedVerdict) -> Bool {
        var expected = self.verdict
        if said == expected { return true }
        let closest = zip(Family.allCases, Family.allCases.map { self.finding($0) }).map(self.outlook)
        let isRefused = closest.contains { $0.reason == "routeRejects" }
        guard closest.allSatisfy({ $0.distance >= 3 }),
            isRefused
                ? said.reason == "routeRejects" && self.interfaces.contains(where: { !$0.lacksOnlyRoutes })
                : self.interfaces.contains(where: { $0.obstacle == said.reason })
        else { return false }
        expected.reason = said.reason
        return said == expected
    }

    private enum Finding: Hashable {
        case rejected
        case deadEnd
        case sourceless
        case nothing
        case path([Int])

        var isPath: Bool { if case .path = self { true } else { false } }
    }

    /// A family has a path when both halves of its address space have one; else the gravest obstacle counts.
    private func finding(_ family: Family) -> Finding {
        let halves = [0, 1].map { self.finding(family, half: $0) }
        for obstacle in [Finding.rejected, .deadEnd, .sourceless, .nothing] where halves.contains(obstacle) {
            return obstacle
        }
        var egress: [Int] = []
        for case .path(let interfaces) in halves { egress += interfaces.filter { !egress.contains($0) } }
        return .path(egress)
    }

    private func finding(_ family: Family, half: Int) -> Finding {
        switch self.answer(family, half: half) {
        case .noRoute: return .nothing
        case .rejected: return .rejected
        case .routed(let nextHops):
            let alive = nextHops.filter { !$0.isDead && self.interface($0.interface)?.hasCarrier == true }
            if alive.isEmpty { return .deadEnd }
            // The kernel takes any address of the namespace rather than none, also one of an interface that is down;
            // IPv6 addresses do not survive that.
            let hasSource = self.interfaces.contains { !$0.addresses(of: family).isEmpty }
            return hasSource ? .path(alive.map(\.interface)) : .sourceless
        }
    }

    /// The family that is closest to a path decides.
    private func reason(_ findings: [Finding]) -> String {
        zip(Family.allCases, findings).map(self.outlook).min { $0.distance < $1.distance }?.reason ?? "noInterface"
    }

    /// How far a family is from a path, and why.
    private func outlook(_ family: Family, _ finding: Finding) -> (distance: Int, reason: String) {
        let alive = self.interfaces.filter(\.hasCarrier)
        let isAddressed = alive.contains { !$0.addresses(of: family).isEmpty }
        return switch finding {
        case .path: (0, "routed")
        case .deadEnd: (1, "noCarrier")
        case .sourceless: (2, "noAddress")
        case .nothing where isAddressed: (3, "noRoute")
        case .rejected where isAddressed: (3, "routeRejects")
        case .nothing, .rejected: (4, self.reasonOfInterfaces(alive))
        }
    }

    private func reasonOfInterfaces(_ alive: [Interface]) -> String {
        if alive.contains(where: { !$0.addresses.isEmpty }) { return "noRoute" }
        if !alive.isEmpty { return "noAddress" }
        if self.interfaces.contains(where: \.isUp) { return "noCarrier" }
        return self.interfaces.isEmpty ? "noInterface" : "allDown"
    }
}

extension NetworkModel.Interface {
    /// Whether only routes keep it from sending packets of either family.
    fileprivate var lacksOnlyRoutes: Bool {
        self.hasCarrier && NetworkModel.Family.allCases.allSatisfy { !self.addresses(of: $0).isEmpty }
    }

    /// What keeps it from carrying a path, but for a route.
    fileprivate var obstacle: String {
        self.isUp ? self.isPlugged ? self.addresses.isEmpty ? "noAddress" : "noRoute" : "noCarrier" : "interfaceDown"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The next hops of a multipath route that lose what the kernel sends there, while others carry their share.
///
/// Which destinations are lost is the kernel's choice, by a hash of their addresses: a path with gaps is a path still,
/// and has to be called one with gaps.
package struct LostHops: Hashable {
    package var family: AddressFamily
    package var nextHops: [NextHop]
    /// How many next hops the kernel uses, these included.
    var count: Int
    /// Their share of the packets in percent, where the shares differ; nil where all are alike.
    var share: UInt32?
    /// The reference destinations that the kernel's hash loses, where these are more than half of them.
    var destinations: [InternetAddress] = []
}

extension AssessedEvidence {
    /// The lost next hops of each family.
    package var lostHops: [LostHops] {
        // In place: a route is large.
        guard self.evidence.referenceRoutes.contains(where: { $0.answer.nextHops.count > 1 }) else { return [] }
        return AddressFamily.allCases.compactMap { family in
            let questions = self.evidence.referenceRoutes.filter { $0.destination.family == family }
            var worst: LostHops?
            for case .route(let route) in questions.map(\.answer) where route.nextHops.count > 1 {
                let used = route.nextHops.filter { !$0.isPassedOver && !self.isIgnored($0.interfaceIndex) }
                let lost = used.filter { self.canCarry($0) == false }
                guard !lost.isEmpty, lost.count < used.count, lost.count > worst?.nextHops.count ?? 0 else { continue }
                let share = Self.share(lost, of: used)
                worst = LostHops(family: family, nextHops: lost, count: used.count, share: share)
            }
            let destinations = questions.filter { self.isLostByHash($0.answer) }.map(\.destination)
            if destinations.count * 2 > questions.count { worst?.destinations = destinations }
            return worst
        }
    }

    /// Whether the kernel's hash picks a next hop for a packet that loses it.
    package func isLostByHash(_ answer: RouteLookupResult) -> Bool {
        guard case .route(let route) = answer, let nextHop = route.hashedNextHop else { return false }
        return self.canCarry(nextHop) == false
    }

    private static func share(_ lost: [NextHop], of used: [NextHop]) -> UInt32? {
        guard Set(used.map { $0.weight ?? 1 }).count > 1 else { return nil }
        let weights = [lost, used].map { $0.reduce(0) { $0 + UInt64($1.weight ?? 1) } }
        // Neither all nor nothing.
        return UInt32(min(max((weights[0] * 200 + weights[1]) / (weights[1] * 2), 1), 99))
    }

    /// What the reason of a path says of them: "half of the next hops, through wan1, lose packets".
    func description(_ lost: LostHops, amongSeveralFamilies: Bool) -> String {
        let family = amongSeveralFamilies ? "\(lost.family.name) " : ""
        var hops = "\(lost.nextHops.count) of \(lost.count) \(family)next hops"
        if lost.nextHops.count * 2 == lost.count { hops = "half of the \(family)next hops" }
        if let share = lost.share { hops = "\(family)next hops with \(share) % of the packets" }
        let destinations = lost.destinations.map(\.description).joined(separator: " and ")
        return "\(hops), through \(self.names(lost)), lose packets"
            + (destinations.isEmpty ? "" : ", those to \(destinations) among them")
    }

    private func names(_ lost: LostHops) -> String {
        var names: [String] = []
        for nextHop in lost.nextHops where !names.contains(self.name(nextHop.interfaceIndex)) {
            names.append(self.name(nextHop.interfaceIndex))
        }
        return names.joined(separator: " and ")
    }

    /// Why packets through a next hop are lost.
    func reason(_ nextHop: NextHop) -> PathReason {
        if let assessment = self.assessments[nextHop.interfaceIndex], !assessment.isUsable { return assessment.reason }
        if let port = self.lostPort(of: nextHop) {
            return PathReason(.noCarrier, "\(port), the port to the gateway, has no link")
        }
        return PathReason(.noCarrier, "the route through \(self.name(nextHop.interfaceIndex)) has lost its link")
    }
}

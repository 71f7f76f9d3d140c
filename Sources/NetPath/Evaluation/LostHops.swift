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
}

extension AssessedEvidence {
    /// The lost next hops of each family.
    package var lostHops: [LostHops] {
        AddressFamily.allCases.compactMap { family in
            for question in self.evidence.referenceRoutes where question.destination.family == family {
                guard case .route(let route) = question.answer, route.nextHops.count > 1 else { continue }
                let used = route.nextHops.filter { !$0.isPassedOver && !self.isIgnored($0.interfaceIndex) }
                let lost = used.filter { self.canCarry($0) == false }
                if !lost.isEmpty, lost.count < used.count {
                    return LostHops(family: family, nextHops: lost, count: used.count)
                }
            }
            return nil
        }
    }

    /// What the reason of a path says of them: "half of the next hops, through wan1, lose packets".
    func description(_ lost: LostHops, amongSeveralFamilies: Bool) -> String {
        let share = lost.nextHops.count * 2 == lost.count ? "half of the" : "\(lost.nextHops.count) of \(lost.count)"
        let hops = amongSeveralFamilies ? "\(lost.family.name) next hops" : "next hops"
        return "\(share) \(hops), through \(self.names(lost)), lose packets"
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
        return PathReason(.noCarrier, "the route through \(self.name(nextHop.interfaceIndex)) has lost its link")
    }
}

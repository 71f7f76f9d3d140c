// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkModel {
    /// What the kernel answers about a packet to one half of a family's address space.
    enum Answer: Hashable, Sendable {
        case noRoute
        case rejected(Rejection)
        case routed([Leg])
    }

    /// Searches the tables as the policy rules say.
    func answer(_ family: Family, half: Int) -> Answer {
        let rules =
            self.rules.filter { $0.family == family }.sorted { $0.priority < $1.priority }
            + [Rule(family: family, priority: 32_766, table: Self.mainTable)]
        for rule in rules {
            guard let route = self.lookup(family, half: half, table: rule.table) else { continue }
            switch route.target {
            case .nextRule: continue
            // A rule that suppresses default routes does so only with those that lead somewhere.
            case .rejection(let rejection): return .rejected(rejection)
            case .nextHops(let nextHops):
                if rule.suppressesDefaults, route.destination == .everything { continue }
                return .routed(nextHops)
            }
        }
        return .noRoute
    }

    /// The most specific route of a table, then the one with the lowest metric, that is not out of use.
    private func lookup(_ family: Family, half: Int, table: Int) -> Route? {
        self.routes
            .filter { $0.family == family && $0.table == table && $0.destination.covers(half) && self.isInUse($0) }
            .min { left, right in
                left.destination.specificity == right.destination.specificity
                    ? left.metric < right.metric : left.destination.specificity > right.destination.specificity
            }
    }

    private func isInUse(_ route: Route) -> Bool {
        guard case .nextHops(let nextHops) = route.target else { return true }
        return nextHops.contains { nextHop in
            !nextHop.isDead
                && (!self.ignoresRoutesWithoutCarrier || self.interface(nextHop.interface)?.hasCarrier == true)
        }
    }
}

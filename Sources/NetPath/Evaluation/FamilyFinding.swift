// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A hop that packets leave through, and the route it belongs to.
package struct RoutedHop: Hashable {
    var family: AddressFamily
    var nextHop: NextHop
    var metric: UInt32?
    var table: UInt32?
}

/// What the kernel's answers mean for one family.
package enum FamilyFinding: Hashable {
    /// Packets leave through these hops: the usable ones towards the first reference destination, then those that others add.
    case routed([RoutedHop])
    /// A route refuses them.
    case rejected(RouteRejection)
    /// They would leave through an interface that cannot carry them.
    case egressUnusable(UInt32)
    /// A route exists, but the kernel has no usable address to send from.
    case noSource(UInt32)
    /// There is no route, at least for one half of the address space.
    case noRoute
    /// The evidence does not tell.
    case unknown

    /// Which finding speaks for the family, whichever half of the address space it comes from.
    fileprivate var gravity: Int {
        switch self {
        case .routed: 0
        case .unknown: 1
        case .noRoute: 2
        case .noSource: 3
        case .egressUnusable: 4
        case .rejected: 5
        }
    }
}

extension AssessedEvidence {
    /// What the kernel's answers mean for each family.
    package var findings: [FamilyFinding] { AddressFamily.allCases.map { self.finding(for: $0) } }

    /// What the answers for all reference destinations of a family mean: every one of them has to be routed.
    private func finding(for family: AddressFamily) -> FamilyFinding {
        let questions = self.evidence.referenceRoutes
        var gravest: FamilyFinding?
        var hops: [RoutedHop] = []
        var former: Int?
        for position in questions.indices where questions[position].destination.family == family {
            // Mostly they are all the same.
            if let former, questions[former].answer == questions[position].answer { continue }
            former = position
            let finding = self.finding(of: questions[position].answer, family)
            if case .routed(let found) = finding {
                for hop in found where !hops.contains(where: { $0.nextHop == hop.nextHop }) { hops.append(hop) }
            }
            if gravest.map({ finding.gravity > $0.gravity }) ?? true { gravest = finding }
        }
        if case .routed = gravest { return .routed(hops) }
        return gravest ?? .unknown
    }

    /// What one answer means, about a host or, without one, about the internet.
    func finding(
        of answer: RouteLookupResult,
        _ family: AddressFamily,
        to host: InternetAddress? = nil
    ) -> FamilyFinding {
        switch answer {
        case .unknown: return .unknown
        case .noRoute: return .noRoute
        case .rejected(let rejection): return .rejected(rejection)
        case .route(let route):
            // While lo is down the default route gets them, and no other machine takes them (RFC 1122 section 3.2.1.3).
            if host?.isLoopback == true, !route.nextHops.allSatisfy({ self.isLoopback($0.interfaceIndex) }) {
                return .noRoute
            }
            // The packets that hash to this next hop leave there, whatever the others can do.
            if let ignored = route.nextHops.first(where: { self.isIgnored($0.interfaceIndex) && !self.isDead($0) }) {
                return .egressUnusable(ignored.interfaceIndex)
            }
            var possible: NextHop?
            var usable: [RoutedHop] = []
            // Packets to one host all go through the next hop that the kernel's hash picks.
            let hashed = host == nil ? nil : route.hashedNextHop
            let nextHops = hashed.map { [$0] } ?? route.nextHops
            for nextHop in nextHops {
                let verdict = host == nil ? self.canCarry(nextHop) : self.canReachHost(through: nextHop, answer)
                if verdict != false, possible == nil { possible = nextHop }
                guard verdict == true else { continue }
                usable.append(RoutedHop(family: family, nextHop: nextHop, metric: route.metric, table: route.table))
            }
            // Of next hops that all fail the kernel still takes one, but none through an interface that is down.
            guard let nextHop = possible ?? nextHops.first(where: { !self.isDead($0) }) ?? nextHops.first
            else { return .unknown }
            if possible == nil { return .egressUnusable(nextHop.interfaceIndex) }
            switch route.source {
            case .none: return .noSource(nextHop.interfaceIndex)
            case .address(let source) where !self.isUsableSource(source, to: host, route):
                return .noSource(nextHop.interfaceIndex)
            case .address, .unknown: break
            }
            return usable.isEmpty ? .unknown : .routed(usable)
        }
    }
}

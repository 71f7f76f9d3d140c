// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What has to happen before a family without a path has one.
package struct FamilyOutlook: Hashable {
    /// How close a family is to a path, the closest first: what can happen by itself or by one act comes before what
    /// a user decided.
    package enum Closeness: CaseIterable {
        /// The interface that the kernel chose has a step pending, or one that can be started.
        case stepOfEgress
        /// The kernel sends the packets to an interface that cannot carry them: they are lost until its link is back.
        case deadEgress
        /// Another interface has a step pending, or one that can be started.
        case stepElsewhere
        /// There is a route, but no usable address to send from.
        case noSource
        /// There is an address of the family, but no route.
        case noRoute
        /// The configuration says to ignore the interface that the kernel chose, or that it is loopback.
        case ignoredEgress
        /// A route or a rule refuses the packets, and nothing else is in the way.
        case rejected
        /// There is neither a route nor an address of the family.
        case nothing

        /// The rank; what no step will change is as far away whatever would have to change.
        var rank: Int {
            switch self {
            case .stepOfEgress: 0
            case .deadEgress: 1
            case .stepElsewhere: 2
            case .noSource: 3
            case .noRoute, .ignoredEgress, .rejected: 4
            case .nothing: 5
            }
        }
    }

    package var family: AddressFamily
    package var closeness: Closeness
    var status: PathStatus
    package var reason: PathReason
    /// The interfaces the reason is about, the one that it names first.
    package var interfaces: [UInt32]
    /// Whether the machine uses the family at all: a route or an address is configured.
    var isInUse: Bool
    /// Whether the other family is in use too, and has another reason.
    package var differs = false
}

extension AssessedEvidence {
    /// The outlook of the family that is closest to a path; between equals that of IPv4.
    ///
    /// Its reason begins with the name of the family when the other one has another reason.
    package func outlook(_ findings: [FamilyFinding]) -> FamilyOutlook {
        let pools = self.pools
        let outlooks = zip(AddressFamily.allCases, findings).map { self.outlook(of: $0, $1, pools) }
        var best = outlooks[0]
        for outlook in outlooks.dropFirst() where outlook.closeness.rank < best.closeness.rank {
            best = outlook
        }
        if outlooks.contains(where: { $0.isInUse && $0.reason != best.reason }) {
            best.differs = true
            best.reason.message = "\(best.family.name): \(best.reason.message)"
        }
        return best
    }

    private func outlook(of family: AddressFamily, _ finding: FamilyFinding, _ pools: [[Int]]) -> FamilyOutlook {
        func outlook(
            _ closeness: FamilyOutlook.Closeness,
            _ reason: PathReason,
            _ interfaces: [UInt32],
            status: PathStatus = .unsatisfied
        ) -> FamilyOutlook {
            FamilyOutlook(
                family: family,
                closeness: closeness,
                status: status,
                reason: reason,
                interfaces: interfaces,
                isInUse: finding != .noRoute || closeness == .noRoute
            )
        }
        switch finding {
        case .egressUnusable(let index) where self.isIgnored(index) || self.rule(index)?.type == .loopback:
            let word = self.isIgnored(index) ? "to ignore" : "is loopback"
            let message = "the kernel's route uses \(self.name(index)), which the configuration says \(word)"
            return outlook(.ignoredEgress, PathReason(.ignoredInterface, message), [index])
        // As good as a route that refuses.
        case .egressUnusable(let index) where self.discards(index):
            guard self.couldSend(family, pools), let assessment = self.assessments[index] else { break }
            return outlook(.rejected, assessment.reason, [index])
        case .egressUnusable(let index) where self.byIndex[index]?.type != .loopback:
            let reason = self.reason(NextHop(interfaceIndex: index))
            let cause = self.cause(of: index)
            guard let assessment = self.assessments[index], !assessment.isUsable, assessment.isStartable else {
                return outlook(.deadEgress, reason, [cause])
            }
            return outlook(.stepOfEgress, reason, [cause], status: .requiresConnection)
        // Back to this machine, where nothing answers for others.
        case .egressUnusable(let index) where self.couldSend(family, pools):
            let message = "the route to the internet leads back to this machine, to \(self.name(index))"
            return outlook(.rejected, PathReason(.routeRejects, message), [index])
        case .noSource(let index):
            if let assessment = self.assessments[index], assessment.isStartable {
                return outlook(.stepOfEgress, assessment.reason, [index], status: .requiresConnection)
            }
        case .rejected(.ipsecOnDemand) where self.couldSend(family, pools):
            let reason = PathReason(.dialOnDemand, "IPsec is negotiated when there is traffic")
            return outlook(.stepOfEgress, reason, [], status: .requiresConnection)
        case .rejected(let rejection) where self.couldSend(family, pools):
            return outlook(.rejected, self.reason(rejection, family), [])
        case .routed, .egressUnusable, .rejected, .noRoute, .unknown: break
        }
        if let (reason, interfaces) = self.step {
            return outlook(.stepElsewhere, reason, interfaces, status: .requiresConnection)
        }
        if case .noSource(let index) = finding {
            // That another machine has the address says more than that there is none.
            if let reason = self.assessments[index]?.reason, reason.code == .noAddress, self.isTaken(index) {
                return outlook(.noSource, reason, [index])
            }
            let message = "\(self.name(index)) has a route but no usable source address"
            return outlook(.noSource, PathReason(.noAddress, message), [index])
        }
        var obstacle = self.obstacle(for: family, pools)
        if obstacle.isAddressed, let missing = self.missingPart(of: family) {
            obstacle.reason = PathReason(.noRoute, "there is no route to \(missing)")
        }
        return outlook(obstacle.isAddressed ? .noRoute : .nothing, obstacle.reason, obstacle.interfaces)
    }

    /// Whether another machine has an address of the interface.
    package func isTaken(_ index: UInt32) -> Bool {
        self.byIndex[index]?.addresses.contains { $0.state.contains(.duplicate) } == true
    }

    /// A reference destination without a route, when others of the family have one.
    private func missingPart(of family: AddressFamily) -> InternetAddress? {
        let asked = self.evidence.referenceRoutes.lazy.filter { $0.destination.family == family }
        guard asked.contains(where: { $0.answer != .noRoute }) else { return nil }
        return asked.first { $0.answer == .noRoute }?.destination
    }

    // MARK: Routes that refuse

    /// Whether an interface that leads outside could send packets of a family, so that only a route keeps it from that.
    private func couldSend(_ family: AddressFamily, _ pools: [[Int]]) -> Bool {
        let uplinks = pools.first { !$0.isEmpty } ?? []
        return uplinks.contains { self.assessments.values[$0].isUsable && self.interfaces[$0].canSend(family) }
    }

    private func reason(_ rejection: RouteRejection, _ family: AddressFamily) -> PathReason {
        let asked = self.evidence.referenceRoutes.filter { $0.destination.family == family }
        let refused = asked.filter { $0.answer == .rejected(rejection) }.map(\.destination)
        let some = refused.map(\.description).joined(separator: ", ")
        let packets = refused.count == asked.count ? "packets" : "packets to \(some)"
        return PathReason(.routeRejects, "\(rejection.description) refuses \(packets)")
    }

    // MARK: What interfaces say

    /// The strongest step that is pending or can be started, with the interfaces that have it.
    private var step: (PathReason, [UInt32])? {
        let startable = self.candidatePositions.filter { self.assessments.values[$0].isStartable }
        let codes = startable.map { self.assessments.values[$0].code }
        // What backends state may have codes of its own.
        guard let code = PathReason.Code.steps.first(where: codes.contains) ?? codes.first else { return nil }
        let steps = startable.filter { self.assessments.values[$0].code == code }
        return (self.assessments.values[steps[0]].reason, steps.map { self.interfaces[$0].index })
    }

    /// What keeps the interface that is closest to a path from carrying one.
    private func obstacle(
        for family: AddressFamily,
        _ pools: [[Int]]
    ) -> (reason: PathReason, interfaces: [UInt32], isAddressed: Bool) {
        // What carried the path and is still there says more than what never did, however close that looks: a device's own
        // LAN has an address and no route for ever.
        let former = pools[1].filter {
            // A line that was hung up is down by itself; what it ran over says why. What discards packets carried none.
            self.interfaces[$0].hadDefaultRoute == true && !self.discards(self.interfaces[$0].index)
                && (self.interfaces[$0].kind != "ppp" || self.interfaces[$0].flags.contains(.up))
        }
        let isAnyUp = self.candidatePositions.contains { self.assessments.values[$0].code != .interfaceDown }
        for pool in [former] + pools {
            let codes = pool.map { self.assessments.values[$0].code }
            let isDown = isAnyUp && pool == former && codes.contains(.interfaceDown)
            guard let code = Self.unsatisfiedOrder.first(where: codes.contains) ?? (isDown ? .interfaceDown : nil)
            else { continue }
            var found = pool.filter { self.assessments.values[$0].code == code }
            // One that has only a route to find speaks for the family first.
            let addressed = code == .noRoute ? found.filter { self.interfaces[$0].canSend(family) } : []
            found = addressed.isEmpty ? found : addressed
            var reason = self.assessments.values[found[0]].reason
            // Nothing tells which of them is meant to carry a path.
            let isUncertain =
                former.isEmpty && code == .noRoute && found.allSatisfy { self.interfaces[$0].isHardware == true }
            let others =
                if isUncertain {
                    self.hardware([.noCarrier, .noAddress])
                } else if pool == former {
                    // Nor which of those that carried one was the last.
                    found.dropFirst().prefix(2)
                } else {
                    // What is no hardware speaks while all hardware is down.
                    pool == pools[0] ? [] : self.hardware([.interfaceDown])
                }
            for other in others { reason.message += "; \(self.assessments.values[other].reason.message)" }
            if pool != former { found += others }
            return (reason, found.map { self.interfaces[$0].index }, !addressed.isEmpty)
        }
        guard let closest = pools.first(where: { !$0.isEmpty }) else {
            return (PathReason(.noInterface, "there is no network interface besides loopback"), [], false)
        }
        let reason = PathReason(.allDown, "every network interface is administratively down")
        return (reason, closest.map { self.interfaces[$0].index }, false)
    }

    /// The first pieces of hardware in one of some states.
    private func hardware(_ states: [PathReason.Code]) -> ArraySlice<Int> {
        self.candidatePositions.filter {
            self.interfaces[$0].isHardware == true && states.contains(self.assessments.values[$0].code)
        }.prefix(2)
    }

    /// The candidates by what their state explains: hardware and what is built on it first, since that a container
    /// bridge has an address but no route explains nothing when the cable is out; tunnels last, because they travel on
    /// the others.
    private var pools: [[Int]] {
        let links = self.candidatePositions.filter { !self.isTunnel(at: $0) }
        let lines = links.filter { self.isHardware(self.interfaces[$0]) || self.interfaces[$0].kind == "ppp" }
        return [lines, links, self.candidatePositions]
    }

    /// Closest to a path first.
    private static let unsatisfiedOrder: [PathReason.Code] = [
        .noRoute, .noAddress, .noCarrier, .radioBlocked, .routeRejects,
    ]
}

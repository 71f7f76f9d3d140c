// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What leads out of the machine besides tunnels, as far as tunnels may travel on it.
extension AssessedEvidence {
    /// The interfaces that lead out of the machine by themselves: hardware and what stands on it, a line to a provider
    /// (PPP), and anything else but a tunnel that a route to far away leaves through, such as a container's veth.
    ///
    /// - Parameter outer: What was asked about the packets of a tunnel, which may name further ones.
    /// - Returns: The uplinks, sorted by index.
    func uplinks(beside outer: TunnelEvidence) -> [NetworkInterface] {
        let candidates = self.uplinkCandidates
        let hasHardware = candidates.contains(where: self.isHardware)
        let beside = outer.interfacesBeside
        return candidates.filter { interface in
            self.isLine(interface) || interface.defaultRoutes?.isEmpty == false || beside.contains(interface.index)
                // On a host this is the other end of a container; in a container it is what there is.
                || (!hasHardware && interface.isParentElsewhere)
        }
    }

    /// The interface that is closest to carrying something: whose state explains best why nothing does.
    func bestUplink(among uplinks: [NetworkInterface]) -> UInt32? {
        // Where none is left: what may have been one before it lost its routes.
        let candidates = uplinks.isEmpty ? self.uplinkCandidates.filter { $0.kind == "veth" } : uplinks
        return candidates.map(\.index).min { (self.distance($0), $0) < (self.distance($1), $1) }
    }

    /// Whether an interface is in a state that explains by itself why packets find no route through it.
    func lacksRoute(_ index: UInt32) -> Bool {
        self.assessments[index]?.isUsable != true || self.byIndex[index]?.defaultRoutes?.isEmpty != false
    }

    // MARK: Parts

    private var uplinkCandidates: [NetworkInterface] { self.candidates.filter { !self.isTunnel($0) } }

    /// Whether an interface leads out of the machine whatever the routes are.
    func isLine(_ interface: NetworkInterface) -> Bool {
        self.rule(interface.index)?.isUplink == true || self.isHardware(interface) || interface.kind == "ppp"
    }

    /// Whether an interface is hardware or stands on it.
    func isHardware(_ interface: NetworkInterface) -> Bool {
        if interface.isHardware == true || interface.foundation == .hardware { return true }
        // Where a backend does not know, the type does.
        if interface.type == .wifi || interface.type == .cellular { return true }
        let parent = interface.parentOnItsWay.flatMap { self.byIndex[$0] }
        return parent?.isHardware == true || parent?.foundation == .hardware
    }

    /// How far an interface is from carrying packets.
    private func distance(_ index: UInt32) -> Int {
        guard let code = self.assessments[index]?.code else { return Self.closestFirst.count }
        return Self.closestFirst.firstIndex(of: code) ?? Self.closestFirst.count
    }

    private static let closestFirst: [PathReason.Code] =
        PathReason.Code.steps + [.noRoute, .noAddress, .noCarrier, .radioBlocked, .interfaceDown]
}

extension TunnelEvidence {
    /// The interfaces that a route to far away leaves through, dead or alive.
    var interfacesBeside: [UInt32] {
        self.routes.filter { $0.basis != .endpoint }.flatMap(\.answer.nextHops).map(\.interfaceIndex)
            + (self.gatewayedInterfaces ?? [])
    }
}

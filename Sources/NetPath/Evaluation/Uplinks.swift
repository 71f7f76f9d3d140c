// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What leads out of the machine besides tunnels, as far as tunnels may travel on it.
extension AssessedEvidence {
    /// The interfaces that lead out of the machine by themselves: hardware and what stands on it, a line to a provider
    /// (PPP), and anything else but a tunnel that a route to far away leaves through, such as a container's veth.
    ///
    /// - Parameter outer: What was asked about the packets of a tunnel, which may name further ones.
    /// - Returns: The uplinks, sorted by index.
    func uplinks(beside outer: TunnelEvidence?) -> [NetworkInterface] {
        let candidates = self.uplinkCandidates
        let hasHardware = candidates.contains(where: self.isHardware)
        return candidates.filter { self.isUplink($0, beside: outer, hasHardware: hasHardware) }
    }

    func isUsableUplink(_ index: UInt32, beside outer: TunnelEvidence?) -> Bool {
        guard let interface = self.byIndex[index], self.assessments[index]?.isUsable == true else { return false }
        return self.isUplinkCandidate(interface) && self.isUplink(interface, beside: outer, hasHardware: true)
    }

    /// Whether a route with a gateway that is no default leaves through a usable uplink.
    func hasUsableGateway(_ outer: TunnelEvidence?) -> Bool {
        outer?.gatewayedInterfaces?.contains { self.isUsableUplink($0, beside: outer) } == true
    }

    /// The interface that is closest to carrying something: whose state explains best why nothing does.
    func bestUplink(beside outer: TunnelEvidence?) -> UInt32? {
        let uplinks = self.uplinks(beside: outer)
        // Where none is left: what may have been one before it lost its routes.
        let candidates = uplinks.isEmpty ? self.uplinkCandidates.filter { $0.kind == "veth" } : uplinks
        return candidates.map(\.index).min { (self.distance($0), $0) < (self.distance($1), $1) }
    }

    /// Whether an interface is in a state that explains by itself why packets find no route through it.
    func lacksRoute(_ index: UInt32) -> Bool {
        self.assessments[index]?.isUsable != true || self.byIndex[index]?.defaultRoutes?.isEmpty != false
    }

    // MARK: Parts

    private var uplinkCandidates: [NetworkInterface] { self.interfaces.filter(self.isUplinkCandidate) }

    private func isUplinkCandidate(_ interface: NetworkInterface) -> Bool {
        interface.type != .loopback && interface.controllerIndex == nil && !self.isIgnored(interface.index)
            && !self.isTunnel(interface)
    }

    private func isUplink(_ interface: NetworkInterface, beside outer: TunnelEvidence?, hasHardware: Bool) -> Bool {
        if self.rule(interface.index)?.isUplink == true { return true }
        if self.isHardware(interface) || interface.kind == "ppp" || interface.defaultRoutes?.isEmpty == false {
            return true
        }
        if let outer, outer.names(interface.index) { return true }
        // On a host this is the other end of a container; in a container it is what there is.
        return !hasHardware && interface.isParentElsewhere
    }

    /// Whether an interface is hardware or stands on it.
    func isHardware(_ interface: NetworkInterface) -> Bool {
        if interface.isHardware == true || interface.foundation == .hardware { return true }
        // Where a backend does not know, the type does.
        if interface.type == .wifi || interface.type == .cellular { return true }
        let parent = interface.kind == "veth" ? nil : interface.underlyingIndex.flatMap { self.byIndex[$0] }
        return parent?.isHardware == true || parent?.foundation == .hardware
    }

    /// How far an interface is from carrying packets.
    private func distance(_ index: UInt32) -> Int {
        guard let code = self.assessments[index]?.reason.code else { return Self.closestFirst.count }
        return Self.closestFirst.firstIndex(of: code) ?? Self.closestFirst.count
    }

    private static let closestFirst: [PathReason.Code] = [
        .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected, .dialOnDemand, .noRoute,
        .noAddress,
        .noCarrier, .radioBlocked, .interfaceDown,
    ]
}

extension TunnelEvidence {
    /// Whether a route to far away leaves through an interface, dead or alive.
    fileprivate func names(_ index: UInt32) -> Bool {
        if self.gatewayedInterfaces?.contains(index) == true { return true }
        return self.routes.contains { outer in
            guard outer.basis != .endpoint, case .route(let route) = outer.answer else { return false }
            return route.nextHops.contains { $0.interfaceIndex == index }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Interfaces that look well and deliver packets nowhere: those of kinds that discard them, bridges without a port, and
// bridges whose port towards the gateway does not forward.
extension AssessedEvidence {
    /// Decides about those that a route leads to: of others that they have none says more.
    mutating func judgeDeadEnds() {
        for position in self.interfaces.indices where self.assessments.values[position].isUsable {
            // In place, here and below: an interface is large.
            let index = self.interfaces[position].index
            guard self.egress.contains(index) || self.interfaces[position].defaultRoutes?.isEmpty == false,
                let reason = self.deadEnd(at: position)
            else { continue }
            self.assessments.values[position] = .deadEnd(reason)
            self.deadEnds.insert(index)
        }
    }

    /// Why packets into an interface are delivered nowhere; nil when they may be delivered.
    func deadEnd(at position: Int) -> PathReason? {
        let index = self.interfaces[position].index
        // A VLAN ends where what it stands on does.
        let parent = self.interfaces[position].kind == "vlan" ? self.interfaces[position].underlyingIndex : nil
        let end = parent.flatMap { self.byIndex.position(of: $0) } ?? position
        if let port = self.lostPort(of: NextHop(interfaceIndex: index)) {
            return PathReason(.noCarrier, "\(port), the bridge port to the gateway, has no link")
        }
        // A backend that did not look for diversions cannot tell.
        let discards = self.interfaces[position].diversions == [] && self.interfaces[end].hasDiscardingKind
        guard self.interfaces[end].hasPorts == false || discards,
            ![index, self.interfaces[end].index].contains(where: { self.rule($0)?.isUplink == true })
        else { return nil }
        if discards { return PathReason(.routeRejects, self.interfaces[end].name + " discards every packet") }
        let lack = self.interfaces[end].kind == "bridge" ? "port" : "allowed MAC address (macvlan of mode source)"
        return PathReason(.noCarrier, "\(self.interfaces[end].name) has no \(lack)")
    }

    /// Whether an interface discards what is sent into it.
    package func discards(_ index: UInt32) -> Bool {
        self.deadEnds.contains(index) && self.assessments[index]?.code == .routeRejects
    }

    /// The interfaces that would discard packets, where it is unknown whether something takes them off before.
    package var divertedInterfaces: [UInt32] {
        self.interfaces.indices.compactMap { position in
            let index = self.interfaces[position].index
            return self.interfaces[position].diversions?.isEmpty == false && self.rule(index)?.isUplink != true
                ? index : nil
        }
    }

    /// The port of a bridge that a next hop is behind, and that does not forward; nil when there is none.
    ///
    /// Of a gateway of which that is not known what is known of the others behind the same interface counts: the cable is
    /// the same.
    func lostPort(of nextHop: NextHop) -> String? {
        guard self.knowsPlaces else { return nil }
        switch self.place(of: nextHop) {
        case .lost(let port): return port
        case .reachable: return nil
        case .unknown, nil: break
        }
        let places = self.evidence.gateways.filter { $0.interfaceIndex == nextHop.interfaceIndex }.compactMap(\.place)
        if places.contains(.reachable) { return nil }
        for case .lost(let port) in places { return port }
        return nil
    }

    /// Where a bridge has the gateway of a next hop; nil when it was not asked.
    func place(of nextHop: NextHop) -> BridgePlace? { self.gateway(of: nextHop)?.place }

    /// What the reason of a path says of what cannot be told about the ways it takes, each a part of a sentence.
    func doubts(about nextHops: [NextHop]) -> [String] {
        let diverted = self.divertedInterfaces
        if diverted.isEmpty, !self.knowsPlaces { return [] }
        var doubts: [String] = []
        for nextHop in nextHops {
            let name = self.name(nextHop.interfaceIndex)
            if case .unknown(let ports) = self.place(of: nextHop), let address = nextHop.gateway {
                let idle = ports.isEmpty ? "a port of \(name)" : Self.list(ports) + ", without a link"
                doubts.append("it is unknown whether the gateway \(address) is behind \(idle)")
            }
            guard diverted.contains(nextHop.interfaceIndex) else { continue }
            doubts.append("it is unknown whether anything takes the packets off \(name)")
        }
        return doubts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private static func list(_ ports: [String]) -> String {
        (ports.prefix(2) + (ports.count > 2 ? ["another port"] : [])).joined(separator: " or ")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the way of their outer packets means for the tunnels that the path leaves through.
extension AssessedEvidence {
    /// Decides about the tunnels that the kernel's answers lead into: those about the internet, about name servers, and
    /// about one host.
    ///
    /// One that nothing carries is not usable, and what keeps it from being so is what is wrong below it.
    mutating func judgeTunnels(towards host: RouteLookupResult?) {
        var indices = self.egress
        for position in self.evidence.dnsRoutes.indices { self.evidence.dnsRoutes[position].addEgress(to: &indices) }
        host?.addEgress(to: &indices)
        for index in indices {
            guard let position = self.byIndex.position(of: index), self.isTunnel(at: position) else { continue }
            let tunnel = self.interfaces[position]
            let parent = tunnel.underlyingIndex.flatMap { self.byIndex[$0] }
            // The others may not have been asked about yet.
            guard self.egress.contains(index) || tunnel.tunnelEvidence != nil || parent?.tunnelEvidence != nil
            else { continue }
            self.transports[index] = self.judge(tunnel).transport
        }
        // Only now: what one tunnel lost is no property of an interface that another one travels on.
        for (index, transport) in self.transports {
            guard case .notCarried(let cause) = transport, let position = self.byIndex.position(of: index),
                self.assessments.values[position].isUsable
            else { continue }
            if let assessment = self.assessment(of: self.interfaces[position], lost: cause) {
                self.assessments.values[position] = assessment
            }
        }
    }

    private func assessment(of tunnel: NetworkInterface, lost cause: TunnelTransport.Cause) -> InterfaceAssessment? {
        let consequence = "; nothing carries \(tunnel.name)"
        func because(_ code: PathReason.Code, _ message: String) -> InterfaceAssessment? {
            var assessment = self.assessments[tunnel.index]
            assessment?.reason = PathReason(code, message + consequence)
            assessment?.isUsable = false
            assessment?.isStartable = false
            return assessment
        }
        switch cause {
        case .interface(let index) where self.isIgnored(index):
            return because(.ignoredInterface, "the configuration ignores \(self.name(index))")
        case .interface(let index):
            var assessment = self.assessments[index]
            assessment?.reason.message += consequence
            assessment?.isUsable = false
            return assessment
        case .port(let port, _, let address):
            return because(.noCarrier, "\(port), the bridge port to \(address), has no link")
        case .source(let index, let destination):
            if self.assessments[index]?.isStartable == true {
                return self.assessment(of: tunnel, lost: .interface(index))
            }
            return because(.noAddress, "\(self.name(index)) has no usable address to reach \(destination) from")
        case .route(let destination, nil):
            return because(.noRoute, "there is no route to \(destination)")
        case .route(let destination, let rejection?):
            return because(.routeRejects, "\(rejection.description) refuses packets to \(destination)")
        case .loop(let destination):
            return because(.noRoute, "the way to \(destination) leads into the tunnel itself")
        case .nothingLeft:
            return because(.noInterface, "there is no network interface besides tunnels")
        }
    }

    /// The interface whose state is the cause of that of another: of a tunnel that nothing carries what is below it.
    package func cause(of index: UInt32) -> UInt32 {
        switch self.transports[index] {
        case .notCarried(.interface(let cause)), .notCarried(.source(let cause, _)): cause
        default: index
        }
    }

    /// The interfaces that carry what leaves through another; none when that needs none, or it is not known which.
    func carriers(under egress: UInt32) -> [UInt32] {
        guard let position = self.byIndex.position(of: egress) else { return [] }
        if case .carried(let carriers, _)? = self.transports[egress] { return carriers }
        // MACsec and the like: not a tunnel, but not the whole way either.
        guard let parent = self.interfaces[position].underlyingIndex, self.interfaces[position].isTunnel,
            !self.isTunnel(at: position)
        else { return [] }
        return self.byIndex.position(of: parent) == nil || self.isIgnored(parent) ? [] : [parent]
    }

    /// What the reason of a path says of the tunnels it leaves through, as far as they may lose packets.
    func tunnelText(_ egress: [UInt32]) -> String {
        var text = ""
        if self.transports.isEmpty { return text }
        for index in egress {
            guard case .carried(_, let losing)? = self.transports[index], !losing.isEmpty else { continue }
            let names = losing.map { self.name($0) }.joined(separator: " and ")
            text += "; what \(self.name(index)) sends through \(names) is lost"
        }
        let doubtful = self.doubtfulTunnels.filter(egress.contains).map { self.name($0) }
        if !doubtful.isEmpty {
            text += "; it is unknown whether anything carries \(doubtful.joined(separator: " and "))"
        }
        return text
    }

    /// The tunnels of which it is unknown whether anything carries them.
    package var doubtfulTunnels: [UInt32] {
        self.transports.keys.filter { self.transports[$0] == .doubtful }.sorted()
    }
}

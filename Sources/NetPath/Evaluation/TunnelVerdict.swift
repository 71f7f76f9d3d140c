// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the way of their outer packets means for the tunnels that the path leaves through.
extension AssessedEvidence {
    /// Decides about the tunnels that the kernel's answers lead into.
    ///
    /// One that nothing carries is not usable, and what keeps it from being so is what is wrong below it.
    mutating func judgeTunnels() {
        for index in self.evidence.referenceRoutes.egress {
            guard let tunnel = self.byIndex[index], self.isTunnel(tunnel) else { continue }
            self.transports[index] = self.transport(of: tunnel)
        }
        // Only now: what one tunnel lost is no property of an interface that another one travels on.
        for (index, transport) in self.transports {
            guard case .notCarried(let cause) = transport, let position = self.byIndex.position(of: index),
                self.assessments.values[position].isUsable
            else { continue }
            if let assessment = self.assessment(of: self.interfaces[position], lost: cause) {
                self.assessments.replace(at: position, with: assessment)
            }
        }
    }

    private func assessment(of tunnel: NetworkInterface, lost cause: TunnelTransport.Cause) -> InterfaceAssessment? {
        let consequence = "; \(tunnel.name) has nothing to travel on"
        func because(_ code: PathReason.Code, _ message: String) -> InterfaceAssessment? {
            var assessment = self.assessments[tunnel.index]
            assessment?.reason = PathReason(code, message + consequence)
            assessment?.isUsable = false
            assessment?.isStartable = false
            return assessment
        }
        switch cause {
        case .interface(let index) where self.isIgnored(index):
            return because(.ignoredInterface, "\(self.name(index)) is to be ignored, as the configuration says")
        case .interface(let index):
            var assessment = self.assessments[index]
            assessment?.reason.message += consequence
            assessment?.isUsable = false
            return assessment
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
            return because(.noRoute, "the way to \(destination) leads into a tunnel that needs it")
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

    /// The interface that carries what leaves through another; nil when that needs none, or nobody knows which.
    func carrier(under egress: UInt32) -> UInt32? {
        guard let position = self.byIndex.position(of: egress) else { return nil }
        if case .carried(let carrier)? = self.transports[egress] { return carrier }
        // MACsec and the like: not a tunnel, but not the whole way either.
        guard let parent = self.interfaces[position].underlyingIndex, self.interfaces[position].isTunnel,
            !self.isTunnel(self.interfaces[position])
        else { return nil }
        return self.byIndex.position(of: parent) == nil || self.isIgnored(parent) ? nil : parent
    }

    /// The tunnels of which nobody can tell whether anything carries them.
    package var doubtfulTunnels: [UInt32] {
        self.transports.keys.filter { self.transports[$0] == .doubtful }.sorted()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What becomes of the outer packets of a tunnel: those that the tunnel itself sends.
package enum TunnelTransport: Hashable {
    /// They leave through these interfaces, which are no tunnels, sorted; none when it is not known through which. What the
    /// kernel sends through the others is lost.
    case carried(by: [UInt32], losing: [UInt32] = [])
    /// They do not leave.
    case notCarried(Cause)
    /// The evidence does not decide it.
    case doubtful

    /// Why they do not leave.
    package enum Cause: Hashable {
        /// What this interface is in, which they would leave through or could.
        case interface(UInt32)
        /// The link of this port of a bridge, behind which the address is.
        case port(String, of: UInt32, to: InternetAddress)
        /// There is no usable address to send to the destination from through this interface.
        case source(UInt32, to: InternetAddress)
        /// The routes to this address; the rejection, where one refuses them.
        case route(to: InternetAddress, RouteRejection?)
        /// The way to this address leads into the tunnel itself.
        case loop(to: InternetAddress)
        /// There is no interface left that they could leave through.
        case nothingLeft
    }
}

extension AssessedEvidence {
    /// Whether packets into an interface become outer packets that need a way of their own.
    ///
    /// A tunnel whose link lives in another namespace (IFLA_LINK_NETNSID) sends there, so that its packets are out as
    /// far as this one is concerned. A rule comes before all that.
    func isTunnel(_ interface: NetworkInterface) -> Bool {
        self.byIndex.position(of: interface.index).map { self.isTunnel(at: $0) } ?? false
    }

    /// The same by position in ``interfaces``: an interface is large.
    func isTunnel(at position: Int, depth: Int = 0) -> Bool {
        if let isTunnel = self.rule(self.interfaces[position].index)?.isTunnel { return isTunnel }
        if self.interfaces[position].isParentElsewhere || self.interfaces[position].type == .loopback { return false }
        // A backend asks about nothing but tunnels.
        if self.interfaces[position].tunnelEvidence != nil || self.interfaces[position].foundation == .tunnels
            || self.interfaces[position].hasTunnelKind
        {
            return true
        }
        // Stacks are finite, but a changing one can look like a loop.
        guard depth < 8, let parent = self.interfaces[position].parentOnItsWay,
            let parent = self.byIndex.position(of: parent)
        else { return false }
        return self.isTunnel(at: parent, depth: depth + 1)
    }

    /// Decides what becomes of the outer packets of a tunnel: the first row that holds of the table in <doc:Evaluation>.
    ///
    /// The row 0 is a tunnel inside itself, below those that already led here.
    package func judge(
        _ tunnel: NetworkInterface,
        below above: Set<UInt32> = []
    ) -> (transport: TunnelTransport, row: Int) {
        let above = above.union([tunnel.index])
        // A VLAN on a tunnel goes the way of the tunnel.
        if !tunnel.hasTunnelKind, let parent = tunnel.parentOnItsWay.flatMap({ self.byIndex[$0] }),
            self.isTunnel(parent)
        {
            return above.contains(parent.index) ? (.notCarried(.nothingLeft), 0) : self.judge(parent, below: above)
        }
        let outer = tunnel.tunnelEvidence ?? TunnelEvidence()
        let (basis, answers) = self.answers(about: tunnel, below: above)
        lazy var uplinks = self.uplinks(beside: outer)
        lazy var usable = uplinks.filter { self.assessments[$0.index]?.isUsable == true }
        let gatewayed = outer.gatewayedInterfaces ?? []
        // Programs send what goes into tun devices, and into a bridge of such; a kernel's tunnel in a bridge has a far end.
        let isProgram = tunnel.kind == "tun" || tunnel.foundation == .tunnels && basis == .defaultRoute
        let isTap = isProgram && tunnel.flags.contains(.broadcast)
        func no(_ answers: [TunnelTransport]) -> TunnelTransport {
            .notCarried(self.cause(answers, self.bestUplink(among: uplinks)))
        }

        if let way = answers.first(where: \.isCarried) { return (way, 1) }
        if answers.contains(.doubtful) { return (.doubtful, 2) }
        if outer.isSocketElsewhere { return (.carried(by: []), 3) }
        if outer.isReceiving, !isProgram, basis != .endpoint { return (.carried(by: []), 4) }
        // What comes in shows no way out, and the program behind a device may answer by itself.
        if outer.isReceiving, !isProgram || !usable.isEmpty { return (.doubtful, 5) }
        switch basis {
        case .endpoint: return (no(answers), 6)
        case .mark:
            if usable.contains(where: { gatewayed.contains($0.index) }) { return (.doubtful, 7) }
            if usable.contains(where: \.mayHaveGlobalAddress), !self.hasLostWay(answers, outer) {
                return (.doubtful, 8)
            }
            return (no(answers), 9)
        case .defaultRoute:
            if usable.contains(where: { gatewayed.contains($0.index) || $0.mayHaveGlobalAddress }) {
                return (.doubtful, 10)
            }
            // A program may send frames without any address, such as a virtual machine that has the card.
            if isTap, !usable.isEmpty { return (.doubtful, 11) }
            if self.stoodBesideRoute(outer, below: above) { return (no([]), 12) }
            if !isTap, uplinks.contains(where: { self.isLine($0) && $0.hasHadCarrier != false }) { return (no([]), 13) }
            return (.doubtful, 14)
        }
    }

    // MARK: What the rows ask

    /// Whether the way of marked packets leads, or led when last there was one, through interfaces that are lost.
    private func hasLostWay(_ answers: [TunnelTransport], _ outer: TunnelEvidence) -> Bool {
        answers.contains { answer in
            switch answer {
            case .notCarried(.interface), .notCarried(.port): true
            default: false
            }
        } || outer.formerCarriers.contains { self.assessments[$0]?.isUsable != true }
    }

    /// Whether a route beside the tunnel led somewhere, as was seen before, or as one shows that is still there.
    ///
    /// Not one through what stands on the tunnel, such as a macvlan.
    private func stoodBesideRoute(_ outer: TunnelEvidence, below above: Set<UInt32>) -> Bool {
        (outer.formerCarriers + outer.interfacesBeside).contains { index in
            // What never had a carrier never led anywhere; what is gone may have.
            !above.contains(index) && self.byIndex[index]?.hasHadCarrier != false
        }
    }

    private func cause(_ answers: [TunnelTransport], _ best: UInt32?) -> TunnelTransport.Cause {
        var aboutRoutes: TunnelTransport.Cause?
        for case .notCarried(let cause) in answers {
            switch cause {
            case .interface, .port, .source, .nothingLeft: return cause
            case .route, .loop: aboutRoutes = aboutRoutes ?? cause
            }
        }
        // "There is no route" explains nothing while no interface could have one.
        guard let best else { return .nothingLeft }
        return self.lacksRoute(best) ? .interface(best) : aboutRoutes ?? .interface(best)
    }
}

extension NetworkInterface {
    /// What packets go through after an interface of a kind that is no tunnel's: of a veth the other end is named as its
    /// parent.
    @inline(__always) var parentOnItsWay: UInt32? { self.kind == "veth" ? nil : self.underlyingIndex }

    /// What an interface cannot do without: what the policies of IPsec route does not depend on the interface that is named.
    @inline(__always) var indispensableParent: UInt32? { self.kind == "xfrm" ? nil : self.underlyingIndex }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

// Which of the texts in ``RemedyTexts`` help.
extension AssessedEvidence {
    /// More of the same kind would bury the advice.
    private static let limit = 3

    var remediesWithoutVerdict: [String] {
        self.evidence.limitations.isEmpty
            ? []
            : ["Remove what limits the backend: \(self.evidence.limitations.joined(separator: "; "))"]
    }

    func remedies(for verdict: Verdict) -> [String] {
        if verdict.status == .satisfied {
            return self.lostHops.flatMap(self.remedies) + self.remedies(forSilentAmong: verdict.gateways)
                + self.remediesForDoubtfulTunnels + self.remediesForDiversions + self.remediesForNameServers(verdict)
        }
        if verdict.reason.code == .gatewaySilent { return self.remedies(forSilentAmong: verdict.gateways) }
        if verdict.reason.code == .probeFailed { return [RemedyTexts.text(.probeFailed)].compactMap(\.self) }
        let outlook = self.outlook(self.findings)
        switch outlook.closeness {
        case .ignoredEgress:
            return outlook.interfaces.compactMap { index in
                let key = self.isIgnored(index) ? "ignore" : "type: loopback"
                return RemedyTexts.text(.ignoredInterface, about: self.name(index), ["key": key])
            }
        case .deadEgress: return self.remediesForDeadEgress
        case .rejected where outlook.interfaces.isEmpty, .stepOfEgress where outlook.interfaces.isEmpty:
            return self.remediesForRejections
        case .rejected:
            return outlook.interfaces.flatMap { index in
                self.byIndex[index]?.type == .loopback
                    ? Self.remediesForRefusal(outlook.family, routes: "dev \(shellWord(self.name(index)))")
                    : self.remediesForDiscarding(index)
            }
        case .noSource:
            let words = ["family": outlook.family.name]
            return outlook.interfaces.compactMap {
                RemedyTexts.text(.noAddress, self.isTaken($0) ? .addressInUse : .source, about: self.name($0), words)
            }
        case .noRoute:
            let interfaces = self.interfaces(outlook)
            let isOnly = interfaces.allSatisfy { self.assessments[$0.index]?.code == .noRoute }
            return interfaces.compactMap { interface in
                self.assessments[interface.index]?.code == .noRoute
                    ? Self.addRoute(interface, outlook.family, isUplink: isOnly) : self.remedy(for: interface)
            }
        case .nothing where outlook.reason.code == .noInterface:
            return [RemedyTexts.text(.noInterface)].compactMap(\.self)
        case .stepOfEgress, .stepElsewhere, .nothing:
            return self.interfaces(outlook).compactMap(self.remedy)
        }
    }

    private func interfaces(_ outlook: FamilyOutlook) -> [NetworkInterface] {
        outlook.interfaces.prefix(Self.limit).compactMap { self.byIndex[$0] }
    }

    /// What helps one interface out of the state it is in.
    private func remedy(for interface: NetworkInterface) -> String? {
        guard let assessment = self.assessments[interface.index] else { return nil }
        // What is missing below is missing to everything that is built on it.
        let subject = self.fault(below: interface) ?? interface
        let code = assessment.code
        switch code {
        case .interfaceDown: return RemedyTexts.text(code, about: interface.name)
        case .radioBlocked:
            let radio = subject.type == .wifi ? "wifi" : subject.type == .cellular ? "wwan" : "all"
            return RemedyTexts.text(code, about: subject.name, ["radio": radio])
        case .noCarrier: return self.restoreLink(interface)
        case .noRoute: return Self.addRoute(interface, interface.canSend(.ipv4) ? .ipv4 : .ipv6)
        case .noAddress:
            let situation: RemedyTexts.Situation =
                interface.kind == "vrf" ? .routingDomain : self.isTaken(interface.index) ? .addressInUse : .usual
            return RemedyTexts.text(code, situation, about: subject.name)
        case .configuringAddress:
            let awaited = interface.canSend(.ipv4) || interface.canSend(.ipv6) ? "route" : "address"
            let situation: RemedyTexts.Situation =
                assessment.reviseAt == nil ? .addressCheck : subject.configurer == .session ? .session : .usual
            return RemedyTexts.text(code, situation, about: subject.name, ["awaited": awaited])
        case .routeRejects: return self.remediesForDiscarding(interface.index).first
        case .authenticating, .wifiNotAssociated:
            return RemedyTexts.text(code, subject.mayHaveTheWrongKey ? .wrongKey : .usual, about: subject.name)
        case .dialOnDemand, .modemNotConnected: return RemedyTexts.text(code, about: subject.name)
        default: return nil
        }
    }

    // MARK: Single reasons

    private var remediesForDeadEgress: [String] {
        let dead = self.deadEgress
        var advice: [String] = []
        for egress in dead.map(\.index) {
            let index = self.cause(of: egress)
            guard let interface = self.byIndex[index], interface.type != .loopback else { continue }
            let remedy = self.remedyForLostWay(of: egress) ?? self.restore(interface)
            if let remedy, !advice.contains(remedy) { advice.append(remedy) }
        }
        // The kernel skips interfaces without a carrier, and a bridge or a tunnel that leads nowhere has one.
        let unlinked = dead.filter {
            !self.deadEnds.contains($0.index) && self.byIndex[$0.index]?.hasCarrier != true
        }
        for family in AddressFamily.allCases where unlinked.contains(where: { $0.family == family }) {
            let alternative = self.candidates.first { interface in
                !dead.contains { $0.index == interface.index } && self.assessments[interface.index]?.isUsable == true
                    && interface.hasDefaultRoute(family)
            }
            guard let alternative else { continue }
            let words = ["passOver": Self.ignoreRoutesWithoutLink(family)]
            if let text = RemedyTexts.text(.noCarrier, .alternative, about: alternative.name, words) {
                advice.append(text)
            }
        }
        return advice
    }

    private func remediesForNameServers(_ verdict: Verdict) -> [String] {
        guard let servers = self.dnsServers, !servers.contains(where: { $0.isReachable != false }) else { return [] }
        let name = verdict.interfaces.first?.name ?? "INTERFACE"
        return [RemedyTexts.text(.routed, .nameServers, about: name)].compactMap(\.self)
    }

    private func remedies(for lost: LostHops) -> [String] {
        let interfaces = Set(lost.nextHops.map(\.interfaceIndex)).sorted().compactMap { self.byIndex[$0] }
        // IPv4 keeps the shares of the next hops until the link or the route changes (`fib_rebalance`).
        let again = lost.family == .ipv4 ? "; then delete the route and add it again" : ""
        let passOver = Self.ignoreRoutesWithoutLink(lost.family)
        let words = ["family": lost.family.name, "passOver": passOver, "again": again]
        return (interfaces.map(self.restore) + [RemedyTexts.text(.routed, .loseNextHops, words)]).compactMap(\.self)
    }

    private static func ignoreRoutesWithoutLink(_ family: AddressFamily) -> String {
        "`sysctl -w net.\(family.rawValue).conf.all.ignore_routes_with_linkdown=1`"
    }

    /// What brings an interface back that the kernel sends packets to; by itself it looks well when only the next hop's
    /// link is down.
    private func restore(_ interface: NetworkInterface) -> String? {
        self.assessments[interface.index]?.isUsable == true ? self.restoreLink(interface) : self.remedy(for: interface)
    }

    /// What discards is a protection mostly, and taking it away is no advice.
    private func remediesForDiscarding(_ index: UInt32) -> [String] {
        let vpn = ["vpn": "the VPN that made \(self.name(index))"]
        return [
            RemedyTexts.text(.routeRejects, .killSwitch, vpn),
            RemedyTexts.text(.routeRejects, .discarding, about: self.name(index)),
        ].compactMap(\.self)
    }

    /// How to tell that packets are taken off an interface that would discard them.
    private var remediesForDiversions: [String] {
        self.divertedInterfaces.compactMap { RemedyTexts.text(.routeRejects, .discarding, about: self.name($0)) }
    }

    /// Routes that refuse, by the words that `ip route show` selects them by, are mostly there on purpose: the advice to delete them
    /// comes last.
    private static func remediesForRefusal(
        _ family: AddressFamily,
        vpn: String = "the VPN",
        routes: String
    ) -> [String] {
        let words = ["vpn": vpn, "ip": family.command, "routes": routes]
        return [RemedyTexts.Situation.killSwitch, .usual].compactMap { RemedyTexts.text(.routeRejects, $0, words) }
    }

    private var remediesForRejections: [String] {
        var advice: [String] = []
        for question in self.evidence.referenceRoutes {
            guard case .rejected(let rejection) = question.answer else { continue }
            if [.ipsecBlock, .ipsecState, .ipsecOnDemand].contains(rejection) {
                return [RemedyTexts.text(.routeRejects, .policy)].compactMap(\.self)
            }
            let idle = self.candidates.first { $0.isTunnel && self.assessments[$0.index]?.isUsable == false }
            let vpn = idle.map { "the VPN of \($0.name)" } ?? "the VPN"
            let routes = "type \(rejection.rawValue)"
            advice += Self.remediesForRefusal(question.destination.family, vpn: vpn, routes: routes)
                .filter { !advice.contains($0) }
        }
        return advice
    }

    private func restoreLink(_ interface: NetworkInterface) -> String? {
        let fault = self.fault(below: interface)
        if let fault, !fault.flags.contains(.up) {
            let situation: RemedyTexts.Situation = interface.kind == "veth" ? .peer : .lowerInterface
            return RemedyTexts.text(.interfaceDown, situation, about: fault.name, ["upper": interface.name])
        }
        let subject = fault ?? interface
        if let bondFault = subject.bondFault { return Self.repair(subject, bondFault) }
        let situation: RemedyTexts.Situation =
            switch subject.kind {
            case "veth": .virtualEthernet
            case "bridge", "bond", "team": .group
            case "tun": .tunnelDevice
            case nil where subject.type == .wired: .wired
            default: .usual
            }
        return RemedyTexts.text(.noCarrier, situation, about: subject.name)
    }

    private static func repair(_ bond: NetworkInterface, _ fault: NetworkInterface.BondFault) -> String? {
        switch fault {
        case .activeMember(let member):
            RemedyTexts.text(.noCarrier, .unwatchedMember, about: bond.name, ["member": member])
        case .fewerLinks(let least):
            RemedyTexts.text(.noCarrier, .fewerLinks, about: bond.name, ["count": "\(least)"])
        }
    }

    private static func addRoute(
        _ interface: NetworkInterface,
        _ family: AddressFamily,
        isUplink: Bool = true
    ) -> String? {
        let situation: RemedyTexts.Situation =
            interface.isTunnel ? .tunnel : interface.kind == "bridge" || !isUplink ? .bridge : .usual
        return RemedyTexts.text(.noRoute, situation, about: interface.name, ["ip": family.command])
    }

    // MARK: Tunnels

    /// How to tell what cannot be found out.
    private var remediesForDoubtfulTunnels: [String] {
        self.doubtfulTunnels.filter(self.evidence.referenceRoutes.egress.contains).compactMap {
            RemedyTexts.text(.routed, .doubtfulTunnel, about: self.name($0))
        }
    }

    /// What helps a tunnel whose packets find no way although interfaces could carry them; nil for what is no such tunnel.
    private func remedyForLostWay(of tunnel: UInt32) -> String? {
        guard case .notCarried(let cause)? = self.transports[tunnel] else { return nil }
        let name = self.name(tunnel)
        func words(_ address: InternetAddress) -> [String: String] {
            ["address": "\(address)", "ip": address.family.command]
        }
        return switch cause {
        case .interface(let index) where self.assessments[index]?.code == .noAddress:
            self.byIndex[index].flatMap(self.remedy)
        case .interface, .port, .source: nil
        case .nothingLeft: RemedyTexts.text(.noInterface, .tunnel, about: name)
        case .route(let destination, nil), .loop(let destination):
            RemedyTexts.text(.noRoute, .wayOfTunnel, about: name, words(destination))
        case .route(let destination, _?):
            RemedyTexts.text(.routeRejects, .wayOfTunnel, about: name, words(destination))
        }
    }
}

extension NetworkPath {
    /// What to do about a captive portal; nil where there is none.
    ///
    /// A portal is met by a probe and is a matter of the path: the evidence it is built on does not show it.
    package var portalRemedy: String? {
        guard self.internet == .portal else { return nil }
        guard let address = self.portalURL else { return RemedyTexts.text(.captivePortal) }
        return RemedyTexts.text(.captivePortal, .portalAddress, ["address": address])
    }
}

extension AddressFamily {
    /// The command of iproute2 for routes of the family.
    fileprivate var command: String { self == .ipv4 ? "ip" : "ip -6" }
}

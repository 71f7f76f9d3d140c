// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension AssessedEvidence {
    /// More of the same kind would bury the advice.
    private static let limit = 3

    var remediesWithoutVerdict: [String] {
        self.observation.limitations.isEmpty
            ? []
            : ["Give the backend what it has to do without: \(self.observation.limitations.joined(separator: "; "))"]
    }

    func remedies(for verdict: Verdict) -> [String] {
        if verdict.status == .satisfied {
            return self.lostHops.flatMap(self.remedies) + self.remedies(forSilentAmong: verdict.gateways)
                + self.remediesForDoubtfulTunnels
        }
        if verdict.reason.code == .gatewaySilent { return self.remedies(forSilentAmong: verdict.gateways) }
        if verdict.reason.code == .probeFailed {
            return ["Check that the targets are right and not blocked by a firewall, then look at the route to them"]
        }
        let outlook = self.outlook(self.findings)
        switch outlook.closeness {
        case .ignoredEgress:
            return outlook.interfaces.map { index in
                let key = self.isIgnored(index) ? "ignore" : "type: loopback"
                return """
                    Route through another interface, or take `\(key)` from the rule about \(self.name(index)) in the \
                    configuration
                    """
            }
        case .deadEgress: return self.remediesForDeadEgress
        case .rejected: return self.remediesForRejections
        case .noSource where outlook.interfaces.contains(where: self.isTaken):
            return self.interfaces(outlook).flatMap(self.remedies)
        case .noSource: return outlook.interfaces.map { self.addSource($0, outlook.family) }
        case .noRoute: return self.interfaces(outlook).map { self.addRoute($0, outlook.family) }
        case .stepOfEgress, .stepElsewhere: return self.interfaces(outlook).flatMap(self.remedies)
        case .nothing where outlook.reason.code == .noInterface:
            return ["Add a network interface or load its driver; `ip link` lists what the kernel has"]
        case .nothing: return self.interfaces(outlook).flatMap(self.remedies)
        }
    }

    private func interfaces(_ outlook: FamilyOutlook) -> [NetworkInterface] {
        outlook.interfaces.prefix(Self.limit).compactMap { self.byIndex[$0] }
    }

    /// What helps one interface out of the state it is in.
    private func remedies(for interface: NetworkInterface) -> [String] {
        guard let assessment = self.assessments[interface.index] else { return [] }
        // What is missing below is missing to everything that is built on it.
        let subject = self.fault(below: interface) ?? interface
        let (name, word) = (subject.name, shellWord(subject.name))
        switch assessment.reason.code {
        case .interfaceDown: return [Self.bringUp(interface)]
        case .radioBlocked:
            let radio = subject.type == .wifi ? "wifi" : subject.type == .cellular ? "wwan" : "all"
            return ["Unblock the radio of \(name): `rfkill unblock \(radio)`, then `ip link set \(word) up`"]
        case .noCarrier: return [self.restoreLink(interface)]
        case .noRoute: return [self.addRoute(interface, interface.canSend(.ipv4) ? .ipv4 : .ipv6)]
        case .noAddress where interface.kind == "vrf":
            return ["Run programs in the VRF: `ip vrf exec \(word) COMMAND`; those outside of it do not see its routes"]
        case .noAddress:
            return self.isTaken(interface.index)
                ? ["Give \(name) an address nobody else uses: `ip address add ADDRESS/PREFIX dev \(word)`"]
                : ["Give \(name) an address: start a DHCP client, or `ip address add ADDRESS/PREFIX dev \(word)`"]
        case .configuringAddress where assessment.reviseAt == nil:
            return ["Wait until the check is over: `ip address show dev \(word) tentative` lists what is checked"]
        case .configuringAddress:
            let awaited = interface.canSend(.ipv4) || interface.canSend(.ipv6) ? "route" : "address"
            return ["Wait for the \(awaited) of \(name); if none comes, look at the DHCP client's log"]
        case .authenticating:
            return ["Let the authentication of \(name) end; its supplicant knows more: `wpa_cli -i \(word) status`"]
        case .wifiNotAssociated:
            return [
                "Connect \(name) to a Wi-Fi network: `nmcli device wifi connect SSID` or `iwctl station \(word) connect SSID`"
            ]
        case .dialOnDemand:
            return [
                "Send something: \(name) is connected when there is traffic; if it is not, look at what should dial"
            ]
        case .modemNotConnected:
            return ["Connect the modem of \(name): `mmcli --modem=any --simple-connect=\"apn=APN\"`"]
        default: return []
        }
    }

    // MARK: Single reasons

    private var remediesForDeadEgress: [String] {
        let dead = self.deadEgress
        var advice: [String] = []
        for egress in dead.map(\.index) {
            let index = self.cause(of: egress)
            guard let interface = self.byIndex[index], interface.type != .loopback else { continue }
            let remedies = self.remediesForLostWay(of: egress) ?? self.restore(interface)
            for remedy in remedies where !advice.contains(remedy) { advice.append(remedy) }
        }
        for family in AddressFamily.allCases where dead.contains(where: { $0.family == family }) {
            let alternative = self.candidates.first { interface in
                !dead.contains { $0.index == interface.index } && self.assessments[interface.index]?.isUsable == true
                    && interface.hasDefaultRoute(family)
            }
            guard let alternative else { continue }
            advice.append(
                """
                Let the kernel pass over routes without a link, so that \(alternative.name) takes over: \
                \(Self.ignoreRoutesWithoutLink(family))
                """
            )
        }
        return advice
    }

    private func remedies(for lost: LostHops) -> [String] {
        let interfaces = Set(lost.legs.map(\.interfaceIndex)).sorted().compactMap { self.byIndex[$0] }
        return interfaces.flatMap(self.restore) + [
            """
            Let the kernel pass over next hops without a link, so that the others take all \(lost.family.name) packets: \
            \(Self.ignoreRoutesWithoutLink(lost.family))
            """
        ]
    }

    private static func ignoreRoutesWithoutLink(_ family: AddressFamily) -> String {
        "`sysctl -w net.\(family.rawValue).conf.all.ignore_routes_with_linkdown=1`"
    }

    /// What brings an interface back that the kernel sends packets to; by itself it looks well when only the next hop's
    /// link is down.
    private func restore(_ interface: NetworkInterface) -> [String] {
        self.assessments[interface.index]?.isUsable == true
            ? [self.restoreLink(interface)] : self.remedies(for: interface)
    }

    /// Routes that refuse are mostly there on purpose: the advice to delete them comes last.
    private var remediesForRejections: [String] {
        var advice: [String] = []
        for question in self.observation.representatives {
            guard case .rejected(let rejection) = question.answer else { continue }
            let idle = self.candidates.first { $0.isTunnel && self.assessments[$0.index]?.isUsable == false }
            let vpn = idle.map { "the VPN of \($0.name)" } ?? "the VPN"
            let ip = question.destination.family == .ipv4 ? "ip" : "ip -6"
            let remedies = [
                "If it is the kill switch of a VPN, connect \(vpn)",
                """
                Otherwise find it, and remove it if nobody needs it: \
                `\(ip) route show table all type \(rejection.rawValue)` and `\(ip) rule` list what there is
                """,
            ]
            for remedy in remedies where !advice.contains(remedy) { advice.append(remedy) }
        }
        return advice
    }

    private func addSource(_ index: UInt32, _ family: AddressFamily) -> String {
        let name = self.name(index)
        return """
            Give \(name) a usable \(family.name) address, to send from: \
            `ip address add ADDRESS/PREFIX dev \(shellWord(name))`
            """
    }

    private static func bringUp(_ interface: NetworkInterface) -> String {
        "Bring \(interface.name) up: `ip link set \(shellWord(interface.name)) up`"
    }

    private func restoreLink(_ interface: NetworkInterface) -> String {
        let fault = self.fault(below: interface)
        if let fault, !fault.flags.contains(.up) {
            let place = interface.kind == "veth" ? "the other end of \(interface.name)" : "below \(interface.name)"
            return "Bring \(fault.name), \(place), up: `ip link set \(shellWord(fault.name)) up`"
        }
        let subject = fault ?? interface
        let (name, word) = (subject.name, shellWord(subject.name))
        return switch subject.kind {
        case "veth": "Bring the other end of \(name) up"
        case "bridge", "bond", "team":
            "Give \(name) a member with a link: `ip link show master \(word)` lists those it has"
        case "tun": "Start the program that \(name) leads to"
        case nil where subject.type == .wired:
            "Plug the cable into \(name), or switch on what is at its other end"
        default: "Restore the link of \(name)"
        }
    }

    private func addRoute(_ interface: NetworkInterface, _ family: AddressFamily) -> String {
        let add = "`\(family == .ipv4 ? "ip" : "ip -6") route add default"
        let (name, word) = (interface.name, shellWord(interface.name))
        // Neither is an uplink by itself, and a route into it would only look like a path.
        if interface.isTunnel {
            return "If \(name) is meant to carry everything, add a default route: \(add) dev \(word)`"
        }
        if interface.kind == "bridge" {
            return "Add an uplink; or, if \(name) leads to one, a default route: \(add) via GATEWAY dev \(word)`"
        }
        return "Add a default route: \(add) via GATEWAY dev \(word)`"
    }
}

/// Quotes a word for a POSIX shell: the kernel allows nearly every character in the name of an interface.
func shellWord(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_.@+".unicodeScalars.contains(scalar))
    }
    if isPlain, !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

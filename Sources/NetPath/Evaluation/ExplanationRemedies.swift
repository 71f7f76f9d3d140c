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
        guard verdict.status != .satisfied else { return [] }
        let code = verdict.reason.code
        let dead = self.deadEgress
        if code == .ignoredInterface {
            let names = dead.map(\.index).filter(self.isIgnored).map(self.name)
            return names.prefix(1).map { name in
                "Route through another interface, or take `ignore` from the rule about \(name) in the configuration"
            }
        }
        if !dead.isEmpty, code != .routeRejects { return self.remediesForDeadEgress(dead) }
        switch code {
        case .routeRejects: return self.remediesForRejections
        case .noRoute: return self.each(code) { [self.addRoute($0)] }
        case .noAddress where self.remediesForNoSource.isEmpty == false: return self.remediesForNoSource
        case .allDown, .interfaceDown:
            let down = self.candidates { self.assessments[$0.index]?.reason.code == .interfaceDown }
            return (down.contains { $0.isHardware == true } ? down.filter { $0.isHardware == true } : down)
                .prefix(Self.limit).map(Self.bringUp)
        case .noInterface:
            return ["Add a network interface or load its driver; `ip link` lists what the kernel has"]
        case .probeFailed:
            return ["Check that the targets are right and not blocked by a firewall, then look at the route to them"]
        default: return self.each(code, self.remedies)
        }
    }

    /// What helps one interface out of the state it is in.
    private func remedies(for interface: NetworkInterface) -> [String] {
        guard let assessment = self.assessments[interface.index] else { return [] }
        let (name, word) = (interface.name, shellWord(interface.name))
        switch assessment.reason.code {
        case .interfaceDown: return [Self.bringUp(interface)]
        case .radioBlocked:
            let radio = interface.type == .wifi ? "wifi" : interface.type == .cellular ? "wwan" : "all"
            return ["Unblock the radio of \(name): `rfkill unblock \(radio)`, then `ip link set \(word) up`"]
        case .noCarrier: return [self.restoreLink(interface)]
        case .noRoute: return [self.addRoute(interface)]
        case .noAddress:
            return interface.addresses.contains { $0.state.contains(.duplicate) }
                ? ["Give \(name) an address nobody else uses: `ip address add ADDRESS/PREFIX dev \(word)`"]
                : ["Give \(name) an address: start a DHCP client, or `ip address add ADDRESS/PREFIX dev \(word)`"]
        case .configuringAddress:
            return ["Wait for the address of \(name); if none comes, look at the DHCP client's log"]
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

    private func remediesForDeadEgress(_ dead: [(index: UInt32, family: AddressFamily)]) -> [String] {
        var advice: [String] = []
        for index in dead.map(\.index) {
            guard let interface = self.byIndex[index], interface.type != .loopback else { continue }
            // By itself the interface looks well when only the next hop's link is down.
            let isUsable = self.assessments[index]?.isUsable == true
            for remedy in isUsable ? [self.restoreLink(interface)] : self.remedies(for: interface)
            where !advice.contains(remedy) {
                advice.append(remedy)
            }
        }
        for family in AddressFamily.allCases where dead.contains(where: { $0.family == family }) {
            let alternative = self.candidates { interface in
                !dead.contains { $0.index == interface.index } && self.assessments[interface.index]?.isUsable == true
                    && interface.defaultRoutes?.contains { $0.family == family } == true
            }.first
            guard let alternative else { continue }
            advice.append(
                """
                Let the kernel pass over routes without a link, so that \(alternative.name) takes over: \
                `sysctl -w net.\(family.rawValue).conf.all.ignore_routes_with_linkdown=1`
                """
            )
        }
        return advice
    }

    private var remediesForRejections: [String] {
        var advice: [String] = []
        for question in self.observation.representatives {
            guard case .rejected(let rejection) = question.answer else { continue }
            let ip = question.destination.family == .ipv4 ? "ip" : "ip -6"
            let remedy = """
                Delete the \(rejection.rawValue) route: `\(ip) route show table all type \(rejection.rawValue)` lists \
                it, `\(ip) route del` removes it; `\(ip) rule` if a policy rule refuses
                """
            if !advice.contains(remedy) { advice.append(remedy) }
        }
        return advice
    }

    private var remediesForNoSource: [String] {
        var advice: [String] = []
        for question in self.observation.representatives {
            guard case .route(let route) = question.answer,
                let leg = route.legs.first(where: { self.canCarry($0) == true })
            else { continue }
            let name = self.name(leg.interfaceIndex)
            let version = question.destination.family == .ipv4 ? "IPv4" : "IPv6"
            let remedy = """
                Give \(name) a usable \(version) address, to send from: \
                `ip address add ADDRESS/PREFIX dev \(shellWord(name))`
                """
            if !advice.contains(remedy) { advice.append(remedy) }
        }
        return advice
    }

    private static func bringUp(_ interface: NetworkInterface) -> String {
        "Bring \(interface.name) up: `ip link set \(shellWord(interface.name)) up`"
    }

    private func restoreLink(_ interface: NetworkInterface) -> String {
        if let parent = interface.parentIndex.flatMap({ self.byIndex[$0] }), !parent.flags.contains(.up) {
            return "Bring \(parent.name), below \(interface.name), up: `ip link set \(shellWord(parent.name)) up`"
        }
        if interface.kind == "veth" { return "Bring the other end of \(interface.name) up" }
        return interface.type == .wired
            ? "Plug the cable into \(interface.name), or switch on what is at its other end"
            : "Restore the link of \(interface.name)"
    }

    private func addRoute(_ interface: NetworkInterface) -> String {
        let hasIPv4 = interface.addresses.contains { $0.isGlobal && $0.isUsable && $0.prefix.address.family == .ipv4 }
        let ip = hasIPv4 ? "ip" : "ip -6"
        return "Add a default route: `\(ip) route add default via GATEWAY dev \(shellWord(interface.name))`"
    }

    // MARK: Helpers

    private func candidates(where isWanted: (NetworkInterface) -> Bool) -> [NetworkInterface] {
        self.candidates.filter(isWanted)
    }

    private func each(_ code: PathReason.Code, _ remedies: (NetworkInterface) -> [String]) -> [String] {
        self.candidates { self.assessments[$0.index]?.reason.code == code }.prefix(Self.limit).flatMap(remedies)
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

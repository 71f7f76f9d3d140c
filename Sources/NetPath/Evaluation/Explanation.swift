// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Why evidence leads to a verdict, for people.
///
/// Texts quote names as the kernel gives them, which may hold any character: make them printable before showing them.
public struct Explanation: Hashable, Sendable {
    /// The rule of ``evaluate(_:policy:now:)`` that decided, and how it applied.
    public var rule: String
    /// What was asked and answered, one fact each: routes first, then interface by interface.
    public var evidence: [String]
    /// What would bring a path, each a suggestion with the command to type; empty when there is one.
    public var remedies: [String]

    /// Creates an explanation from its parts.
    public init(rule: String, evidence: [String], remedies: [String]) {
        self.rule = rule
        self.evidence = evidence
        self.remedies = remedies
    }
}

/// Explains a verdict by the evidence it was reached on.
///
/// Pure, as ``evaluate(_:policy:now:)`` is.
///
/// - Parameters:
///   - observation: The evidence.
///   - verdict: What ``evaluate(_:policy:now:)`` made of it.
///   - policy: What the verdict depends on besides the evidence.
///   - now: The present moment.
/// - Returns: The rule, the evidence and the remedies.
public func explain(
    _ observation: Observation,
    verdict: Verdict?,
    policy: EvaluationPolicy = EvaluationPolicy(),
    now: MonotonicTime
) -> Explanation {
    let scene = ExplanationScene(observation, policy: policy, now: now)
    return Explanation(
        rule: scene.rule(for: verdict),
        evidence: scene.evidence(),
        remedies: verdict.map(scene.remedies) ?? scene.remediesWithoutVerdict
    )
}

/// The evidence of one explanation, with the interfaces assessed.
struct ExplanationScene {
    let observation: Observation
    let interfaces: [NetworkInterface]
    let assessments: [UInt32: InterfaceAssessment]

    init(_ observation: Observation, policy: EvaluationPolicy, now: MonotonicTime) {
        self.observation = observation
        let interfaces = observation.interfaces ?? []
        let byIndex = Dictionary(interfaces.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        self.interfaces = interfaces
        self.assessments = byIndex.mapValues { interface in
            let parent = interface.parentIndex.flatMap { byIndex[$0] }
            return .assess(interface, parent: parent, policy: policy, now: now)
        }
    }

    func name(_ index: UInt32) -> String {
        self.observation.interface(index)?.name ?? "interface \(index)"
    }

    /// Whether packets can leave through a next hop; nil when the evidence does not tell.
    func canCarry(_ leg: RouteLeg) -> Bool? {
        guard let interface = self.observation.interface(leg.interfaceIndex),
            let assessment = self.assessments[leg.interfaceIndex]
        else { return leg.isDown ? false : nil }
        return assessment.isUsable && !leg.isDown && interface.type != .loopback
    }

    /// The interfaces the kernel chose although they cannot carry packets, with the families it did so for.
    var deadEgress: [(index: UInt32, family: AddressFamily)] {
        var found: [(index: UInt32, family: AddressFamily)] = []
        for question in self.observation.representatives {
            guard case .route(let route) = question.answer,
                let leg = route.legs.first, route.legs.allSatisfy({ self.canCarry($0) == false })
            else { continue }
            let entry = (leg.interfaceIndex, question.destination.family)
            if !found.contains(where: { $0 == entry }) { found.append(entry) }
        }
        return found
    }

    // MARK: The rule

    func rule(for verdict: Verdict?) -> String {
        guard let verdict else {
            return self.observation.interfaces == nil && self.observation.probes == nil
                ? "No rule applies: the backend reported neither interfaces nor probes."
                : "No rule applies: a question stayed unanswered, and \"no\" needs positive evidence."
        }
        if self.observation.interfaces == nil {
            return "Only probes speak: satisfied when any target answers, unsatisfied when a whole round fails."
        }
        switch (verdict.status, verdict.reason.code) {
        case (.satisfied, _):
            return """
                Rule 1, satisfied: for at least one family the kernel would route a packet to every representative \
                address through a usable interface, with a usable source address.
                """
        case (_, .routeRejects):
            return "Rule 2, unsatisfied: a blackhole, unreachable or prohibit route takes the packets."
        case (.unsatisfied, .noCarrier) where !self.deadEgress.isEmpty:
            return """
                Rule 2, unsatisfied: the kernel sends the packets to an interface that cannot carry them, so they \
                are lost even if another interface could.
                """
        case (.requiresConnection, _):
            return "Rule 3, requiresConnection: a step is pending, or can be started, that may bring a path."
        case (.unsatisfied, _):
            return """
                Rule 4, unsatisfied: the kernel routes no packet to the internet, and no step is pending; of the \
                interfaces' reasons the one closest to a path is named.
                """
        }
    }
}

// MARK: - Evidence

extension ExplanationScene {
    /// More interfaces than anybody reads; machines with thousands of virtual ones exist.
    private static let interfaceLimit = 20

    func evidence() -> [String] {
        var facts = self.observation.representatives.map(self.fact)
        if self.observation.interfaces != nil, facts.isEmpty {
            facts.append("The kernel was not asked for routes")
        }
        facts += self.interfaceFacts
        if let servers = self.observation.dnsServers {
            facts.append(
                servers.isEmpty
                    ? "No name server is configured"
                    : "Name servers: \(servers.map(\.description).joined(separator: ", "))"
            )
        }
        facts += self.observation.probes?.outcomes.map(Self.fact) ?? []
        if self.observation.isPartial {
            facts.append("The backend sees only part of the routing policy: a route it did not find may exist")
        }
        return facts + self.observation.limitations.map { "Done without: \($0)" }
    }

    // MARK: Routes

    private func fact(_ question: RepresentativeRoute) -> String {
        let destination = question.destination
        switch question.answer {
        case .unknown: return "To \(destination): not known"
        case .noRoute: return "To \(destination): no route"
        case .rejected(let rejection): return "To \(destination): a \(rejection.rawValue) route refuses packets"
        case .route(let route):
            let legs = route.legs.map(self.describe).joined(separator: " and ")
            var details: [String] = []
            switch route.source {
            case .address(let source): details.append("from \(source)")
            case .none: details.append("no source address to choose from")
            case .unknown: break
            }
            if let table = route.table { details.append("table \(table)") }
            if let metric = route.metric { details.append("metric \(metric)") }
            return "To \(destination): \(([legs.isEmpty ? "no next hop" : legs] + details).joined(separator: ", "))"
        }
    }

    private func describe(_ leg: RouteLeg) -> String {
        var text = "through \(self.name(leg.interfaceIndex))"
        if let gateway = leg.gateway { text += " via \(gateway)" }
        if leg.isDown { text += " (link down)" }
        return text
    }

    // MARK: Interfaces

    private var interfaceFacts: [String] {
        guard self.observation.interfaces != nil else { return [] }
        let candidates = self.interfaces.filter { $0.type != .loopback && $0.controllerIndex == nil }
        guard !candidates.isEmpty else { return ["There is no network interface besides loopback"] }
        // Those that can matter first: of thousands of virtual interfaces that are down none explains anything.
        let relevant = candidates.filter { $0.flags.contains(.up) || $0.isHardware == true }
        let shown = (relevant.isEmpty ? candidates : relevant).prefix(Self.interfaceLimit)
        let omitted = candidates.count - shown.count
        return shown.map(self.fact) + (omitted > 0 ? ["And \(omitted) more interfaces"] : [])
    }

    private func fact(_ interface: NetworkInterface) -> String {
        var properties = [interface.kind ?? interface.type.rawValue]
        properties.append(interface.flags.contains(.up) ? "up" : "administratively down")
        if let carrier = interface.hasCarrier { properties.append(carrier ? "carrier" : "no carrier") }
        if let state = interface.operationalState { properties.append("operational state \(state.name)") }
        if let parent = interface.parentIndex { properties.append("on \(self.name(parent))") }

        let addresses = interface.addresses.filter(\.isGlobal).map(Self.describe)
        properties.append(addresses.isEmpty ? "no global address" : addresses.joined(separator: ", "))
        if let routes = interface.defaultRoutes {
            let described = routes.map { route in
                let version = route.family == .ipv4 ? "IPv4" : "IPv6"
                return "\(version) default route" + (route.gateway.map { " via \($0)" } ?? "")
            }
            properties.append(described.isEmpty ? "no default route" : described.joined(separator: ", "))
        }
        let verdict = self.assessments[interface.index].map { assessment in
            // A usable interface has its reason only for want of a route, which it may well have.
            assessment.isUsable && interface.defaultRoutes?.isEmpty == false
                ? "usable" : assessment.reason.code.rawValue
        }
        return "\(interface.name): \(properties.joined(separator: ", "))" + (verdict.map { " => \($0)" } ?? "")
    }

    private static func describe(_ address: InterfaceAddress) -> String {
        if address.state.contains(.duplicate) { return "\(address.prefix) (in use elsewhere)" }
        if address.state.contains(.tentative) { return "\(address.prefix) (being checked for duplicates)" }
        return address.state.contains(.deprecated) ? "\(address.prefix) (deprecated)" : address.prefix.description
    }

    // MARK: Probes

    private static func fact(_ outcome: ProbeOutcome) -> String {
        let result =
            switch outcome.result {
            case .connected: "connected"
            case .refused: "refused the connection, so the network works"
            case .unreachable(let errno): "not reachable (errno \(errno))"
            case .timedOut: "no answer in time"
            case .notResolved: "its name has no address"
            case .portal: "a captive portal answered"
            }
        return "Probe of \(outcome.target): \(result)"
    }
}

// MARK: - Remedies

extension ExplanationScene {
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
        case .captivePortal: return ["Sign in: open any http:// page in a browser"]
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
        case .modemNotConnected:
            return ["Connect the modem of \(name): `mmcli --modem=any --simple-connect=\"apn=APN\"`"]
        default: return []
        }
    }

    // MARK: Single reasons

    private func remediesForDeadEgress(_ dead: [(index: UInt32, family: AddressFamily)]) -> [String] {
        var advice: [String] = []
        for index in dead.map(\.index) {
            guard let interface = self.observation.interface(index), interface.type != .loopback else { continue }
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
        if let parent = interface.parentIndex.flatMap(self.observation.interface), !parent.flags.contains(.up) {
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
        self.interfaces.filter { $0.type != .loopback && $0.controllerIndex == nil && isWanted($0) }
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

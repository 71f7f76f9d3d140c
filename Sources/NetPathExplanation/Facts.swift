// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

extension AssessedEvidence {
    /// How many interfaces are listed; machines with thousands of virtual ones exist.
    private static let interfaceLimit = 20

    /// The evidence as sentences.
    func facts(describingErrors message: (Int32) -> String) -> [String] {
        var facts = self.evidence.referenceRoutes.map(self.fact)
        if self.evidence.interfaces != nil, facts.isEmpty {
            facts.append("The kernel was not asked for routes")
        }
        facts += self.gatewayFacts
        facts += self.tunnelFacts
        facts += self.interfaceFacts
        facts += self.evidence.statements.map { self.fact($0) }
        if let servers = self.dnsServers {
            facts.append(
                servers.isEmpty
                    ? "No name server is configured"
                    : "Name servers: \(servers.map(\.remark).joined(separator: ", "))"
            )
        }
        facts += self.evidence.probes?.outcomes.map { $0.fact(describingErrors: message) } ?? []
        if self.evidence.isPartial {
            facts.append("The backend sees only part of the routing policy: a route it did not find may exist")
        }
        return facts + self.evidence.limitations(concerning: nil).map { "Limited: \($0)" }
    }

    // MARK: Routes

    func fact(_ question: ReferenceRoute) -> String {
        let destination = question.destination
        switch question.answer {
        case .unknown: return "To \(destination): not known"
        case .noRoute: return "To \(destination): no route"
        case .rejected(let rejection): return "To \(destination): \(rejection.description) refuses packets"
        case .route(let route):
            let nextHops = route.nextHops.map { self.describe($0, of: route) }.joined(separator: " and ")
            var details: [String] = []
            switch route.source {
            case .address(let source): details.append("from \(source)")
            case .none: details.append("no source address to choose from")
            case .unknown: break
            }
            if let encapsulation = route.encapsulation { details.append("encapsulated (\(encapsulation))") }
            if let table = route.table, table != Route.mainTable { details.append("table \(table)") }
            if let metric = route.metric { details.append("metric \(metric)") }
            if let selected = route.selectedNextHop, route.nextHops.indices.contains(selected) {
                let name = self.name(route.nextHops[selected].interfaceIndex)
                let consequence = self.isLostByHash(question.answer) ? ", and they are lost" : ""
                details.append("the kernel's hash sends these packets through \(name)\(consequence)")
            }
            return
                "To \(destination): \(([nextHops.isEmpty ? "no next hop" : nextHops] + details).joined(separator: ", "))"
        }
    }

    private func describe(_ nextHop: NextHop, of route: Route) -> String {
        var text = "through \(self.name(nextHop.interfaceIndex))"
        if let gateway = nextHop.gateway { text += " via \(gateway)" }
        if nextHop.isPassedOver {
            text += " (skipped)"
        } else if route.nextHops.count > 1, self.canCarry(nextHop) == false {
            text += " (loses packets)"
        } else if nextHop.isDown {
            text += " (link down)"
        }
        return text
    }

    // MARK: Interfaces

    private var interfaceFacts: [String] {
        guard self.evidence.interfaces != nil else { return [] }
        let candidates = self.candidates
        if candidates.isEmpty {
            let ignored = self.ignoredFacts
            let besides = ignored.isEmpty ? "loopback" : "loopback and those that are ignored"
            return ["There is no network interface besides \(besides)"] + ignored
        }
        // Those that can matter first: of thousands of virtual interfaces that are down none explains anything.
        let isRelevant = { (interface: NetworkInterface) in
            interface.flags.contains(.up) || interface.isHardware == true
        }
        let ordered = candidates.filter(isRelevant) + candidates.filter { !isRelevant($0) }
        let shown = ordered.prefix(Self.interfaceLimit)
        let omitted = ordered.count - shown.count
        return shown.map(self.fact) + (omitted > 0 ? ["More interfaces: \(omitted)"] : []) + self.ignoredFacts
    }

    private var ignoredFacts: [String] {
        let ignored = self.interfaces.filter { self.isIgnored($0.index) }.map(\.name)
        let shown = ignored.prefix(Self.interfaceLimit).joined(separator: ", ")
        let rest = ignored.count > Self.interfaceLimit ? ", and more" : ""
        return ignored.isEmpty ? [] : ["Ignored, because the configuration says so: \(shown)\(rest)"]
    }

    /// Whether routes that refuse hide what lies behind them.
    private var isAnyRefused: Bool {
        self.evidence.referenceRoutes.contains { if case .rejected = $0.answer { true } else { false } }
    }

    private func fact(_ interface: NetworkInterface) -> String {
        var properties = [interface.kind ?? interface.type.rawValue]
        properties.append(interface.flags.contains(.up) ? "up" : "administratively down")
        if let carrier = interface.hasCarrier { properties.append(carrier ? "carrier" : "no carrier") }
        if let state = interface.operationalState { properties.append("operational state \(state.name)") }
        if let parent = interface.underlyingIndex {
            properties.append("\(interface.kind == "veth" ? "other end" : "on") \(self.name(parent))")
        }
        for member in interface.membersWithoutCarrier { properties.append("port \(member) without carrier") }
        let addresses = interface.addresses.filter(\.isGlobal).map(Self.describe)
        let none = interface.knowsAddresses ? "no global address" : "addresses not known"
        properties.append(addresses.isEmpty ? none : addresses.joined(separator: ", "))
        // The kernel shows none that it passes over for want of a carrier, and none behind routes that refuse.
        let areShown = interface.hasCarrier != false && !self.isAnyRefused
        if let routes = interface.defaultRoutes, !routes.isEmpty || areShown {
            let described = routes.map { route in
                "\(route.family.name) default route" + (route.gateway.map { " via \($0)" } ?? "")
            }
            properties.append(described.isEmpty ? "no default route" : described.joined(separator: ", "))
        }
        let verdict = self.assessments[interface.index].map { assessment in
            // A usable interface has its reason only for want of a route, which it may well have.
            if assessment.isUsable, interface.defaultRoutes?.isEmpty == false { return "usable" }
            let message = assessment.reason.message
            // What is wrong with another interface is not among the properties of this one.
            return assessment.code.rawValue + (message.hasPrefix("\(interface.name) ") ? "" : ": \(message)")
        }
        return "\(interface.name): \(properties.joined(separator: ", "))" + (verdict.map { " => \($0)" } ?? "")
    }

    private func fact(_ statement: InterfaceStatement) -> String {
        let facts = statement.facts
        var words: [String] = []
        if let type = facts.type { words.append("type \(type.rawValue)") }
        if let isExpensive = facts.isExpensive {
            words.append("traffic \(isExpensive ? "is likely to cost money" : "costs nothing")")
        }
        if let isConstrained = facts.isConstrained {
            words.append("traffic \(isConstrained ? "should be kept low" : "need not be kept low")")
        }
        if let step = facts.pendingStep { words.append("a step is pending (\(step.code.rawValue)): \(step.message)") }
        if let label = facts.label { words.append(label) }
        let isSeen = self.interfaces.contains { $0.name == facts.name }
        return "\(statement.backend) says of \(facts.name)\(isSeen ? "" : ", which is not among the interfaces"): "
            + (words.isEmpty ? "nothing" : words.joined(separator: ", "))
    }

    private static func describe(_ address: InterfaceAddress) -> String {
        if address.state.contains(.duplicate) { return "\(address.prefix) (in use elsewhere)" }
        if address.state.contains(.tentative) { return "\(address.prefix) (being checked for duplicates)" }
        return address.state.contains(.deprecated) ? "\(address.prefix) (deprecated)" : address.prefix.description
    }
}

extension ProbeOutcome {
    /// The outcome as a sentence.
    package func fact(describingErrors message: (Int32) -> String) -> String {
        "Probe of \(self.phrase(describingErrors: message))"
    }

    /// The target, and what became of it, perhaps with words on how long that took.
    package func phrase(after time: String = "", describingErrors message: (Int32) -> String) -> String {
        let result =
            switch self.result {
            case .connected: "connected"
            case .refused: "refused the connection"
            case .unreachable(let errno): "not reachable (\(message(errno)))"
            case .timedOut: "no answer in time"
            case .notResolved: "its name cannot be looked up"
            case .portal: "a captive portal answered"
            case .expected: "answered as expected"
            case .unexpected: "answered something else than expected"
            case .impersonated: "the server that answered did not prove its identity"
            }
        return "\(self.target): \(result)\(time)" + (self.detail.map { ": \($0)" } ?? "")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The evidence of one moment with every interface assessed: what verdicts and explanations are made from.
package struct AssessedEvidence {
    package let evidence: Evidence
    /// The interfaces that packets to the internet leave through.
    let egress: [UInt32]
    /// Whether any bridge was asked where it has gateways.
    let knowsPlaces: Bool
    /// The interfaces as the rules see them, sorted by index.
    package let interfaces: [NetworkInterface]
    package let byIndex: InterfaceMap<NetworkInterface>
    package var assessments: InterfaceMap<InterfaceAssessment>
    /// What becomes of the outer packets of the tunnels that the kernel's answers lead into, whatever they are about.
    // An empty literal looks up the types of a dictionary each time.
    package var transports: [UInt32: TunnelTransport] = .init()
    /// The interfaces that look well and deliver packets nowhere.
    package var deadEnds: Set<UInt32> = []
    /// What backends state of interfaces, by index.
    private var factsByIndex: [UInt32: InterfaceFacts] = .init()
    /// The rule that applies to each interface, where one does.
    private let ruleByIndex: InterfaceMap<InterfaceRule?>
    /// Where in ``interfaces`` those are that could ever carry a path: members of a bridge or bond are represented by it.
    let candidatePositions: [Int]

    /// Assesses the interfaces, and judges the tunnels, also those that packets to one host are sent into.
    package init(
        _ evidence: Evidence,
        policy: EvaluationPolicy,
        now: MonotonicTime,
        towards host: RouteLookupResult? = nil
    ) {
        var interfaces = evidence.interfaces ?? []
        // Reports promise this order; a verdict must not depend on whether a backend keeps the promise.
        if interfaces.indices.dropFirst().contains(where: { interfaces[$0].index < interfaces[$0 - 1].index }) {
            interfaces.sort { $0.index < $1.index }
        }
        let statements = evidence.statements
        if !statements.isEmpty {
            for position in interfaces.indices {
                guard let facts = statements.facts(of: interfaces[position].name) else { continue }
                interfaces[position].take(facts)
                self.factsByIndex[interfaces[position].index] = facts
            }
        }
        // After what is stated: a person knows best.
        var rules: [InterfaceRule?] = []
        if !policy.interfaceRules.isEmpty {
            for position in interfaces.indices {
                let rule = policy.interfaceRules.first { $0.match.fits(interfaces[position]) }
                rules.append(rule)
                interfaces[position].type = rule?.type ?? interfaces[position].type
            }
        }
        let indices = interfaces.map(\.index)
        let byIndex = InterfaceMap(indices, interfaces)
        self.egress = evidence.referenceRoutes.egress
        self.knowsPlaces = evidence.gateways.contains { $0.place != nil }
        self.evidence = evidence
        self.interfaces = interfaces
        self.byIndex = byIndex
        self.ruleByIndex = InterfaceMap(rules.isEmpty ? [] : indices, rules)
        self.candidatePositions = interfaces.indices.filter { position in
            interfaces[position].type != .loopback && interfaces[position].controllerIndex == nil
                && (rules.isEmpty || rules[position]?.isIgnored != true)
        }
        let facts = self.factsByIndex
        self.assessments = InterfaceMap(
            indices,
            interfaces.indices.map { position in
                // In place: an interface is large.
                let rule = position < rules.count ? rules[position] : nil
                let assessment = InterfaceAssessment.assess(
                    interfaces[position],
                    fault: Self.fault(below: interfaces[position], byIndex),
                    rule: rule,
                    policy: policy,
                    now: now
                )
                if let step = facts[interfaces[position].index]?.pendingStep { return assessment.waiting(for: step) }
                return rule?.dialsOnDemand == true ? assessment.dialing(interfaces[position]) : assessment
            }
        )
        self.judgeDeadEnds()
        self.judgeTunnels(towards: host)
    }

    package func fault(below interface: NetworkInterface) -> NetworkInterface? {
        Self.fault(below: interface, self.byIndex)
    }

    /// What is wrong below an interface that is built on others (IFLA_LINK): the lowest one that is down, else the
    /// lowest without a link.
    ///
    /// A macvlan over an admin-down parent looks fine by itself, so the parent has to be asked; and where a cable is
    /// missing, it is missing at the bottom.
    static func fault(
        below interface: NetworkInterface,
        _ byIndex: InterfaceMap<NetworkInterface>
    ) -> NetworkInterface? {
        var down: Int?
        var unlinked: Int?
        var next = interface.indispensableParent
        // Stacks are finite, but the ends of a veth pair name each other.
        for _ in 0..<8 {
            guard let index = next, index != interface.index, let parent = byIndex.position(of: index) else { break }
            if !byIndex.values[parent].flags.contains(.up) {
                down = parent
            } else if !byIndex.values[parent].hasLink {
                unlinked = parent
            }
            next = byIndex.values[parent].underlyingIndex
        }
        return (down ?? unlinked).map { byIndex.values[$0] }
    }

    /// The rule that applies to an interface, if there is one.
    func rule(_ index: UInt32) -> InterfaceRule? {
        self.ruleByIndex[index] ?? nil
    }

    /// What backends state of an interface, if anything.
    func facts(_ index: UInt32) -> InterfaceFacts? { self.factsByIndex[index] }

    /// The interfaces that could ever carry a path.
    package var candidates: [NetworkInterface] { self.candidatePositions.map { self.interfaces[$0] } }

    /// Whether a rule hides an interface.
    package func isIgnored(_ index: UInt32) -> Bool {
        self.rule(index)?.isIgnored == true
    }

    /// The name of an interface, for people.
    package func name(_ index: UInt32) -> String {
        self.byIndex[index]?.name ?? "interface \(index)"
    }

    /// The type of an interface; nil for one that is not seen.
    func type(of index: UInt32) -> InterfaceType? {
        self.byIndex.position(of: index).map { self.interfaces[$0].type }
    }

    /// Whether packets can leave through a next hop; nil when the evidence does not tell.
    package func canCarry(_ nextHop: NextHop) -> Bool? {
        guard let position = self.byIndex.position(of: nextHop.interfaceIndex) else {
            return nextHop.isDown ? false : nil
        }
        return self.assessments.values[position].isUsable && !nextHop.isDown
            && self.interfaces[position].type != .loopback && !self.isIgnored(nextHop.interfaceIndex)
            && self.lostPort(of: nextHop) == nil
    }

    /// Whether the interface of a next hop is down.
    func isDead(_ nextHop: NextHop) -> Bool {
        self.byIndex.position(of: nextHop.interfaceIndex).map { !self.interfaces[$0].flags.contains(.up) } ?? false
    }

    /// Whether packets with this source address find their way back, from beyond the link or from the link itself.
    func isUsableSource(_ source: InternetAddress, toLink isOnLink: Bool = false) -> Bool {
        // A router does not forward packets from a link-local IPv6 address (RFC 4291 section 2.5.6); 169.254.0.0/16
        // is real egress in some clouds.
        if source.isUnspecified || (source.family == .ipv6 && source.isLinkLocal && !isOnLink) { return false }
        // Without any other address the kernel offers ::1.
        if source.isLoopback { return false }
        // Several interfaces may hold the same address, as long as one of them may use it.
        var isHeld = false
        for position in self.interfaces.indices {
            for address in self.interfaces[position].addresses where address.prefix.address == source {
                if address.isUsable { return true }
                isHeld = true
            }
        }
        return !isHeld
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What one interface can do by itself, whatever the routes say.
package struct InterfaceAssessment: Hashable {
    /// Whether packets can leave through it.
    package var isUsable: Bool
    /// What keeps it from carrying a path; for a usable interface the reason it would have without a route.
    package var reason: PathReason {
        get { PathReason(self.code, self.subject + self.predicate) }
        set { (self.code, self.subject, self.predicate) = (newValue.code, newValue.message, "") }
    }
    /// The code of the reason.
    package private(set) var code: PathReason.Code
    // Put together only when they are read: nearly no reason of an interface that carries a path is.
    private var subject: String
    private var predicate: String
    /// Whether that reason is a step that is pending or can be started.
    var isStartable: Bool
    /// When the assessment changes without an event.
    package var reviseAt: MonotonicTime?

    private init(
        _ code: PathReason.Code,
        _ subject: String,
        _ predicate: String = "",
        usable: Bool = false,
        startable: Bool = false
    ) {
        self.isUsable = usable
        self.code = code
        self.subject = subject
        self.predicate = predicate
        self.isStartable = startable
    }

    /// Applies the rules for one interface.
    ///
    /// - Parameters:
    ///   - interface: The interface.
    ///   - fault: What is wrong below, see ``AssessedEvidence/fault(below:_:)``.
    ///   - rule: The rule that applies to the interface.
    ///   - policy: What the verdict depends on besides the evidence.
    ///   - now: The present moment.
    /// - Returns: What the interface can do.
    static func assess(
        _ interface: NetworkInterface,
        fault: NetworkInterface?,
        rule: InterfaceRule?,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) -> InterfaceAssessment {
        guard interface.flags.contains(.up) else {
            return interface.isRadioBlocked == true
                ? .radioBlocked(interface.name)
                : .init(.interfaceDown, interface.name, " is administratively down")
        }
        if let fault, !fault.flags.contains(.up) {
            return .init(.noCarrier, fault.name(below: interface), " is administratively down")
        }
        // PPP learns of a lost link from its own echoes, half a minute later (`pppd(8)`).
        guard interface.hasLink, fault == nil || interface.kind != "ppp" else {
            return .withoutCarrier(fault ?? interface, below: interface)
        }
        if interface.operationalState == .dormant {
            return .init(.authenticating, interface.name, " is waiting for authentication", startable: true)
        }
        return .withCarrier(interface, rule: rule, policy: policy, now: now)
    }

    /// The assessment of an interface that delivers packets nowhere, whatever it says of itself.
    static func deadEnd(_ reason: PathReason) -> InterfaceAssessment { .init(reason.code, reason.message) }

    /// The assessment of an interface that something connects as soon as there is traffic.
    ///
    /// A step of its own that the interface is in says more, and a radio switch keeps everybody from dialling.
    func dialing(_ interface: NetworkInterface) -> InterfaceAssessment {
        guard !self.isStartable, self.code != .radioBlocked else { return self }
        var assessment = self
        assessment.reason = PathReason(.dialOnDemand, "\(interface.name) is connected when there is traffic")
        assessment.isStartable = true
        return assessment
    }

    /// The assessment of an interface of which a backend states a step that is pending or can be started.
    ///
    /// It takes no path away that the kernel has: an interface that is usable stays so.
    func waiting(for step: PathReason) -> InterfaceAssessment {
        guard self.code != .radioBlocked else { return self }
        var assessment = self
        assessment.reason = step
        assessment.isStartable = true
        assessment.reviseAt = nil
        return assessment
    }

    private static func radioBlocked(_ name: String) -> InterfaceAssessment {
        .init(.radioBlocked, name, " is blocked by a radio switch")
    }

    private static func withoutCarrier(
        _ interface: NetworkInterface,
        below upper: NetworkInterface
    ) -> InterfaceAssessment {
        let name = interface.name(below: upper)
        return switch interface.type {
        case _ where interface.isRadioBlocked == true: .radioBlocked(name)
        case .wifi where interface.mayHaveTheWrongKey:
            .init(.wifiNotAssociated, name, " fails to authenticate; the key may be wrong", startable: true)
        case .wifi: .init(.wifiNotAssociated, name, " is not associated with a Wi-Fi network", startable: true)
        case .cellular: .init(.modemNotConnected, name, " is not connected", startable: true)
        case .wired, .loopback, .other:
            .init(.noCarrier, name, " " + (interface.bondFault?.description ?? "has no carrier"))
        }
    }

    private static func withCarrier(
        _ interface: NetworkInterface,
        rule: InterfaceRule?,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) -> InterfaceAssessment {
        let name = interface.name
        let grace = rule?.expectsAddress ?? interface.expectsAddress ? policy.configurationGrace : .zero
        // A person knows better than what is seen.
        let isAwaited = rule?.expectsAddress == true || interface.configurer != .nothing
        guard interface.knowsAddresses else {
            return .init(.noRoute, "no route to the internet leads through ", name, usable: true)
        }
        func waiting(
            since: MonotonicTime?,
            for span: Duration,
            _ subject: String,
            _ predicate: String
        ) -> InterfaceAssessment? {
            // A stamp of the kernel may be ahead by a tick; in a time namespace it is by any amount, and tells nothing.
            guard let since, since <= now + .seconds(1), now < since + span else { return nil }
            var assessment = Self(.configuringAddress, subject, predicate, usable: true, startable: true)
            assessment.reviseAt = since + span
            return assessment
        }
        func isServed(_ address: InterfaceAddress) -> Bool {
            interface.hasDefaultRoute(address.prefix.address.family)
        }
        let noRoute = Self(.noRoute, name, " has an address but no route to the internet", usable: true)
        if interface.addresses.contains(where: { $0.isGlobal && $0.isUsable && isServed($0) }) { return noRoute }
        let global = interface.addresses.filter(\.isGlobal)
        let usable = global.filter(\.isUsable)
        // Duplicate address detection is a pending step by itself: the kernel ends it, one way or the other. What only
        // leads to containers comes no closer to a path by it.
        let mayLeadOut = grace > .zero || !interface.isContainerLink || interface.defaultRoutes?.isEmpty == false
        let checked = global.filter {
            mayLeadOut && $0.state.contains(.tentative) && !$0.isUsable && !$0.state.contains(.duplicate)
        }
        if usable.isEmpty ? !checked.isEmpty : checked.contains(where: isServed) {
            let message = "the address of \(name) is being checked for duplicates"
            return .init(.configuringAddress, message, usable: true, startable: true)
        }
        if !usable.isEmpty {
            // What gives an address gives the route in a moment.
            let step = " has an address and is waiting for a route"
            let leased = isAwaited ? usable.compactMap(\.dynamicSince).max() : nil
            return waiting(since: leased, for: grace, name, step)
                ?? waiting(since: interface.firstAddedAt, for: min(grace, .seconds(1)), name, step) ?? noRoute
        }
        let isKnown = rule?.expectsAddress == true || interface.configurer == .network
        // Most drivers of modems claim a carrier whether there is a bearer or not; those that do not claim it say "up".
        let mayHaveABearer = isKnown || interface.operationalState == .up
        let since = isAwaited && (interface.type != .cellular || mayHaveABearer) ? interface.carrierSince : nil
        let (subject, predicate) =
            interface.configurer == .session
            ? ("a PPPoE session is being set up over ", name)
            : (name, isKnown ? " is waiting for an address" : " has no address yet")
        if let pending = waiting(since: since, for: grace, subject, predicate) { return pending }
        if interface.type == .cellular {
            return .init(.modemNotConnected, name, " has no address", usable: true, startable: true)
        }
        let isTaken = global.contains { $0.state.contains(.duplicate) }
        return isTaken
            ? .init(.noAddress, "every address of \(name) is in use elsewhere", usable: true)
            : .init(.noAddress, name, " has no address", usable: true)
    }
}

extension NetworkInterface {
    /// Whether a service is about to give the interface an address, once there is a carrier.
    ///
    /// Of virtual interfaces only lines to a provider are expected to get one, and those that got one before.
    fileprivate var expectsAddress: Bool {
        self.isHardware == true || self.kind == "ppp" || self.type == .wifi || self.type == .cellular
            || self.expectsConfiguration == true
    }

    /// Whether it looks like one end of what containers or virtual machines are linked with.
    fileprivate var isContainerLink: Bool {
        self.kind == "veth" || (self.kind == "bridge" && self.foundation != .hardware)
    }

    /// When the first usable address of a family came that packets beyond the link may be sent from, of the family whose
    /// first one came last; nil where that is unknown.
    fileprivate var firstAddedAt: MonotonicTime? {
        AddressFamily.allCases.compactMap { family in
            let usable = self.addresses.filter {
                $0.isGlobal && $0.isUsable && $0.prefix.address.family == family && !$0.prefix.address.isLinkLocal
            }
            // An age that is not known counts as long ago.
            return usable.contains { $0.addedAt == nil } ? nil : usable.compactMap(\.addedAt).min()
        }.max()
    }

    /// Whether a supplicant tries in vain: what ends one authentication is often the weather, what ends two is not.
    package var mayHaveTheWrongKey: Bool { self.failedAuthentications ?? 0 > 1 }

    /// Whether there is a link; what is not known counts as one.
    ///
    /// An access point that is lost leaves the state dormant for a moment; without a carrier no station authenticates.
    @inline(__always) var hasLink: Bool {
        switch self.operationalState {
        case .down, .lowerLayerDown, .notPresent, .testing: false
        case .dormant, .up, .unknown, nil: self.hasCarrier != false
        }
    }

    /// The name, together with that of the interface built on this one that people ask about.
    fileprivate func name(below upper: NetworkInterface) -> String {
        if upper.index == self.index { return self.name }
        // The kernel counts the other end of a veth pair as the interface below.
        return upper.kind == "veth"
            ? "\(self.name), the other end of \(upper.name)," : "\(self.name) below \(upper.name)"
    }

    /// Whether it has a usable address that reaches beyond the link, or this is unknown.
    var mayHaveGlobalAddress: Bool {
        !self.knowsAddresses || self.addresses.contains { $0.isGlobal && $0.isUsable }
    }

    /// Whether the interface has a default route of a family.
    package func hasDefaultRoute(_ family: AddressFamily) -> Bool {
        self.defaultRoutes?.contains { $0.family == family } == true
    }

    /// Whether packets of a family could be sent with an address of the interface itself.
    package func canSend(_ family: AddressFamily) -> Bool {
        // What is not known is not missing.
        guard self.knowsAddresses else { return true }
        return self.addresses.contains { address in
            address.isUsable && address.prefix.address.family == family
                // Some clouds route 169.254.0.0/16; IPv6 never does its link-local addresses (RFC 4291).
                && (address.isGlobal || (family == .ipv4 && address.scope == .link))
        }
    }

    /// Whether the interface could carry a path by itself: an address and a default route of the same family.
    @inline(__always) var isAlternative: Bool { AddressFamily.allCases.contains { self.isAlternative($0) } }

    /// The same of one family.
    func isAlternative(_ family: AddressFamily) -> Bool { self.hasDefaultRoute(family) && self.canSend(family) }
}

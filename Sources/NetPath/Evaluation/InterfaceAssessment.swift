// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What one interface can do by itself, whatever the routes say.
struct InterfaceAssessment: Hashable {
    /// Whether packets can leave through it.
    var isUsable: Bool
    /// What keeps it from carrying a path; for a usable interface the reason it would have without a route.
    var reason: PathReason
    /// Whether that reason is a step that is pending or can be started.
    var isStartable: Bool
    /// When the assessment changes without an event.
    var reviseAt: MonotonicTime?

    private init(_ code: PathReason.Code, _ message: String, usable: Bool = false, startable: Bool = false) {
        self.isUsable = usable
        self.reason = PathReason(code, message)
        self.isStartable = startable
    }

    /// Applies the rules for one interface.
    ///
    /// `parent` is the interface it is built on, when that lies in the same namespace: a macvlan over an admin-down
    /// parent looks fine by itself, so the parent has to be asked.
    static func assess(
        _ interface: NetworkInterface,
        parent: NetworkInterface?,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) -> InterfaceAssessment {
        let name = interface.name
        guard interface.flags.contains(.up) else {
            return interface.isRadioBlocked == true
                ? .radioBlocked(interface) : .init(.interfaceDown, "\(name) is administratively down")
        }
        if let parent, !parent.flags.contains(.up) {
            return .init(.noCarrier, "\(parent.name) below \(name) is administratively down")
        }
        switch interface.operationalState {
        case .dormant:
            return .init(.authenticating, "\(name) is waiting for authentication", startable: true)
        case .down, .lowerLayerDown, .notPresent, .testing:
            return .withoutCarrier(interface)
        case .up, .unknown, nil:
            if interface.hasCarrier == false { return .withoutCarrier(interface) }
        }
        return .withCarrier(interface, policy: policy, now: now)
    }

    /// The assessment of an interface that something connects as soon as there is traffic.
    ///
    /// A step of its own that the interface is in says more, and a radio switch keeps everybody from dialling.
    func dialing(_ interface: NetworkInterface) -> InterfaceAssessment {
        guard !self.isStartable, self.reason.code != .radioBlocked else { return self }
        var assessment = self
        assessment.reason = PathReason(.dialOnDemand, "\(interface.name) is connected when there is traffic")
        assessment.isStartable = true
        return assessment
    }

    private static func radioBlocked(_ interface: NetworkInterface) -> InterfaceAssessment {
        .init(.radioBlocked, "\(interface.name) is blocked by a radio switch")
    }

    private static func withoutCarrier(_ interface: NetworkInterface) -> InterfaceAssessment {
        switch interface.type {
        case _ where interface.isRadioBlocked == true: .radioBlocked(interface)
        case .wifi:
            .init(.wifiNotAssociated, "\(interface.name) is not associated with a Wi-Fi network", startable: true)
        case .cellular:
            .init(.modemNotConnected, "\(interface.name) is not connected", startable: true)
        case .wired, .loopback, .other:
            .init(.noCarrier, "\(interface.name) has no carrier")
        }
    }

    private static func withCarrier(
        _ interface: NetworkInterface,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) -> InterfaceAssessment {
        let name = interface.name
        if interface.addresses.contains(where: { $0.isGlobal && $0.isUsable }) {
            return .init(.noRoute, name + " has an address but no route to the internet", usable: true)
        }
        let global = interface.addresses.filter(\.isGlobal)
        // Duplicate address detection is a pending step by itself: the kernel ends it, one way or the other.
        if global.contains(where: { $0.state.contains(.tentative) && !$0.state.contains(.duplicate) }) {
            return .init(
                .configuringAddress,
                "the address of \(name) is being checked for duplicates",
                usable: true,
                startable: true
            )
        }
        if interface.expectsConfiguration == true, let since = interface.carrierSince,
            now < since + policy.configurationGrace
        {
            var assessment = InterfaceAssessment(
                .configuringAddress,
                "\(name) is waiting for an address",
                usable: true,
                startable: true
            )
            assessment.reviseAt = since + policy.configurationGrace
            return assessment
        }
        if interface.type == .cellular {
            return .init(.modemNotConnected, "\(name) has no address", usable: true, startable: true)
        }
        let duplicate = global.contains { $0.state.contains(.duplicate) }
        let message = duplicate ? "every address of \(name) is in use elsewhere" : "\(name) has no address"
        return .init(.noAddress, message, usable: true)
    }
}

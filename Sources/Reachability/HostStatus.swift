// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// Whether a host can be reached, as far as this machine can tell without asking it.
public enum HostStatus: Hashable, Sendable {
    /// Packets to the host would be sent.
    case reachable(HostRoute)
    /// Packets to the host would be sent over a cellular link, or through a tunnel that one carries.
    case cellular(HostRoute)
    /// It cannot be told: the name is not resolved (yet, ``isPending``), or no backend answers (yet).
    case unknown(PathReason)
    /// Packets to the host would not be sent: there is no route, a route refuses them, or its link is down; or the
    /// address is one that no connection can be made to.
    case unreachable(PathReason)

    /// Whether packets would be sent.
    public var isReachable: Bool { self.route != nil }

    /// Whether this is only for now: the name of the host is being looked up for the first time, or what carries the tunnel
    /// that leads to it.
    public var isPending: Bool { self.reason.code == .resolving }

    /// Whether packets would be sent; over a cellular link only where the caller allows it.
    public func isReachable(allowingCellular: Bool) -> Bool {
        if case .cellular = self { return allowingCellular }
        return self.isReachable
    }

    /// The way they would take; nil when none would be sent.
    public var route: HostRoute? {
        switch self {
        case .reachable(let route), .cellular(let route): route
        case .unknown, .unreachable: nil
        }
    }

    /// Why, with a sentence for people.
    public var reason: PathReason {
        switch self {
        case .reachable(let route), .cellular(let route): PathReason(.routed, route.description)
        case .unknown(let reason), .unreachable(let reason): reason
        }
    }

    /// The name used in output: `reachable`, `cellular`, `unknown` or `unreachable`.
    public var name: String {
        switch self {
        case .reachable: "reachable"
        case .cellular: "cellular"
        case .unknown: "unknown"
        case .unreachable: "unreachable"
        }
    }
}

extension HostStatus: CustomStringConvertible {
    /// One line for people: the ``name`` and the reason.
    public var description: String { "\(self.name): \(self.reason.message)" }
}

/// The way packets to a host would take.
public struct HostRoute: Hashable, Sendable, CustomStringConvertible {
    /// The address of the host they would be sent to.
    public var address: InternetAddress
    /// The family of that address.
    public var family: AddressFamily { self.address.family }
    /// The index of the interface they would leave through.
    public var interfaceIndex: UInt32
    /// The name of that interface; nil when no backend has reported it.
    public var interface: String?
    /// What that interface is; nil when no backend has reported it.
    public var interfaceType: InterfaceType?
    /// The next hop; nil when there is none.
    public var gateway: InternetAddress?
    /// Whether that next hop answers on the link, as `Gateway.answers` says.
    ///
    /// False when the kernel drops packets through it; nil when it is unknown.
    public var gatewayAnswers: Bool?
    /// The address of this machine that they would carry; nil when unknown.
    public var source: InternetAddress?
    /// Whether they would not leave the link, or not even this machine: no router is involved.
    public var isLocalOnly = false
    /// Whether they would go through a tunnel.
    public var isTunnel = false
    /// Whether that tunnel is of a kind that virtual private networks use.
    public var isVPN = false
    /// The name of the interface that carries the packets of the tunnel, as the kernel says; nil when it is unknown, and
    /// without a tunnel. (`NetworkPath.carriedByIndex` is the index of that of a path.)
    public var carriedBy: String?
    /// Whether it is not known that anything carries the packets of the tunnel.
    public var isDoubtful = false

    /// Creates a route beyond the link and through no tunnel; everything else is set afterwards.
    public init(to address: InternetAddress, interfaceIndex: UInt32) {
        self.address = address
        self.interfaceIndex = interfaceIndex
    }

    /// One line for people.
    public var description: String {
        if self.interfaceType == .loopback { return "\(self.address) is this machine" }
        let target = self.address.isUnspecified ? "any network" : "\(self.address)"
        var text = "\(target) through \(self.interface ?? "interface \(self.interfaceIndex)")"
        if let gateway { text += " via \(gateway)" + (self.gatewayAnswers == false ? ", which does not answer" : "") }
        if self.isLocalOnly { text += ", on the link" }
        if self.isTunnel {
            text += self.isVPN ? ", VPN" : ", tunnel"
            if let carriedBy { text += " over \(carriedBy)" }
            if self.isDoubtful { text += "; it is unknown whether anything carries it" }
        }
        return text
    }
}

extension PathReason.Code {
    /// The name of a host is being looked up for the first time.
    public static let resolving = Self(rawValue: "resolving")
    /// The name of a host could not be looked up.
    public static let notResolved = Self(rawValue: "notResolved")
    /// No backend can tell what the kernel would do with packets to a host.
    public static let notAnswered = Self(rawValue: "notAnswered")
}

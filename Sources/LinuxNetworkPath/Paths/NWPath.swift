// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What is known of the network at one moment: whether there is a path, and over what.
///
/// A value; it never changes after it was handed out.
public struct NWPath: Equatable, CustomDebugStringConvertible, Sendable {
    /// Whether there is a path.
    public enum Status: Sendable {
        /// There is one: packets have a route. That a host answers is not promised.
        case satisfied
        /// There is none.
        case unsatisfied
        /// There is none, but a step that is pending or can be started may bring one.
        case requiresConnection
    }

    /// Why there is no path.
    public enum UnsatisfiedReason: Sendable {
        /// No reason is known, or there is a path.
        case notAvailable
        /// A radio switch keeps the cellular interface off.
        case cellularDenied
        /// A radio switch keeps the Wi-Fi interface off.
        case wifiDenied
        /// Local network access is denied; not told on Linux.
        case localNetworkDenied
        /// A required VPN is not connected; not told on Linux.
        case vpnInactive
    }

    /// How good the link is.
    public enum LinkQuality: Sendable {
        /// Not known; always so on Linux.
        case unknown
        /// Hardly usable.
        case minimal
        /// Usable.
        case moderate
        /// Good.
        case good
    }

    /// Whether there is a path.
    public let status: NWPath.Status
    /// The interfaces that the path could lead through, the one it does lead through first.
    public let availableInterfaces: [NWInterface]
    /// Whether traffic is likely to cost money: over cellular links, for example.
    public let isExpensive: Bool
    /// Whether IPv4 packets have a route.
    public let supportsIPv4: Bool
    /// Whether IPv6 packets have a route.
    public let supportsIPv6: Bool
    /// Whether there is a path, and a name server is configured that packets have a route to.
    public let supportsDNS: Bool
    /// Always nil: the path is that of the machine, not that of a connection.
    public var localEndpoint: NWEndpoint? { nil }
    /// Always nil: the path is that of the machine, not that of a connection.
    public var remoteEndpoint: NWEndpoint? { nil }

    let details: PathDetails

    init(_ details: PathDetails) {
        let view = details.view
        self.status = Status(view?.status ?? .unsatisfied)
        self.availableInterfaces = view?.interfaces.map { NWInterface($0) } ?? []
        self.isExpensive = view?.isExpensive ?? false
        self.supportsIPv4 = view?.supportsIPv4 ?? false
        self.supportsIPv6 = view?.supportsIPv6 ?? false
        self.supportsDNS = view?.supportsDNS ?? false
        self.details = details
    }

    /// Why there is no path; ``UnsatisfiedReason/notAvailable`` when there is one.
    public var unsatisfiedReason: NWPath.UnsatisfiedReason { self.details.unsatisfiedReason }

    /// Whether traffic should be kept low.
    public var isConstrained: Bool { self.details.view?.isConstrained ?? false }

    /// Whether traffic must be kept to a minimum; never so on Linux.
    public var isUltraConstrained: Bool { false }

    /// How good the link is; not known on Linux.
    public var linkQuality: NWPath.LinkQuality { .unknown }

    /// The gateways in use, each as an endpoint with port 0.
    public var gateways: [NWEndpoint] { self.details.gateways }

    /// Whether packets may leave through an interface of a type.
    ///
    /// Narrower than a look at ``availableInterfaces``: with a VPN that takes everything, only `other` is used.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        self.details.view?.interfaces.contains { $0.carriesPath && NWInterface.InterfaceType($0.type) == type } ?? false
    }

    /// One line for logs, in the form that Apple's platforms use.
    public var debugDescription: String { self.details.text }

    /// Whether everything is the same: also addresses, routes and name servers, which do not show elsewhere.
    public static func == (lhs: NWPath, rhs: NWPath) -> Bool {
        lhs.details === rhs.details || lhs.details.view == rhs.details.view
    }
}

extension NWPath.Status {
    init(_ status: PathStatus) {
        switch status {
        case .satisfied: self = .satisfied
        case .unsatisfied: self = .unsatisfied
        case .requiresConnection: self = .requiresConnection
        }
    }
}

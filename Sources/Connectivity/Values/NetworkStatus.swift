// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// How the network is, in one word.
public enum NetworkStatus: String, Hashable, Sendable, CaseIterable {
    /// There is a path to the network, and no probe says that the internet is not behind it.
    case connected
    /// There is a path, and a captive portal answers for the internet: the user has to sign in. Only probes tell.
    case portal
    /// There is a path, and nothing on the internet answers. Only probes tell.
    case noInternet
    /// Nothing to connect with: no interface, all of them down, no carrier, or the radio is blocked.
    case disconnected
    /// There is no path now, but a step that is pending or can be started may bring one.
    case requiresConnection
    /// There is a link, but no path over it: no address, no route, a route that rejects.
    case unsatisfied
    /// No backend can tell, or none yet; that does not mean that there is no path.
    case unknown

    /// Derives the status from a path; nil, when no backend has a verdict, is ``unknown``.
    public init(_ path: NetworkPath?) {
        switch path?.status {
        case .satisfied:
            switch path?.internet {
            case .portal: self = .portal
            case .unreachable: self = .noInternet
            case .reachable, .unknown, nil: self = .connected
            }
        case .requiresConnection: self = .requiresConnection
        case nil: self = .unknown
        case .unsatisfied:
            switch path?.reason.code {
            case .noInterface, .allDown, .interfaceDown, .radioBlocked, .noCarrier: self = .disconnected
            default: self = .unsatisfied
            }
        }
    }

    /// Whether there is a path for certain; false where that is unknown, unlike ``NetworkMonitor/isConnected``.
    public var hasPath: Bool { [.connected, .portal, .noInternet].contains(self) }

    /// A word or two for people: `Online`, `Sign In`, `No Internet`, `Connecting`, `Offline` or `Unknown`.
    public var displayName: String {
        switch self {
        case .connected: "Online"
        case .portal: "Sign In"
        case .noInternet: "No Internet"
        case .requiresConnection: "Connecting"
        case .disconnected, .unsatisfied: "Offline"
        case .unknown: "Unknown"
        }
    }
}

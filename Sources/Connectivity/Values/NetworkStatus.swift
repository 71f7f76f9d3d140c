// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// How the network is, in one word.
public enum NetworkStatus: String, Hashable, Sendable, CaseIterable {
    /// There is a path to the network.
    case connected
    /// Nothing to connect with: no interface, all of them down, no carrier, or the radio is blocked.
    case disconnected
    /// There is no path now, but a step that is pending or can be started may bring one.
    case requiresConnection
    /// There is a link, but no path over it: no address, no route, a route that rejects.
    case unsatisfied
    /// Nobody can tell, or not yet; that does not mean that there is no path.
    case unknown

    /// Derives the status from a path; nil, when nobody has an opinion, is ``unknown``.
    public init(_ path: NetworkPath?) {
        switch path?.status {
        case .satisfied: self = .connected
        case .requiresConnection: self = .requiresConnection
        case nil: self = .unknown
        case .unsatisfied:
            switch path?.reason.code {
            case .noInterface, .allDown, .interfaceDown, .radioBlocked, .noCarrier: self = .disconnected
            default: self = .unsatisfied
            }
        }
    }

    /// Whether there is a path for certain; whether to try all the same, ``NetworkMonitor/isConnected`` says.
    public var isConnected: Bool { self == .connected }

    /// Whether a path may come without anybody touching a cable or a switch.
    public var mayConnect: Bool { self == .requiresConnection }

    /// One word for people: `Online`, `Connecting`, `Offline` or `Unknown`.
    public var displayName: String {
        switch self {
        case .connected: "Online"
        case .requiresConnection: "Connecting"
        case .disconnected, .unsatisfied: "Offline"
        case .unknown: "Unknown"
        }
    }

    /// The name of an icon, one of the SF Symbols: `wifi`, `wifi.slash` and `wifi.exclamationmark` without a path, and
    /// `questionmark.circle` when nobody can tell.
    public var iconName: String {
        switch self {
        case .connected: "wifi"
        case .requiresConnection: "wifi.exclamationmark"
        case .disconnected, .unsatisfied: "wifi.slash"
        case .unknown: "questionmark.circle"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// What the path leads over.
public enum ConnectionType: String, Hashable, Sendable, Codable, CaseIterable {
    /// Wi-Fi.
    case wifi
    /// A cellular network.
    case cellular
    /// A cable.
    case ethernet
    /// This machine itself.
    case loopback
    /// Something else, such as a tunnel over an interface that is not known; also while no backend has a verdict.
    case other
    /// Nothing: there is no path.
    case none

    /// Derives the type from a path; of a tunnel that of the hardware below it, where that is known.
    ///
    /// Nil, when no backend has a verdict, is ``other``.
    public init(_ path: NetworkPath?) {
        guard let path else {
            self = .other
            return
        }
        guard path.status == .satisfied else {
            self = .none
            return
        }
        let below = path.carriedByIndex.flatMap { index in path.interfaces.first { $0.index == index } }
        switch (below ?? path.interfaces.first { $0.reason.code == .routed })?.type {
        case .wifi: self = .wifi
        case .cellular: self = .cellular
        case .wired: self = .ethernet
        case .loopback: self = .loopback
        case .other, nil: self = .other
        }
    }

    /// The name for people, for example `WiFi`.
    public var displayName: String {
        switch self {
        case .wifi: "WiFi"
        case .cellular: "Cellular"
        case .ethernet: "Ethernet"
        case .loopback: "Loopback"
        case .other: "Other"
        case .none: "None"
        }
    }

    /// The end of a sentence for people, for example `via WiFi`; `not connected` without a path.
    public var phrase: String {
        switch self {
        case .wifi, .cellular, .ethernet, .loopback: "via \(self.displayName)"
        case .other: "via another network"
        case .none: "not connected"
        }
    }
}

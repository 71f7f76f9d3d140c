// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// What a monitor knows at one moment.
public struct ConnectivityUpdate: Hashable, Sendable {
    /// The path with all details; nil when no backend had a verdict.
    public let path: NetworkPath?
    /// How the network is.
    public let status: NetworkStatus
    /// What the path leads over.
    public let connectionType: ConnectionType
    /// Whether there is a path; while no backend can tell, what it was before, and true when nothing was known before.
    ///
    /// A program that tries gets a real error; one that waits for a status that never comes does nothing at all.
    public let isConnected: Bool

    /// Creates an update from a path; nil, when no backend has a verdict, counts as connected.
    public init(_ path: NetworkPath?) {
        self.init(path, wasConnected: true)
    }

    /// Creates an update from a path, or, when no backend has a verdict, from what was known before.
    init(_ path: NetworkPath?, wasConnected: Bool) {
        self.path = path
        self.status = NetworkStatus(path)
        self.isConnected = path == nil ? wasConnected : self.status.hasPath
        self.connectionType = self.isConnected ? ConnectionType(path) : .none
    }

    /// The same; where no backend has a verdict, after what was known before.
    func following(wasConnected: Bool) -> ConnectivityUpdate {
        self.path == nil ? ConnectivityUpdate(nil, wasConnected: wasConnected) : self
    }

    /// Whether traffic is likely to cost money.
    public var isExpensive: Bool { self.path?.isExpensive ?? false }
    /// Whether traffic should be kept low.
    public var isConstrained: Bool { self.path?.isConstrained ?? false }
    /// What probes say of the internet behind the path; `unknown` unless probes are configured.
    public var internet: InternetReachability { self.path?.internet ?? .unknown }
}

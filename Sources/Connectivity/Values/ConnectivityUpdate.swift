// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// What a monitor knows at one moment.
public struct ConnectivityUpdate: Hashable, Sendable {
    /// The path with all details; nil when nobody had an opinion.
    public let path: NetworkPath?
    /// How the network is.
    public let status: NetworkStatus
    /// What the path leads over.
    public let connectionType: ConnectionType

    /// Creates an update from a path.
    public init(_ path: NetworkPath?) {
        self.path = path
        self.status = NetworkStatus(path)
        self.connectionType = ConnectionType(path)
    }

    /// Whether there is a path.
    public var isConnected: Bool { self.status.isConnected }
    /// Whether traffic is likely to cost money.
    public var isExpensive: Bool { self.path?.isExpensive ?? false }
    /// Whether traffic should be kept low.
    public var isConstrained: Bool { self.path?.isConstrained ?? false }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend as a coordinator uses it.
public struct Backend: Sendable {
    /// The name, unique within a coordinator.
    public let name: String
    /// How it is used.
    public let mode: BackendMode
    /// What watches the network.
    public let monitor: any PathMonitor

    /// Creates a backend; the mode is `active` unless named.
    public init(_ name: String, mode: BackendMode = .active, monitor: any PathMonitor) {
        self.name = name
        self.mode = mode
        self.monitor = monitor
    }
}

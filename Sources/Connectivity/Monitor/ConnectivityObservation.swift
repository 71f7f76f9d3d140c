// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An observer's registration with a monitor.
///
/// Dropping it does not end the registration; ``cancel()`` does, and the end of the monitor. Thread-safe.
public final class ConnectivityObservation: Sendable {
    private let id: UInt64
    private weak let monitor: NetworkMonitor?

    package init(id: UInt64, of monitor: NetworkMonitor) {
        self.id = id
        self.monitor = monitor
    }

    /// Ends the registration.
    ///
    /// Called where the observer is called, no call follows; elsewhere, one that is under way finishes.
    public func cancel() {
        self.monitor?.remove(self.id)
    }
}

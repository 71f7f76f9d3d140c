// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An observer's registration, with a monitor or with what follows one, such as a queue of requests.
///
/// Dropping it does not end the registration; ``cancel()`` does, and the end of what is observed. Thread-safe.
public final class ConnectivityObservation: Sendable {
    private let end: @Sendable () -> Void

    /// Makes one that ends as the function does.
    package init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    package convenience init(id: UInt64, of monitor: NetworkMonitor) {
        self.init { [weak monitor] in monitor?.remove(id) }
    }

    /// Ends the registration.
    ///
    /// Called where the observer is called, no call follows; elsewhere, one that is under way finishes.
    public func cancel() {
        self.end()
    }
}

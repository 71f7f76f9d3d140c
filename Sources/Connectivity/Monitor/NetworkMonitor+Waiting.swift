// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkMonitor {
    /// Suspends until the network is in a state, which may be the present one: `wait { $0.isConnected }`.
    ///
    /// States that were over before anybody could look at them are skipped.
    ///
    /// - Parameter condition: Whether it is the one.
    /// - Returns: The state.
    /// - Throws: `CancellationError` when the task is cancelled first, for example by a test's time limit.
    @discardableResult
    public func wait(where condition: (ConnectivityUpdate) -> Bool) async throws -> ConnectivityUpdate {
        for await update in self.updates where condition(update) { return update }
        throw CancellationError()
    }
}

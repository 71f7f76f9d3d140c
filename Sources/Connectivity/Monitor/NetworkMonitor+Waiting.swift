// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathStandard
import Synchronization

extension NetworkMonitor {
    /// Suspends until the network is in a state, which may be the present one.
    ///
    /// ```swift
    /// try await monitor.wait(timeout: .seconds(10))              // until `isConnected`
    /// try await monitor.wait { $0.connectionType == .wifi }      // however long that takes
    /// ```
    ///
    /// States that were over before they could be looked at are skipped. Starts a monitor that was neither started nor
    /// stopped yet.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most; nil for no limit.
    ///   - condition: Whether it is the state; `isConnected` unless given, which is true also where no backend can tell.
    /// - Returns: The state.
    /// - Throws: `WaitError` when the time is over, or the monitor is stopped or stops; `CancellationError` when the task
    ///   is cancelled.
    @discardableResult
    public func wait(
        timeout: Duration? = nil,
        where condition: (ConnectivityUpdate) -> Bool = { $0.isConnected }
    ) async throws -> ConnectivityUpdate {
        let (updates, continuation) = ConnectivityUpdates.makeStream()
        guard let id = self.state.withLock({ $0.add(waiting: continuation) }) else { throw WaitError.stopped }
        self.begin()
        defer { self.remove(id) }
        let executor = self.source.executor
        return try await updates.first(
            within: timeout,
            endedBy: continuation,
            clock: executor,
            executor: executor,
            where: condition
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// What the thread of a monitor is asked to do, until it takes it.
package struct MonitorRequests: Sendable {
    package var isStopped = false
    package var wantsRefresh = false
    /// The hosts that clients watch, where they are others than before.
    package var watched: Set<InternetAddress>?
    /// What came of lookups of names that the monitor began.
    package var lookups: [String: NameLookup] = [:]
}

extension MonitorContext {
    /// Runs a monitor on a thread of its own until it returns, and has its mailbox say when the task is cancelled.
    ///
    /// - Parameters:
    ///   - watches: Whether the monitor wants to know which hosts clients watch.
    ///   - spacing: The least time between two refreshes, of which those that come meanwhile become one: a storm of changes
    ///     is answered without waking threads for each of them.
    ///   - body: What to run.
    /// - Throws: What the body throws, or ``SystemError`` when the system grants no thread or no descriptor.
    package func runOnThread(
        watches: Bool,
        refreshSpacing spacing: Duration? = nil,
        _ body: @escaping @Sendable (Mailbox<MonitorRequests>) throws -> Void
    ) async throws {
        let mailbox = try Mailbox(MonitorRequests())
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in self.refreshRequests {
                        mailbox.post { $0.wantsRefresh = true }
                        if let spacing { try await self.clock.sleep(until: self.clock.now() + spacing) }
                    }
                }
                if watches {
                    group.addTask {
                        for await addresses in self.watchedAddresses { mailbox.post { $0.watched = addresses } }
                    }
                }
                defer { group.cancelAll() }
                try await BackgroundThread.run { try body(mailbox) }
            }
        } onCancel: {
            mailbox.post { $0.isStopped = true }
        }
    }
}

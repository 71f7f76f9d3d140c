// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A backend that does what another one does, as far as its gate lets it.
struct ChaosMonitor: PathMonitor {
    /// How a run ends on command.
    struct Killed: Error, CustomStringConvertible {
        let description = "killed on purpose"
    }

    let inner: any PathMonitor
    let gate: Gate

    func run(_ context: MonitorContext) async throws {
        let gate = self.gate
        let relayed = MonitorContext(
            clock: context.clock,
            refreshRequests: context.refreshRequests,
            watchedAddresses: context.watchedAddresses,
            report: { gate.take($0, deliver: context.report) },
            register: context.register,
            interfaceRules: { context.interfaceRules },
            isMetered: { context.isMetered(through: $0) },
            log: context.log
        )
        let inner = self.inner
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await inner.run(relayed) }
            group.addTask {
                await gate.failure()
                // Whoever was cancelled waits for the other task, as the real one would.
                if !Task.isCancelled { throw Killed() }
            }
            defer { group.cancelAll() }
            try await group.next()
            if Task.isCancelled { try await group.next() }
        }
    }
}

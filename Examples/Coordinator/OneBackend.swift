// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// One backend alone, without a coordinator: its evidence, and what the evidence means.
//
// It is not started again when it fails, nor merged with others: a coordinator does both.

import NetPath
import NetPathNetlink

func runOneBackend() async throws {
    let clock = SystemMonotonicClock()
    let (refreshRequests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (watchedAddresses, watched) = AsyncStream.makeStream(
        of: Set<InternetAddress>.self,
        bufferingPolicy: .bufferingNewest(1)
    )
    watched.yield([])

    let context = MonitorContext(
        clock: clock,
        refreshRequests: refreshRequests,
        watchedAddresses: watchedAddresses,
        report: { evidence in
            let names = evidence.interfaces?.map(\.name).joined(separator: " ") ?? "not seen"
            guard let verdict = evidence.verdict(policy: EvaluationPolicy(), now: clock.now()) else {
                return print("no verdict; interfaces: \(names)")
            }
            print("\(verdict.status): \(verdict.reason.message); interfaces: \(names)")
        },
        register: { _ in },
        log: { level, message in print("\(level): \(message)") }
    )

    // To have everything read again and reported, also when nothing changed: refresh.yield()
    defer { refresh.finish() }
    try await NetlinkMonitor().run(context)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// One backend alone, without a coordinator: its evidence, and what the evidence means.
//
// Nobody starts it again when it fails, and nobody merges it with others: a coordinator does both.

import NetPath
import NetPathNetlink

let clock = SystemMonotonicClock()
let (refreshRequests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
let (watchedAddresses, watched) = AsyncStream.makeStream(of: Set<IPAddress>.self, bufferingPolicy: .bufferingNewest(1))
watched.yield([])

let context = MonitorContext(
    clock: clock,
    refreshRequests: refreshRequests,
    watchedAddresses: watchedAddresses,
    report: { observation in
        let names = observation.interfaces?.map(\.name).joined(separator: " ") ?? "not seen"
        guard let verdict = evaluate(observation, policy: EvaluationPolicy(), now: clock.now()) else {
            return print("no opinion; interfaces: \(names)")
        }
        print("\(verdict.status): \(verdict.reason.message); interfaces: \(names)")
    },
    offer: { _ in },
    log: { level, message in print("\(level): \(message)") }
)

// To have everything read again and reported, also when nothing changed: refresh.yield()
try await NetlinkMonitor().run(context)

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network

/// Runs a scenario that is written as applications for Apple's platforms are; what happens are lines of JSON.
func pathMonitor(_ arguments: [String]) {
    switch arguments.first {
    case "watch": watch(filter: arguments.dropFirst().first)
    case "concurrent": watchOnConcurrentQueue()
    case "cancel-inside": cancelInsideTheHandler()
    case "replace": replaceInsideTheHandler()
    case "late": setTheHandlerLate()
    case "alive": stayAlive()
    case "lifecycle": lifecycle()
    case "snapshot": readWithoutStarting()
    case "threads": useFromManyThreads()
    case "iterate": runOnMainActor { await iterate() }
    case "iterate-from": runOnMainActor { await iterateIndependently() }
    case "one-shot": runOnMainActor { await iterateOnce() }
    case "many": many(1_000)
    case "cycles": cycle(Int(arguments.dropFirst().first ?? "") ?? 10_000)
    case "latency": measureLatency()
    case "idle": idle(on: arguments.dropFirst().first ?? "serial")
    default: refuse()
    }
}

/// Runs what is asynchronous to its end, and ends the process.
private func runOnMainActor(_ body: @escaping @MainActor @Sendable () async -> Void) -> Never {
    Task { @MainActor in
        await body()
        exit(0)
    }
    dispatchMain()
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network

// Runs one scenario, written as applications for Apple's platforms are, and writes what happens as lines of JSON. The
// tests run it in network namespaces.
let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "watch": watch(filter: arguments.dropFirst(2).first)
case "concurrent": watchOnConcurrentQueue()
case "cancel-inside": cancelInsideTheHandler()
case "replace": replaceInsideTheHandler()
case "late": setTheHandlerLate()
case "alive": stayAlive()
case "lifecycle": lifecycle()
case "snapshot": readWithoutStarting()
case "threads": useFromManyThreads()
case "iterate": await iterate()
case "iterate-from": await iterateIndependently()
case "one-shot": await iterateOnce()
case "many": many(1_000)
case "cycles": cycle(Int(arguments.dropFirst(2).first ?? "") ?? 10_000)
case "latency": measureLatency()
case "idle": idle(on: arguments.dropFirst(2).first ?? "serial")
default:
    FileHandle.standardError.write(Data("PathMonitorScenarios: there is no such scenario\n".utf8))
    exit(64)
}

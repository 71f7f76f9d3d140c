// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A sensor that reports to a server whether or not there is a network:
//
//     ExampleOfflineDemo URL FILE [COUNT]
//
// `make demo` runs it in a network of its own, which is cut and mended. What is answered at once, what is kept, and what
// goes out by itself later is printed; while there is no network the last line of the terminal says so.

import Connectivity
import Foundation
import OfflineRequests

let arguments = CommandLine.arguments
guard arguments.count >= 3, let count = Int(arguments.dropFirst(3).first ?? "12") else {
    print("usage: ExampleOfflineDemo URL FILE [COUNT]")
    exit(64)
}

// The last line of the terminal says that there is no network, and how many readings wait; lines go above it.
let indicator = OfflineIndicator(output: .standardOutput)

do {
    // The queue is on disk. What an earlier run left there goes out too.
    let queue = try OfflineRequestQueue(file: arguments[2])
    let sensor = Sensor(client: OfflineClient(baseURL: arguments[1], queue: queue), indicator: indicator)

    // Handlers first, so that no response is missed; then it may send.
    queue.onResponse(for: Sensor.requestType) { request, response in
        sensor.delivered(request, response)
    }
    queue.start()
    indicator.start()
    let monitor = NetworkMonitor.shared
    let status = Task {
        for await update in monitor.updates {
            indicator.print("  status     \(update.status.displayName), \(update.connectionType.phrase)")
        }
    }

    for number in 1...max(1, count) {
        await sensor.report(number)
        try await Task.sleep(for: .milliseconds(500))
    }
    try await queue.waitUntilEmpty()
    status.cancel()
    indicator.stop()
    print("\(sensor.count) of \(count) readings were delivered, \(queue.pendingRequests.count) wait")
    queue.close()
} catch {
    indicator.stop()
    print("error: \(error)")
    exit(70)
}

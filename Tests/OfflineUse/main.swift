// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The example of README.md as it stands there, at the top level of a program; compiled, and never run to its end.

import Foundation
import OfflineRequests

guard CommandLine.arguments.contains("--send") else { exit(0) }
let order = Order(article: "tea")

let queue = try OfflineRequestQueue()
let client = OfflineClient(baseURL: "https://example.net", queue: queue)
// Also of what an earlier run of the program left.
queue.onResponse(for: "order", as: Receipt.self) { _, receipt in print("order \(receipt.number)") }
queue.start()
do {
    let receipt: Receipt = try await client.fetchWithOfflineSupport(
        endpoint: "/orders",
        json: order,
        requestType: "order"
    )
    print("order \(receipt.number)")
} catch OfflineClientError.queuedForRetry(let id) {
    print("on disk as \(id); it goes out by itself")
} catch {
    print("not sent: \(error)")
}
print(queue.pendingRequests.count, queue.counts.dead)

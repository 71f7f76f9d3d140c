// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the documentation of OfflineRequests begins with, with the imports that stand there.

import Foundation
import NetPathHTTP
import OfflineRequests

@MainActor
func keep(_ order: Order, for orders: Orders) async throws {
    let queue = try OfflineRequestQueue()
    queue.onResponse(for: "order", as: Receipt.self) { request, receipt in
        await orders.confirm(request.id, receipt)
    }
    queue.start()

    let orderJSON = try JSONEncoder().encode(order)
    var request = RetryableRequest(
        endpoint: "https://api.example.net/orders",
        method: "POST",
        headers: ["Content-Type": "application/json"],
        body: orderJSON,
        requestType: "order",
        orderingKey: "customer-17"
    )
    request.expiresAt = Date(timeIntervalSinceNow: 86_400)
    try await queue.enqueue(request)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the documentation of OfflineRequests shows, as an application would write it.

import Foundation
import NetPathHTTP
import OfflineRequests

struct Order: Codable {
    var article: String
}

struct Draft: Codable {
    var row: Int
}

struct Receipt: Codable {
    var number: Int
}

@MainActor
final class Orders {
    var text = ""
    var numbers: [UUID: Int] = [:]

    func show(_ text: String) { self.text = text }

    func confirm(_ id: UUID, _ receipt: Receipt) { self.numbers[id] = receipt.number }

    func fill(_ row: Int, with receipt: Receipt) { self.numbers[UUID()] = receipt.number + row }

    func keep(_ order: Order, of row: Int, for orders: Orders, _ client: OfflineClient) async throws {
        let queue = client.queue
        queue.onResponse(for: "order", as: Receipt.self, context: Draft.self) { draft, receipt in
            await orders.fill(draft.row, with: receipt)
        }
        try await client.fetchWithOfflineSupport(endpoint: "/orders", json: order, requestType: "order") {
            try $0.setContext(Draft(row: row))
        }
    }

    func send(_ order: Order, through queue: OfflineRequestQueue) async {
        let client = OfflineClient(baseURL: "https://api.example.net", queue: queue)
        do {
            let receipt: Receipt = try await client.fetchWithOfflineSupport(
                endpoint: "/orders",
                json: order,
                requestType: "order"
            )
            show("Order \(receipt.number) is taken.")
        } catch OfflineClientError.queuedForRetry(let id) {
            show("Will be sent when you are online (\(id)).")
        } catch {
            show("Not sent: \(error)")
        }
    }

    func sendWithOptions(_ order: Order, through client: OfflineClient) async throws {
        let receipt = try await client.fetchWithOfflineSupport(endpoint: "/orders", json: order, as: Receipt.self) {
            $0.orderingKey = "customer-17"
            $0.expiresAt = Date(timeIntervalSinceNow: 3600)
        }
        try await client.fetchWithOfflineSupport(endpoint: "/seen/\(receipt.number)", method: "PUT")
    }

    func sendInSnakeCase(through queue: OfflineRequestQueue) {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let client = OfflineClient(baseURL: "https://api.example.net", queue: queue, encoder: encoder)
        show(client.baseURL)
    }

    func sendUnlessCancelled(_ order: Order, through client: OfflineClient, _ queue: OfflineRequestQueue) async throws {
        let sending = Task { () -> Receipt in
            try await client.fetchWithOfflineSupport(endpoint: "/orders", json: order)
        }
        sending.cancel()
        do {
            show("Order \(try await sending.value.number) is taken.")
        } catch OfflineClientError.cancelled(queuedAs: let id?) {
            // It had been kept by then, and would go out.
            try await queue.cancelRequest(id: id)
        } catch {
            show("Not sent: \(error)")
        }
    }
}

/// Sends nothing.
struct MyTransport: HTTPTransport {
    struct Nothing: TransportTask {
        func cancel() {}
    }

    func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask {
        receive(.failure(TransportError(.unreachable, progress: .notSent, message: "nowhere")))
        return Nothing()
    }
}

func queueWithATransport() throws {
    let queue = try OfflineRequestQueue(transport: MyTransport())
    queue.start()
}

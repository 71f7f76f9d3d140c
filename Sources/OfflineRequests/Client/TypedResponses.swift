// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
import NetPathHTTP

extension OfflineRequestQueue {
    /// Sets what receives the responses of a kind of request, decoded; otherwise as ``onResponse(for:_:)``.
    ///
    /// A response that cannot be decoded is kept, as when a handler throws: its request is not sent again.
    ///
    /// - Parameters:
    ///   - requestType: The kind, ``RetryableRequest/requestType``.
    ///   - type: What responses are decoded as, from JSON, on any thread: a type whose `Decodable` belongs to the main actor
    ///     cannot be. `Data` and `TransportResponse` are taken as they come.
    ///   - decoder: What reads them; it must not be changed while it is used.
    ///   - handler: Called on threads of the queue that all its functions share: it may suspend, and should not block.
    public func onResponse<Answer: Decodable & SendableMetatype>(
        for requestType: String,
        as type: Answer.Type,
        decoder: JSONDecoder = JSONDecoder(),
        _ handler: @escaping @Sendable (RetryableRequest, Answer) async throws -> Void
    ) {
        self.onResponse(for: requestType) { request, response in
            try await handler(request, response.decoded(by: decoder))
        }
    }
}

extension TransportResponse {
    func decoded<Answer: Decodable>(by decoder: JSONDecoder) throws(OfflineClientError) -> Answer {
        if let response = self as? Answer { return response }
        let data = Data(self.body)
        if let data = data as? Answer { return data }
        do {
            return try decoder.decode(Answer.self, from: data)
        } catch {
            throw .decoding("\(error)")
        }
    }
}

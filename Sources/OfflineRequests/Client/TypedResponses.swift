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

// What the application wants to know when the answer comes, which may be in another run of the program.
extension RetryableRequest {
    /// How many bytes ``context`` may have: it is written with every request, and what is long belongs into a file.
    static let longestContext = 64 << 10

    /// Sets ``context`` to a value as JSON.
    ///
    /// - Throws: What the encoder throws.
    public mutating func setContext(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        self.context = try encoder.encode(value)
    }

    /// Reads ``context`` as a value from JSON.
    ///
    /// - Returns: The value; nil for a request without a context.
    /// - Throws: What the decoder throws.
    public func context<Value: Decodable>(
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value? {
        try self.context.map { try decoder.decode(type, from: $0) }
    }
}

extension OfflineRequestQueue {
    /// Sets what receives the responses of a kind of request, decoded, each with the context of its request; otherwise as
    /// ``onResponse(for:as:decoder:_:)``.
    ///
    /// A response whose request has no context, or one that cannot be decoded, is kept, as when a handler throws.
    ///
    /// - Parameters:
    ///   - requestType: The kind, ``RetryableRequest/requestType``.
    ///   - type: What responses are decoded as.
    ///   - context: What ``RetryableRequest/context`` is decoded as, from JSON.
    ///   - decoder: What reads both; it must not be changed while it is used.
    ///   - handler: Called on threads of the queue that all its functions share: it may suspend, and should not block.
    public func onResponse<Answer: Decodable & SendableMetatype, Context: Decodable & SendableMetatype>(
        for requestType: String,
        as type: Answer.Type,
        context: Context.Type,
        decoder: JSONDecoder = JSONDecoder(),
        _ handler: @escaping @Sendable (Context, Answer) async throws -> Void
    ) {
        self.onResponse(for: requestType, as: type, decoder: decoder) { request, answer in
            guard let value = try request.context(as: context, decoder: decoder) else {
                throw QueueError.invalidRequest(field: "context", reason: "is missing, and the handler asks for one")
            }
            try await handler(value, answer)
        }
    }
}

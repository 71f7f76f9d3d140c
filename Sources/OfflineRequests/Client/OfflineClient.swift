// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// A client of one server that answers while there is a path, and keeps requests for later while there is none.
///
/// Online a request goes out at once. Offline, or when it fails in a way that another attempt may mend, it is kept in
/// the queue, with the idempotency key that was already sent, and ``OfflineClientError/queuedForRetry(_:)`` is thrown. The
/// response then comes to the handler of its type, ``OfflineRequestQueue/onResponse(for:_:)``, also after a restart.
/// The client does not start the queue.
public struct OfflineClient: Sendable {
    /// What the addresses of requests are relative to.
    public let baseURL: String
    /// Where requests wait.
    public let queue: OfflineRequestQueue
    /// Sent with every request that does not have fields of those names.
    public var headers: HeaderFields

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The beginning of every address, for example `https://api.example.net/v1`.
    ///   - queue: Where requests wait; it also says what is sent through, and whether there is a path.
    ///   - headers: Sent with every request that does not have fields of those names.
    public init(baseURL: String, queue: OfflineRequestQueue, headers: HeaderFields = [:]) {
        self.baseURL = baseURL
        self.queue = queue
        self.headers = headers
    }

    /// Sends a request and decodes the answer, or keeps the request for later.
    ///
    /// - Parameters:
    ///   - endpoint: What follows the base address, for example `/orders`, or a whole address.
    ///   - method: The method.
    ///   - headers: The fields of the request.
    ///   - body: What is sent.
    ///   - requestType: Whose handler gets the response if the request is kept.
    ///   - type: What the answer is decoded as, from JSON; `TransportResponse` and `Data` are taken as they come.
    /// - Returns: The answer.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    public func fetchWithOfflineSupport<Answer: Decodable>(
        endpoint: String,
        method: String = "GET",
        headers: HeaderFields = [:],
        body: Data? = nil,
        requestType: String = "",
        as type: Answer.Type = Answer.self
    ) async throws(OfflineClientError) -> Answer {
        let request = RetryableRequest(
            endpoint: self.address(of: endpoint),
            method: method,
            headers: self.complete(headers),
            body: body,
            requestType: requestType
        )
        return try await self.fetchWithOfflineSupport(request, as: type)
    }

    /// Sends a request whose body is JSON and decodes the answer, or keeps the request for later.
    ///
    /// - Parameters:
    ///   - endpoint: What follows the base address, for example `/orders`, or a whole address.
    ///   - method: The method.
    ///   - headers: The fields of the request; `Content-Type` need not be among them.
    ///   - json: What is encoded and sent.
    ///   - requestType: Whose handler gets the response if the request is kept.
    ///   - type: What the answer is decoded as, from JSON; `TransportResponse` and `Data` are taken as they come.
    /// - Returns: The answer.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    public func fetchWithOfflineSupport<Answer: Decodable>(
        endpoint: String,
        method: String = "POST",
        headers: HeaderFields = [:],
        json: some Encodable,
        requestType: String = "",
        as type: Answer.Type = Answer.self
    ) async throws(OfflineClientError) -> Answer {
        var headers = headers
        if headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        let body: Data
        do {
            body = try JSONEncoder().encode(json)
        } catch {
            throw .invalidRequest(field: "body", reason: "cannot be encoded: \(error)")
        }
        return try await self.fetchWithOfflineSupport(
            endpoint: endpoint,
            method: method,
            headers: headers,
            body: body,
            requestType: requestType,
            as: type
        )
    }

    /// Sends a request with everything that can be said of one and decodes the answer, or keeps it for later.
    ///
    /// - Parameters:
    ///   - request: The request; its address and headers are taken as they are.
    ///   - type: What the answer is decoded as, from JSON; `TransportResponse` and `Data` are taken as they come.
    /// - Returns: The answer.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    public func fetchWithOfflineSupport<Answer: Decodable>(
        _ request: RetryableRequest,
        as type: Answer.Type = Answer.self
    ) async throws(OfflineClientError) -> Answer {
        let response = try await self.response(to: request)
        if let response = response as? Answer { return response }
        if let data = Data(response.body) as? Answer { return data }
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(response.body))
        } catch {
            throw .decoding("\(error)")
        }
    }

    private func address(of endpoint: String) -> String {
        guard endpoint.firstRange(of: "://") == nil else { return endpoint }
        let base = self.baseURL.hasSuffix("/") ? String(self.baseURL.dropLast()) : self.baseURL
        return endpoint.hasPrefix("/") || endpoint.hasPrefix("?") ? base + endpoint : "\(base)/\(endpoint)"
    }

    private func complete(_ headers: HeaderFields) -> HeaderFields {
        var complete = headers
        for field in self.headers.fields where headers[field.name] == nil { complete.fields.append(field) }
        return complete
    }
}

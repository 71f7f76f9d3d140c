// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// A client of one server that answers while there is a path, and keeps requests for later while there is none.
///
/// Every request is put into the queue first, and sent by that: it survives the end of the program, whenever that comes.
/// The caller waits for the answer for as long as that may come soon. Without a path, or when an attempt fails in a way
/// that another may mend, ``OfflineClientError/queuedForRetry(_:)`` is thrown, and the response comes to the handler of its
/// type, ``OfflineRequestQueue/onResponse(for:as:decoder:_:)``, also after a restart. What only reads is not kept without a
/// path: ``keepsReads``.
///
/// The first request starts the queue, before which handlers have to be registered.
///
/// Each call is there twice: with an answer of the type that is asked for, and with the response as it came, which
/// need not be used.
public struct OfflineClient: Sendable {
    /// What the addresses of requests are relative to.
    public let baseURL: String
    /// Where requests wait.
    public let queue: OfflineRequestQueue
    /// Sent with every request that does not have fields of those names.
    public var headers: HeaderFields
    /// Whether requests with `GET` and `HEAD` stay in the queue where there is no path, instead of
    /// ``OfflineClientError/noPath(_:)``: what they would bring is seldom of use later.
    public var keepsReads = false
    /// What writes bodies; it must not be changed while it is used.
    public var encoder: JSONEncoder
    /// What reads answers; it must not be changed while it is used.
    public var decoder: JSONDecoder

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The beginning of every address, for example `https://api.example.net/v1`.
    ///   - queue: Where requests wait; it also says what is sent through, and whether there is a path.
    ///   - headers: Sent with every request that does not have fields of those names.
    ///   - encoder: What writes bodies.
    ///   - decoder: What reads answers.
    public init(
        baseURL: String,
        queue: OfflineRequestQueue,
        headers: HeaderFields = [:],
        encoder: JSONEncoder = JSONEncoder(),
        decoder: JSONDecoder = JSONDecoder()
    ) {
        self.baseURL = baseURL
        self.queue = queue
        self.headers = headers
        self.encoder = encoder
        self.decoder = decoder
    }

    /// Sends a request and decodes the answer, or keeps the request for later.
    ///
    /// - Parameters:
    ///   - endpoint: What follows the base address, for example `/orders`, or a whole address.
    ///   - method: The method; nil for `POST` with a body, and `GET` without.
    ///   - headers: The fields of the request.
    ///   - body: What is sent.
    ///   - json: What is encoded and sent instead; `Content-Type` need not be among the fields then.
    ///   - requestType: Whose handler gets the response if the request is kept.
    ///   - type: What the answer is decoded as, from JSON; `TransportResponse` and `Data` are taken as they come.
    ///   - configure: Sets everything else that can be said of a request, such as ``RetryableRequest/orderingKey`` and
    ///     ``RetryableRequest/context``.
    /// - Returns: The answer.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    public func fetchWithOfflineSupport<Answer: Decodable>(
        endpoint: String,
        method: String? = nil,
        headers: HeaderFields = [:],
        body: Data? = nil,
        json: (any Encodable)? = nil,
        requestType: String = "",
        as type: Answer.Type = Answer.self,
        _ configure: (inout RetryableRequest) throws -> Void = { _ in }
    ) async throws(OfflineClientError) -> Answer {
        let response = try await self.fetchWithOfflineSupport(
            endpoint: endpoint,
            method: method,
            headers: headers,
            body: body,
            json: json,
            requestType: requestType,
            configure
        )
        return try response.decoded(by: self.decoder)
    }

    /// Sends a request, or keeps it for later; as above, for those who need not know the answer.
    ///
    /// - Returns: The response.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    @discardableResult
    public func fetchWithOfflineSupport(
        endpoint: String,
        method: String? = nil,
        headers: HeaderFields = [:],
        body: Data? = nil,
        json: (any Encodable)? = nil,
        requestType: String = "",
        _ configure: (inout RetryableRequest) throws -> Void = { _ in }
    ) async throws(OfflineClientError) -> TransportResponse {
        var (headers, body) = (headers, body)
        let method = method ?? (body == nil && json == nil ? "GET" : "POST")
        if let json {
            guard body == nil else {
                throw .invalidRequest(field: "body", reason: "is given twice, as bytes and as JSON; give one")
            }
            do { body = try self.encoder.encode(json) } catch {
                throw .invalidRequest(field: "body", reason: "cannot be encoded: \(error)")
            }
            if headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        }
        headers.fields += self.headers.fields.filter { headers[$0.name] == nil }
        var request = RetryableRequest(
            endpoint: self.address(of: endpoint),
            method: method,
            headers: headers,
            body: body,
            requestType: requestType
        )
        do { try configure(&request) } catch {
            throw .invalidRequest(field: "options", reason: "cannot be set: \(error)")
        }
        return try await self.fetchWithOfflineSupport(request)
    }

    /// Sends a request that was made before and decodes the answer, or keeps it for later.
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
        let response = try await self.fetchWithOfflineSupport(request)
        return try response.decoded(by: self.decoder)
    }

    private func address(of endpoint: String) -> String {
        guard endpoint.firstRange(of: "://") == nil else { return endpoint }
        let base = self.baseURL.hasSuffix("/") ? String(self.baseURL.dropLast()) : self.baseURL
        return endpoint.hasPrefix("/") || endpoint.hasPrefix("?") ? base + endpoint : "\(base)/\(endpoint)"
    }
}

extension OfflineClient {
    /// Keeps a request that was made before, sends it, and waits for its answer, for those who need not know that.
    ///
    /// - Parameter request: The request; its address and headers are taken as they are.
    /// - Returns: The response.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    @discardableResult
    public func fetchWithOfflineSupport(
        _ request: RetryableRequest
    ) async throws(OfflineClientError) -> TransportResponse {
        do { try request.validate(maxBodyBytes: self.queue.settings.maxBodyBytes) } catch {
            throw OfflineClientError(error)
        }
        if Task.isCancelled { throw .cancelled(queuedAs: nil) }
        self.queue.start()
        let isRead = ["GET", "HEAD"].contains(request.method)
        switch await self.queue.core.fetch(request, isKept: self.keepsReads || !isRead) {
        case .answered(let response): return response
        case .failed(.success(let response)): throw .status(response.status, body: response.body)
        case .failed(.failure(let error)): throw .notRetryable(error)
        case .kept(let id): throw Task.isCancelled ? .cancelled(queuedAs: id) : .queuedForRetry(id)
        case .withoutPath(let reason): throw .noPath(reason)
        case .cancelled: throw .cancelled(queuedAs: nil)
        case .refused(let error): throw OfflineClientError(error)
        }
    }
}

/// Why there is no answer now.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum OfflineClientError: Error, Hashable, Sendable {
    /// It is kept on disk and will be sent by itself; the handler of its type gets the response.
    case queuedForRetry(UUID)
    /// There is no path, for this reason; nothing was kept, since the request only reads: ``OfflineClient/keepsReads``.
    case noPath(String)
    /// The server answered with this status, which another attempt would not change.
    case status(Int, body: [UInt8])
    /// The server answered, but not with what was expected.
    case decoding(String)
    /// The request failed in a way that another attempt would not change, for example at the server's certificate.
    case notRetryable(TransportError)
    /// The request cannot be sent as it is; nothing was sent or kept.
    case invalidRequest(field: String, reason: String)
    /// It could neither be sent now nor be kept.
    case queue(QueueError)
    /// The task was cancelled. With an id the wait was over by then: the request goes out by itself, unless
    /// ``OfflineRequestQueue/cancelRequest(id:)`` takes it back; without one it is not in the queue, but the server may have
    /// received it.
    case cancelled(queuedAs: UUID?)
}

extension OfflineClientError {
    init(_ error: QueueError) {
        self =
            if case .invalidRequest(let field, let reason) = error {
                .invalidRequest(field: field, reason: reason)
            } else {
                .queue(error)
            }
    }
}

extension OfflineClientError: CustomStringConvertible, LocalizedError {
    /// The description.
    public var errorDescription: String? { self.description }

    /// What, why, and what to do.
    public var description: String {
        switch self {
        case .queuedForRetry(let id):
            "not sent yet: the request is kept as \(id.text) and goes out by itself"
        case .noPath(let reason): "not sent, and not kept: there is no path: \(reason)"
        case .status(let status, _): "the server answered \(status); sending again would not change that"
        case .decoding(let reason): "the server's answer is not what was expected: \(reason)"
        case .notRetryable(let error): error.description
        case .invalidRequest(let field, let reason): "the request was not sent: its \(field) \(reason)"
        case .queue(let error): error.description
        case .cancelled(nil): "cancelled, and not kept; the server may have received the request all the same"
        case .cancelled(let id?):
            "cancelled, but the request was kept before as \(id.text) and goes out by itself"
        }
    }
}

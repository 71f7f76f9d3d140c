// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// A request that is kept on disk until a server has answered it.
///
/// What it holds is what is sent, secrets included, and so is its encoded form; what is printed of it, with
/// `description`, `debugDescription`, `dump` or a mirror, has no secrets.
public struct RetryableRequest: Identifiable, Hashable, Sendable, Codable {
    /// What tells it from every other request of the queue.
    public let id: UUID
    /// The whole address, with the scheme `http` or `https`.
    public var endpoint: String
    /// The method, for example `POST`; methods are case-sensitive.
    public var method: String
    /// The fields besides those that are made: the idempotency key and what the transport needs.
    public var headers: HeaderFields
    /// What is sent; nil for nothing or for ``bodyFile``.
    public var body: Data?
    /// The path of a file whose content is sent instead; it is copied when the request is enqueued.
    public var bodyFile: String?
    /// When the request was made.
    public var timestamp: Date
    /// How many attempts counted: those that were answered, or may have been received, and failed.
    public internal(set) var retryCount = 0
    /// How many attempts may count and fail before the last one; 0 for a single attempt.
    public var maxRetries: Int
    /// What kind of request it is, for the handler of its response and for people; may be empty.
    public var requestType: String
    /// Whether it goes before others.
    public var priority = RequestPriority.normal
    /// When it is of no use any more; nil for the age the queue allows.
    public var expiresAt: Date?
    /// The lane: requests with the same key go out strictly in order, others in parallel; nil for no order.
    public var orderingKey: String?
    /// What becomes of the lane when this request is given up.
    public var onFailure = LanePolicy.hold
    /// What every attempt sends as `Idempotency-Key`; nil for none.
    public var idempotencyKey: String?
    /// What it needs of the network.
    public var requires = PathRequirements()
    /// What must be there only once; nil when that does not matter.
    public var uniqueKey: String?
    /// What happens when another with the same ``uniqueKey`` waits.
    public var ifExists = UniquePolicy.keep
    /// The names of further headers whose values must not be shown: those of headers that are not known to be harmless, such as
    /// `Authorization` and `Cookie`, never are.
    public var sensitiveHeaders: [String] = []
    /// How long each part of an attempt may take.
    public var timeouts = TransportRequest.Timeouts()
    /// How many bytes of the body of a response are read, 4 MiB unless set; a longer one is delivered all the same, and
    /// cut: `TransportResponse.isCut`.
    public var responseLimit = Self.usualResponseLimit
    /// The statuses that mean success; empty for 200 to 299.
    public var expectedStatuses: Set<Int> = []
    /// The fields that the answer of a delivered request has, with a value that begins with this one, or with any where this
    /// one is empty: best something that only the server writes, since others, such as captive portals, may answer in its
    /// place.
    public var expectedHeaders: HeaderFields = [:]
    /// What the application wants to have at hand when the answer comes; it is not sent, and has at most 64 KiB.
    ///
    /// ``setContext(_:encoder:)`` and ``context(as:decoder:)`` write and read it.
    public var context: Data?
    /// Whether the response is kept in the queue, until ``OfflineRequestQueue/purgeFinished(id:)`` or for
    /// ``QueueSettings/maxResponseAge``.
    public var keepsResponse = false

    static let usualResponseLimit = 4 << 20

    /// Creates a request; everything else is set afterwards.
    ///
    /// It is checked when it is enqueued, or by ``validate(maxBodyBytes:)``.
    ///
    /// - Parameters:
    ///   - id: What tells it from every other request of the queue.
    ///   - endpoint: The whole address, with the scheme `http` or `https`.
    ///   - method: The method, for example `POST`.
    ///   - headers: The fields besides those that are made.
    ///   - body: What is sent; nil for nothing, or for a ``bodyFile``.
    ///   - timestamp: When the request was made.
    ///   - maxRetries: How many attempts may count and fail before the last one; 0 for a single attempt.
    ///   - requestType: What kind of request it is, for the handler of its response and for people.
    ///   - orderingKey: The lane; nil for no order.
    ///   - idempotencyKey: What every attempt sends as `Idempotency-Key`.
    public init(
        id: UUID = UUID(),
        endpoint: String,
        method: String = "GET",
        headers: HeaderFields = [:],
        body: Data? = nil,
        timestamp: Date = Date(),
        maxRetries: Int = 10,
        requestType: String = "",
        orderingKey: String? = nil,
        idempotencyKey: IdempotencyKey = .automatic
    ) {
        self.id = id
        self.endpoint = endpoint
        self.method = method
        self.headers = headers
        self.body = body
        self.timestamp = timestamp
        self.maxRetries = maxRetries
        self.requestType = requestType
        self.orderingKey = orderingKey
        self.idempotencyKey =
            switch idempotencyKey {
            // A header of the caller's own is a key already.
            case .automatic: headers[Self.keyHeader] == nil ? id.text : nil
            case .none: nil
            case .value(let key): key
            }
    }

    /// Decodes a request; only the id and the address must be there.
    ///
    /// What is not there has its default, since most requests use few fields. What is there and not known is left alone.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, into field: inout Value) throws {
            field = try values.decodeIfPresent(Value.self, forKey: key) ?? field
        }
        self.init(
            id: try values.decode(UUID.self, forKey: .id),
            endpoint: try values.decode(String.self, forKey: .endpoint),
            // Never made anew: a request that was kept without a key has none.
            idempotencyKey: .none
        )
        try read(.method, into: &self.method)
        try read(.headers, into: &self.headers)
        try read(.body, into: &self.body)
        try read(.bodyFile, into: &self.bodyFile)
        try read(.timestamp, into: &self.timestamp)
        try read(.retryCount, into: &self.retryCount)
        try read(.maxRetries, into: &self.maxRetries)
        try read(.requestType, into: &self.requestType)
        try read(.priority, into: &self.priority)
        try read(.expiresAt, into: &self.expiresAt)
        try read(.orderingKey, into: &self.orderingKey)
        try read(.onFailure, into: &self.onFailure)
        try read(.idempotencyKey, into: &self.idempotencyKey)
        try read(.requires, into: &self.requires)
        try read(.uniqueKey, into: &self.uniqueKey)
        try read(.ifExists, into: &self.ifExists)
        try read(.sensitiveHeaders, into: &self.sensitiveHeaders)
        try read(.timeouts, into: &self.timeouts)
        try read(.responseLimit, into: &self.responseLimit)
        try read(.expectedStatuses, into: &self.expectedStatuses)
        try read(.expectedHeaders, into: &self.expectedHeaders)
        try read(.keepsResponse, into: &self.keepsResponse)
        try read(.context, into: &self.context)
    }
}

extension RetryableRequest {
    /// Whether a status means success.
    func expects(status: Int) -> Bool {
        self.expectedStatuses.isEmpty ? 200..<300 ~= status : self.expectedStatuses.contains(status)
    }

    /// The statuses that mean success, as they are written in a command.
    package var expectedStatusText: String {
        let ranges = IndexSet(self.expectedStatuses).rangeView.map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
        }
        return ranges.joined(separator: " or ")
    }

    /// How an answer that means success here or everywhere is not as expected, without secrets; nil for any other.
    func lack(in response: TransportResponse) -> String? {
        let status = response.status
        guard self.expects(status: status) else {
            return 200..<300 ~= status ? "\(status) instead of \(self.expectedStatusText)" : nil
        }
        let missing = self.expectedHeaders.fields.first { expected in
            !response.headers.fields.contains { field in
                field.name.lowercased() == expected.name.lowercased()
                    && field.value.lowercased().hasPrefix(expected.value.lowercased())
            }
        }
        return missing.map { field in
            "\(status) without the header \(field.name)\(field.value.isEmpty ? "" : ", or with another value of it")"
        }
    }
}

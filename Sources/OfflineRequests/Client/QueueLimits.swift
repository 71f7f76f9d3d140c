// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How much a queue keeps, and what happens when that is reached.
///
/// What is finished and kept, dead requests and responses, counts too, but never stands in the way: the oldest of it
/// goes first when there is no room for a new request.
public struct QueueLimits: Hashable, Sendable {
    /// What happens to a new request when the queue is full.
    public enum FullPolicy: String, Hashable, Sendable, Codable, CaseIterable {
        /// It is refused, with ``QueueError/queueFull(limit:of:)``.
        case reject
        /// The oldest requests that are not being sent make room for it.
        case dropOldest
    }

    /// How many requests.
    public var maxCount: Int
    /// How many bytes, bodies included.
    public var maxBytes: Int
    /// How many bytes the body of one request may have.
    public var maxBodyBytes: Int
    /// How long a response is kept that nobody removes: ``RetryableRequest/keepsResponse`` and
    /// ``OfflineRequestQueue/purgeFinished(id:)``.
    public var maxResponseAge: Duration
    /// What happens when the queue is full.
    public var whenFull: FullPolicy

    /// Creates limits.
    public init(
        maxCount: Int = 1_000_000,
        maxBytes: Int = 1 << 30,
        maxBodyBytes: Int = 100 << 20,
        maxResponseAge: Duration = .seconds(86_400),
        whenFull: FullPolicy = .reject
    ) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
        self.maxBodyBytes = maxBodyBytes
        self.maxResponseAge = maxResponseAge
        self.whenFull = whenFull
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How much a queue keeps; what is beyond is refused, with ``QueueError/queueFull(limit:of:)``.
///
/// What is finished and kept, dead requests and responses, counts too, but never stands in the way: the oldest of it
/// goes first when there is no room for a new request.
package struct QueueLimits: Hashable, Sendable {
    /// How many requests.
    package var maxCount: Int
    /// How many bytes, bodies included.
    package var maxBytes: Int
    /// How many bytes the body of one request may have.
    package var maxBodyBytes: Int
    /// How long a response is kept that nobody removes: ``RetryableRequest/keepsResponse`` and
    /// ``OfflineRequestQueue/purgeFinished(id:)``.
    package var maxResponseAge: Duration

    /// Creates limits.
    package init(
        maxCount: Int = 1_000_000,
        maxBytes: Int = 1 << 30,
        maxBodyBytes: Int = 100 << 20,
        maxResponseAge: Duration = .seconds(86_400)
    ) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
        self.maxBodyBytes = maxBodyBytes
        self.maxResponseAge = maxResponseAge
    }
}

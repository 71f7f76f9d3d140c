// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How many requests wait in the queue of a monitor, as it was when this was read.
public struct PendingRequests: Hashable, Sendable {
    /// How many there are; zero also where that cannot be read: ``failure``.
    public let count: Int
    /// Why that could not be read; nil when it was, and without a queue.
    public let failure: QueueError?

    /// Whether there are none, and that is certain.
    public var isEmpty: Bool { self.count == 0 && self.failure == nil }

    init(of queue: OfflineRequestQueue?) {
        do throws(QueueError) {
            self.count = try queue?.counts.pending ?? 0
            self.failure = nil
        } catch {
            self.count = 0
            self.failure = error
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
import Synchronization

/// The queue of a monitor, which is not kept alive by that.
private struct Attachment: Sendable {
    weak let queue: OfflineRequestQueue?
}

// What the first queue does that was started with a monitor.
extension NetworkMonitor {
    /// Makes a queue the one that the members below are about, where there is none.
    func adopt(_ queue: OfflineRequestQueue) {
        self.attachment.withLock { attachment in
            if (attachment as? Attachment)?.queue == nil { attachment = Attachment(queue: queue) }
        }
    }

    /// The queue; nil without one.
    var queue: OfflineRequestQueue? { self.attachment.withLock { ($0 as? Attachment)?.queue } }

    /// How much the queue has to deliver; nothing without one.
    public var pendingRequests: PendingRequests { PendingRequests(of: self.queue) }

    /// Removes everything from the queue, as ``OfflineRequestQueue/reset()`` does.
    ///
    /// - Throws: ``QueueError``; nothing was removed then.
    public func reset() async throws(QueueError) {
        try await self.queue?.reset()
    }

    /// Tries everything that waits in the queue again, as ``OfflineRequestQueue/forceTriggerRetry()`` does.
    public func forceTriggerRetry() {
        self.queue?.forceTriggerRetry()
    }

    /// Removes a request from the queue, as ``OfflineRequestQueue/cancelRequest(id:)`` does.
    ///
    /// - Parameter id: The id.
    /// - Returns: Where it stood until then.
    /// - Throws: ``QueueError/unknownID(_:)`` when it is not there, also without a queue.
    @discardableResult
    public func cancelRequest(id: UUID) async throws(QueueError) -> RequestState {
        guard let queue = self.queue else { throw .unknownID(id) }
        return try await queue.cancelRequest(id: id)
    }
}

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

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
import Synchronization

/// The queue of a monitor.
private struct Attachment: Sendable {
    weak let queue: OfflineRequestQueue?
    /// The same when it is to be kept alive: it was attached, and did not do so itself.
    var kept: OfflineRequestQueue?
}

extension NetworkMonitor {
    /// Makes a queue the one that the members below are about, in place of any other, and keeps it alive.
    ///
    /// A queue that starts attaches itself to the monitor it was created with, unless another is there; that does not keep
    /// it alive. This does not start the queue, nor make it follow this monitor.
    public func attach(_ queue: OfflineRequestQueue) {
        self.replaceAttachment(by: Attachment(queue: queue, kept: queue))
    }

    /// Lets go of the attached queue.
    public func detachQueue() {
        self.replaceAttachment(by: nil)
    }

    private func replaceAttachment(by new: Attachment?) {
        let old = self.attachment.withLock { attachment in
            defer { attachment = new }
            return attachment
        }
        // Released outside the lock: a queue nobody holds any more closes.
        withExtendedLifetime(old) {}
    }

    /// Attaches a queue where there is none, without keeping it alive.
    func adopt(_ queue: OfflineRequestQueue) {
        self.attachment.withLock { attachment in
            if (attachment as? Attachment)?.queue == nil { attachment = Attachment(queue: queue) }
        }
    }

    /// The attached queue; nil without one.
    public var attachedQueue: OfflineRequestQueue? { self.attachment.withLock { ($0 as? Attachment)?.queue } }

    /// How much the attached queue has to deliver; nothing without one.
    public var pendingRequests: PendingRequests { PendingRequests(of: self.attachedQueue) }

    /// Removes everything from the attached queue, as ``OfflineRequestQueue/reset()`` does.
    ///
    /// - Throws: ``QueueError``; nothing was removed then.
    public func reset() async throws(QueueError) {
        try await self.attachedQueue?.reset()
    }

    /// Tries everything that waits in the attached queue again, as ``OfflineRequestQueue/forceTriggerRetry()`` does.
    public func forceTriggerRetry() {
        self.attachedQueue?.forceTriggerRetry()
    }

    /// Removes a request from the attached queue, as ``OfflineRequestQueue/cancelRequest(id:)`` does.
    ///
    /// - Parameter id: The id.
    /// - Returns: Whether it was being sent.
    /// - Throws: ``QueueError/unknownID(_:)`` when it is not there, also without a queue.
    @discardableResult
    public func cancelRequest(id: UUID) async throws(QueueError) -> Bool {
        guard let queue = self.attachedQueue else { throw .unknownID(id) }
        return try await queue.cancelRequest(id: id)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
import Synchronization

/// Which queue belongs to which monitor.
private enum AttachedQueues {
    private struct Attachment: Sendable {
        // Held, so that no other monitor gets its identity.
        let monitor: NetworkMonitor
        let queue: OfflineRequestQueue
    }

    private static let attachments = Mutex<[ObjectIdentifier: Attachment]>([:])

    static func queue(of monitor: NetworkMonitor) -> OfflineRequestQueue? {
        self.attachments.withLock { $0[ObjectIdentifier(monitor)]?.queue }
    }

    static func set(_ queue: OfflineRequestQueue?, of monitor: NetworkMonitor) {
        let old = self.attachments.withLock { attachments in
            defer { attachments[ObjectIdentifier(monitor)] = queue.map { Attachment(monitor: monitor, queue: $0) } }
            return attachments[ObjectIdentifier(monitor)]
        }
        // Released outside the lock: a queue nobody holds any more closes.
        withExtendedLifetime(old) {}
    }
}

extension NetworkMonitor {
    /// Makes a queue the one that the members below are about, in place of any other, and keeps it alive.
    ///
    /// It does not start the queue, nor make it follow this monitor: that is the one it was created with.
    public func attach(_ queue: OfflineRequestQueue) {
        AttachedQueues.set(queue, of: self)
    }

    /// Lets go of the attached queue.
    public func detachQueue() {
        AttachedQueues.set(nil, of: self)
    }

    /// The attached queue; nil without one.
    public var attachedQueue: OfflineRequestQueue? { AttachedQueues.queue(of: self) }

    /// What the attached queue has to deliver; nothing without one.
    public var pendingRequests: PendingRequests {
        self.attachedQueue?.pendingRequests ?? PendingRequests(queue: nil, states: [])
    }

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

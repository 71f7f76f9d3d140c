// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
import Synchronization

extension OfflineRequestQueue {
    /// What is to be delivered, in the order of enqueuing: all of it, as it is at this moment.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public var pendingRequests: [RequestRecord] {
        get async throws(QueueError) { try await self.requests(in: RequestState.pending) }
    }

    /// What was given up and is kept, all of it, as it is at this moment; ``requeueDead(id:)`` revives it.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public var deadRequests: [RequestRecord] {
        get async throws(QueueError) { try await self.requests(in: [.dead]) }
    }

    /// What was delivered and whose response is kept; ``purgeFinished(id:)`` and ``purgeResponses()`` remove it.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public var responses: [RequestRecord] {
        get async throws(QueueError) { try await self.requests(in: [.succeeded]) }
    }

    /// Reads requests and where they stand, in the order of enqueuing, as they are at this moment.
    ///
    /// - Parameters:
    ///   - states: Those that are wanted.
    ///   - sequence: Only those with a greater ``RequestRecord/sequence``, to go on where the last page ended.
    ///   - limit: How many at most: all are in memory, with bodies of up to 64 KiB.
    /// - Returns: The requests, fewer than the limit only when there are no more.
    /// - Throws: ``QueueError`` when the file cannot be read, also when only some of them cannot.
    @concurrent
    public func requests(
        in states: Set<RequestState>,
        after sequence: Int64 = 0,
        limit: Int = .max
    ) async throws(QueueError) -> [RequestRecord] {
        let status = self.core.status.withLock { $0 }
        let page = try self.core.store.reader.page(in: states, after: sequence, limit: limit, status)
        // What could be read is in the salvage, once the process that sends has repaired the file.
        guard page.isWhole else { throw .corrupt(path: self.file, setAsideAs: nil) }
        return page.records
    }

    /// Whether ``pause()`` was called, in whichever process.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public var isPaused: Bool {
        get throws(QueueError) { try self.core.store.read { $0.status.isPaused } }
    }

    /// How many requests there are in each state; takes microseconds, however many there are.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public var counts: QueueCounts {
        get throws(QueueError) { try self.core.store.read { try $0.counts } }
    }

    /// Reads a request and where it stands.
    ///
    /// - Parameter id: The id.
    /// - Returns: The record; nil when there is none, or no more.
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func record(id: UUID) throws(QueueError) -> RequestRecord? {
        try self.core.store.reader.record(id, self.core.status.withLock { $0 })
    }

    /// What happens from now on, until the queue is closed; each use is a sequence of its own, for one iterator.
    ///
    /// One that is slower than the queue loses the oldest events once 4,096 are waiting. None keeps the queue alive.
    public var changes: AsyncStream<QueueEvent> { self.core.observers.stream() }

    /// Calls a function with everything that happens, until that is cancelled or the queue is closed.
    ///
    /// - Parameter body: Called with one event at a time, on threads of the queue that all its functions share.
    /// - Returns: What ends it.
    @discardableResult
    public func observe(_ body: @escaping @Sendable (QueueEvent) -> Void) -> ObservationToken {
        let events = self.core.observers.stream()
        let task = Task(executorPreference: self.core.executor) {
            for await event in events where !Task.isCancelled { body(event) }
        }
        return ObservationToken { task.cancel() }
    }

    /// Waits until nothing is left to deliver but what waits for a decision.
    ///
    /// - Throws: ``QueueError/closed``, also when the task is cancelled.
    public func waitUntilEmpty() async throws(QueueError) {
        _ = try await self.core.wait(for: nil)
    }

    /// Waits until a request has been delivered, given up or cancelled.
    ///
    /// - Parameter id: The id.
    /// - Returns: How it ended. Of one that had left before this was called, and that another process enqueued or this one
    ///   long ago, only the id, the state and the status are known.
    /// - Throws: ``QueueError/unknownID(_:)`` when it is not there, or its end is not known any more because ten thousand
    ///   others have ended since, a day has passed or the file was damaged; or ``QueueError/closed``, also when the task is
    ///   cancelled.
    public func wait(for id: UUID) async throws(QueueError) -> RequestRecord {
        guard let record = try await self.core.wait(for: id) else { throw .unknownID(id) }
        return record
    }

    // MARK: Dead letters

    /// Revives a request that was given up, with its attempts reset.
    ///
    /// - Parameter id: The id.
    /// - Throws: ``QueueError/unknownID(_:)`` when there is no such dead letter.
    public func requeueDead(id: UUID) async throws(QueueError) {
        try await self.core.perform { _, store in
            guard try store.requeue(id) != nil else { throw QueueError.unknownID(id) }
        }
    }

    /// Revives everything that was given up.
    ///
    /// - Returns: How many requests.
    /// - Throws: ``QueueError``; nothing was revived then.
    @discardableResult
    public func requeueDead() async throws(QueueError) -> Int {
        try await self.core.perform { _, store in try store.requeueDead().count }
    }

    /// Removes a request that is finished: one that was given up, or one whose response was kept and has been taken.
    ///
    /// - Parameter id: The id.
    /// - Throws: ``QueueError/unknownID(_:)`` when there is none, or it is not finished.
    public func purgeFinished(id: UUID) async throws(QueueError) {
        try await self.core.perform { _, store in
            guard try store.purge(id) else { throw QueueError.unknownID(id) }
        }
    }

    /// Removes all responses that are kept.
    ///
    /// - Returns: How many requests had one.
    /// - Throws: ``QueueError``; nothing was removed then.
    @discardableResult
    public func purgeResponses() async throws(QueueError) -> Int {
        try await self.core.perform { _, store in try store.purge(.succeeded) }
    }

    /// Removes everything that was given up.
    ///
    /// - Returns: How many requests.
    /// - Throws: ``QueueError``; nothing was removed then.
    @discardableResult
    public func purgeDead() async throws(QueueError) -> Int {
        try await self.core.perform { _, store in try store.purge(.dead) }
    }
}

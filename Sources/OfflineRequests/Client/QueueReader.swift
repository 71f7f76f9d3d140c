// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation

/// How many requests are read at once.
private let pageSize = 256

/// Looks into the file of a queue; makes, changes and repairs nothing, and does not wait for writers.
///
/// For programs that show what waits and do not take part. Thread-safe; every function reads the file, and blocks for
/// as long as that takes.
public final class QueueReader: Sendable {
    /// The file of the queue.
    public let file: String

    private let store: StoreReader

    /// Opens a queue that is there.
    ///
    /// - Parameters:
    ///   - application: The identifier of the application, as for ``OfflineRequestQueue``.
    ///   - file: The file; nil for ``OfflineRequestQueue/standardFile(application:)``.
    /// - Throws: ``QueueError``: ``QueueError/missing(path:)`` where there is none,
    ///   ``QueueError/corrupt(path:setAsideAs:)`` when it is damaged.
    public init(application: String? = nil, file: String? = nil) throws(QueueError) {
        self.file = try QueueFile.path(of: file, application: application)
        self.store = try StoreReader(existing: self.file)
    }

    deinit {
        self.store.close()
    }

    /// Counts the requests in each state, and looks for damage in the whole file.
    ///
    /// - Throws: ``QueueError``, also when the file is damaged elsewhere.
    public func counts() throws(QueueError) -> QueueCounts {
        try self.store.inspect()
        var counts = try self.store.read { try $0.counts }
        if counts.running > 0, !SenderLock.isHeld(at: QueueFile.senderLock(of: self.file)) {
            // The process that was sending them is there no more.
            (counts.ready, counts.running) = (counts.ready + counts.running, 0)
        }
        return counts
    }

    /// Whether the queue is paused, in whichever process that was done.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func isPaused() throws(QueueError) -> Bool {
        try self.store.read { $0.status.isPaused }
    }

    /// Reads a request and where it stands.
    ///
    /// - Parameter id: The id.
    /// - Returns: The record; nil when there is none, or no more.
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func record(id: UUID) throws(QueueError) -> RequestRecord? {
        try self.store.record(id, QueueStatus())
    }

    /// How and when a request left the queue, and with what status: of the last ten thousand, for a day.
    ///
    /// - Parameter id: The id.
    /// - Returns: `succeeded`, `cancelled` or `dead`, the time, and the status of the answer; nil when it is not among them.
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func end(of id: UUID) throws(QueueError) -> (state: RequestState, date: Date, status: Int?)? {
        try self.store.read { records in try records.end(of: id) }
    }

    /// Reads requests, a page at a time, in the order in which they were enqueued; those of a damaged file that can be
    /// read.
    ///
    /// - Parameters:
    ///   - states: Those that are wanted.
    ///   - body: Called with each of them; returns whether to go on.
    /// - Throws: ``QueueError`` when the file cannot be read, or after the last request when not all can be, and what `body`
    ///   throws.
    public func forEach(in states: Set<RequestState>, _ body: (RequestRecord) throws -> Bool) throws {
        var (last, isWhole) = (Int64(0), true)
        while true {
            let page = try self.store.page(in: states, after: last, limit: pageSize, QueueStatus())
            isWhole = isWhole && page.isWhole
            guard try page.records.allSatisfy(body) else { return }
            guard page.records.count == pageSize, let end = page.records.last else { break }
            last = end.sequence
        }
        if !isWhole { throw QueueError.corrupt(path: self.file, setAsideAs: nil) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

extension OfflineRequestQueue {
    /// Takes over what waits in a file of an older version, which stays; what is taken over is in it no more.
    ///
    /// May be called again, for programs of that version may still put requests there. Blocks for as long as it takes.
    ///
    /// - Parameters:
    ///   - file: The file, for example `~/.local/share/netpath/queue.sqlite`.
    ///   - types: The kinds of requests, ``RetryableRequest/requestType``, that are taken over; nil for all.
    /// - Returns: How many requests were taken over, those that were given up among them.
    /// - Throws: ``QueueError``; nothing was taken over then. ``QueueError/missing(path:)`` where there is no such file;
    ///   ``QueueError/io(path:reason:)`` while a program of that version sends.
    @discardableResult
    public func importRequests(from file: String, types: Set<String>? = nil) throws(QueueError) -> Int {
        let path = try QueueFile.path(of: file, application: nil)
        do {
            let count = try LegacyQueue(path: path, types: types).move(to: self.core.store)
            if count > 0 { self.core.store.ring() }
            return count
        } catch {
            throw StoreErrors.queueError(error, path: path)
        }
    }
}

/// The file of a queue of an older version, from which requests are moved.
///
/// They are in the new file, durably, before they leave this one; whatever dies in between, the table `imported` of the
/// new file says then what has come already.
struct LegacyQueue {
    let path: String
    let types: Set<String>?

    /// A row of the tables `request` and `finished`, which had the same columns; `kept` is both.
    private struct Stored: Codable, FetchableRecord {
        var sequence: Int64
        var id: UUID
        var state: Int
        var due: Int64?
        var deadline: Int64?
        var enqueued: Int64
        var retries: Int
        var attempts: Int
        var received: Bool
        var status: Int?
        var error: String?
        var waiting: WaitingReason?
        var response: Data?
        var bodyFile: String?
        var seal: Int64
        var payload: Data
    }

    /// The states by their numbers; what was being sent is not any more, since nobody sends.
    private static let states: [RequestState] = [.ready, .blocked, .backoff, .ready, .held, .dead, .succeeded]

    func move(to store: RequestStore) throws -> Int {
        let paths = StorePaths(self.path)
        try FileTrust.check(paths)
        guard StoreFiles.identity(self.path) != nil else { throw QueueError.missing(path: self.path) }
        // As every program of that version does, so that nobody replaces the file meanwhile.
        let lock = try StoreLock(paths.lock)
        try lock.share(within: .seconds(10))
        defer { lock.release() }
        let sender = try SenderLock(path: QueueFile.senderLock(of: self.path))
        guard sender.take() else {
            let reason = "a program of an older version sends for this queue; end it, and take the requests over then"
            throw QueueError.io(path: self.path, reason: reason)
        }
        let bodies = BodyFiles(folder: paths.bodies)
        var moved: [Stored] = []
        try StoreFile.open(self.path, readOnly: false).writeWithoutTransaction { old in
            let version = try Int.fetchOne(old, sql: "PRAGMA user_version")
            let owner = try Int64.fetchOne(old, sql: "PRAGMA application_id")
            guard owner == StoreSchema.olderApplicationID, version == 1 else {
                throw QueueError.notAQueue(path: self.path)
            }
            try old.inTransaction(.immediate) {
                // The columns of today by their names, and those that were not there.
                let columns = "1 AS one, paused AS isPaused, ends, 0 AS forces, boot, offset, anchorWall, anchor"
                guard let status = try StoreStatus.fetchOne(old, sql: "SELECT \(columns) FROM queue") else {
                    return .rollback
                }
                moved = try store.transaction(durable: true) { new in
                    try self.copy(from: old, status, bodies, to: new, store)
                }
                if !moved.isEmpty { try self.remove(moved, from: old, status) }
                return .commit
            }
        }
        if moved.isEmpty { return 0 }
        try store.transaction(durable: false) { new in _ = try new.execute("DELETE FROM imported") }
        for file in moved.compactMap(\.bodyFile) { StoreFiles.remove(bodies.path(file)) }
        return moved.count
    }

    /// Copies requests, in their order; those that cannot be read stay where they are.
    private func copy(
        from old: Database,
        _ status: StoreStatus,
        _ bodies: BodyFiles,
        to new: StoreTransaction,
        _ store: RequestStore
    ) throws -> [Stored] {
        var clock = status
        clock.advance(to: new.stamp, latest: clock.anchor)
        let offset = new.now - clock.now(new.stamp)
        // What is too much for the limits of today is not lost either.
        let unlimited = QueueLimits(maxCount: .max, maxBytes: .max, maxBodyBytes: .max)
        var moved: [Stored] = []
        let rows = try Row.fetchCursor(old, sql: "SELECT * FROM kept ORDER BY sequence")
        while let row = try rows.next() {
            guard var stored = try? Stored(row: row), Self.states.indices ~= stored.state,
                var request = try? LegacyReader.request(stored.payload), request.id == stored.id,
                self.types?.contains(request.requestType) ?? true,
                Checksum.of(stored.payload) == (Self.states[stored.state].isFinal ? ~stored.seal : stored.seal)
            else { continue }
            request.bodyFile = request.bodyFile.map { bodies.path($0) }
            request.retryCount = stored.retries
            let isKnown = try Int.fetchOne(new.db, sql: "SELECT 1 FROM imported WHERE id = ?", arguments: [request.id])
            if try isKnown == nil && new.row(request.id) == nil {
                let (host, folder) = (request.host, store.bodies)
                guard let prepared = try? PreparedRequest(request, to: host, limits: unlimited, bodies: folder) else {
                    continue
                }
                try self.insert(prepared, stored, later: offset, into: new)
            }
            // All that is needed of it from now on.
            (stored.payload, stored.response) = (Data(), nil)
            moved.append(stored)
        }
        if !moved.isEmpty, status.isPaused { new.status.isPaused = true }
        try new.db.promoteLanes()
        return moved
    }

    private func insert(
        _ prepared: PreparedRequest,
        _ stored: Stored,
        later offset: Int64,
        into new: StoreTransaction
    ) throws {
        var row = prepared.row
        row.state = Self.states[stored.state]
        if [.ready, .backoff].contains(row.state), try new.hasPredecessor(row.lane, before: .max) {
            row.state = .blocked
        }
        row.due = row.state == .backoff ? (stored.due ?? 0) + offset : nil
        row.deadline = stored.deadline.map { $0 + offset }
        row.enqueued = stored.enqueued + offset
        (row.attempts, row.status, row.error) = (stored.attempts, stored.status, stored.error)
        (row.received, row.waiting) = (stored.received || stored.state == 3, stored.waiting)
        if let response = try stored.response.map({ try LegacyReader.response($0) }) {
            row.answer = StoredRequest.Answer(status: response.status, headers: response.headers)
            row.answerBody = Data(response.body)
            row.size += response.body.count
        }
        try row.insert(new.db)
        try new.execute("INSERT INTO imported VALUES (?)", [row.id])
        if let lease = prepared.lease { new.leases.append(lease) }
    }

    /// Removes what was copied, so that a program of that version that runs beside neither sends it nor counts it, nor
    /// takes it for delivered.
    private func remove(_ moved: [Stored], from old: Database, _ status: StoreStatus) throws {
        for (number, row) in zip((status.ends + 1)..., moved) {
            for table in ["request", "finished"] {
                try old.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [row.id])
            }
            let remember = "INSERT INTO ended VALUES (?, ?, 'cancelled')"
            if row.state < 5 { try old.execute(sql: remember, arguments: [number, row.id]) }
        }
        let counts = ["ready", "blocked", "backoff", "running", "held", "dead", "succeeded"].enumerated()
            .map { "\($1) = (SELECT count(*) FROM kept WHERE state = \($0))" }.joined(separator: ", ")
        try old.execute(
            sql: """
                UPDATE request SET state = 0 WHERE state = 1 AND sequence IN
                  (SELECT min(sequence) FROM request WHERE lane IS NOT NULL GROUP BY lane);
                UPDATE queue SET \(counts), bytes = (SELECT ifnull(sum(size), 0) FROM kept),
                  finishedBytes = (SELECT ifnull(sum(size), 0) FROM finished),
                  ends = \(status.ends + Int64(moved.count)),
                  sequence = max(sequence, \(moved.map(\.sequence).max() ?? 0),
                    (SELECT ifnull(max(sequence), 0) FROM request));
                DELETE FROM ended WHERE number <= (SELECT ends FROM queue) - 1000;
                """
        )
    }
}

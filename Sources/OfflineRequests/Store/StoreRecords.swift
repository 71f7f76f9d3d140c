// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Reads whole requests, in whatever transaction the database is in.
struct StoreRecords {
    let db: Database
    let status: StoreStatus
    let stamp: Moment
    let bodies: BodyFiles

    var counts: QueueCounts { get throws { try QueueCounts(self.db) } }

    func record(_ id: UUID) throws -> RequestRecord? {
        let statement = try self.db.cachedStatement(sql: "SELECT * FROM request WHERE id = ?")
        return try StoredRequest.fetchOne(statement, arguments: [id]).map { self.record($0) }
    }

    /// Some requests, in the order of their numbers; fewer than the limit only when there are no more.
    func page(states: Set<RequestState>, after sequence: Int64, limit: Int) throws -> [RequestRecord] {
        let wanted = Self.condition(states)
        // The few that are being sent, held or finished are found without a look at all others.
        let isApart = states.isDisjoint(with: [.ready, .blocked, .backoff])
        let sql = """
            SELECT * FROM request WHERE \(isApart ? "\(StoreSchema.apart) AND" : "") \(wanted) AND sequence > ?
            ORDER BY sequence LIMIT ?
            """
        return try StoredRequest.fetchAll(self.db, sql: sql, arguments: [sequence, limit]).map { self.record($0) }
    }

    /// Some rows of requests that are to be delivered, in the order of their numbers.
    func stored(after sequence: Int64, limit: Int) throws -> [StoredRequest] {
        let sql = "SELECT * FROM request WHERE \(StoreSchema.pending) AND sequence > ? ORDER BY sequence LIMIT ?"
        return try StoredRequest.fetchAll(self.db, sql: sql, arguments: [sequence, limit])
    }

    /// Those of a damaged file, as far as they can be read, and all at once: each look goes through all of it.
    func readable(states: Set<RequestState>, after sequence: Int64) throws -> [RequestRecord] {
        var page: [StoredRequest] = []
        let condition = Self.condition(states, of: try StoreSchema.readable().state)
        try self.db.forEachReadable("\(condition) AND sequence > \(sequence)") { page.append($0) }
        page.sort { ($0.sequence ?? 0) < ($1.sequence ?? 0) }
        return page.map { self.record($0) }
    }

    private static func condition(_ states: Set<RequestState>, of state: String = "state") -> String {
        "\(state) IN (\(states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")))"
    }

    private func record(_ stored: StoredRequest) -> RequestRecord {
        var record = stored.record(self.bodies, self.status, at: self.stamp)
        if record.state == .backoff { record.waiting = record.notBefore.map { .backoff(until: $0) } }
        if record.state == .blocked {
            let sql = "SELECT id FROM request WHERE sequence = (\(StoreSchema.head))"
            // What it waits for is not worth a failure.
            let head = try? UUID.fetchOne(self.db.cachedStatement(sql: sql), arguments: [stored.lane])
            record.waiting = head.map { .behind($0) }
        }
        if !record.state.isFinal, record.state != .running, record.waiting != .laneHeld {
            // One that was revived has the time it was to expire at only in its text.
            guard let deadline = stored.deadline else {
                record.request.expiresAt = nil
                return record
            }
            if deadline <= self.status.now(self.stamp) { record.waiting = .expired }
        }
        return record
    }

    /// How and when a request ended that is there no more, and with what status; nil when that is not known any more.
    func end(of id: UUID) throws -> (state: RequestState, date: Date, status: Int?)? {
        let sql = "SELECT state, time, status FROM ended WHERE id = ? AND time > ? ORDER BY number DESC LIMIT 1"
        let oldest = self.status.now(self.stamp) &- StoreTransaction.tombstoneAge.inMilliseconds
        let row = try Row.fetchOne(self.db.cachedStatement(sql: sql), arguments: [id, oldest])
        guard let row, let state = RequestState(rawValue: row[0]) else { return nil }
        return (state, self.status.wall(row[1], at: self.stamp), row[2])
    }
}

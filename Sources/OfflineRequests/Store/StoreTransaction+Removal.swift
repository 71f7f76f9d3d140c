// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

extension StoreTransaction {
    /// Which requests are meant.
    enum Selection: Hashable, Sendable {
        /// All that are not finished.
        case all
        /// Those of a type.
        case type(String)
        /// Those of a lane.
        case lane(String)
    }

    /// Cancels a request, whatever its state; one that is being sent too, which then has to be told.
    ///
    /// - Returns: Where it stood; nil when it is not there.
    func cancel(_ id: UUID) throws -> RequestState? {
        guard let row = try self.row(id) ?? self.row(id, in: "finished") else { return nil }
        try self.remove(row)
        if row.state != .succeeded { try self.remember([id], as: .cancelled) }
        if !row.state.isFinal { try self.promote(row.lane) }
        return row.state
    }

    /// Cancels requests that are not finished.
    func cancel(_ selection: Selection) throws -> Cancellation {
        let columns = StoredRow.columns
        let rows =
            switch selection {
            case .all: try self.rows("SELECT \(columns) FROM request ORDER BY sequence")
            case .type(let type):
                try self.rows("SELECT \(columns) FROM request WHERE requestType = ? ORDER BY sequence", [type])
            case .lane(let lane):
                try self.rows(
                    "SELECT \(columns) FROM request INDEXED BY requestLane WHERE lane = ? ORDER BY sequence",
                    ["o\(lane)"]
                )
            }
        for row in rows { try self.remove(row) }
        try self.remember(rows.map(\.id), as: .cancelled)
        for lane in Set(rows.compactMap(\.lane)) { try self.promote(lane) }
        return Cancellation(ids: rows.map(\.id), running: rows.filter { $0.state == .running }.map(\.id))
    }

    /// Removes everything, finished requests too.
    ///
    /// - Returns: Those that were being sent.
    func reset() throws -> [UUID] {
        let running = try self.rows(
            "SELECT \(StoredRow.columns) FROM request INDEXED BY requestApart WHERE state >= 3 AND state = 3"
        )
        let last = try self.rows(
            "SELECT \(StoredRow.columns) FROM request ORDER BY sequence DESC LIMIT ?",
            [StoreEnds.capacity]
        )
        try self.remember(last.map(\.id), of: self.counts.pending, as: .cancelled)
        for table in ["request INDEXED BY requestBody", "finished INDEXED BY finishedBody"] {
            try self.removeBodies("SELECT bodyFile FROM \(table) WHERE bodyFile IS NOT NULL")
        }
        // The gates stay: other processes remember their numbers.
        for table in ["request", "finished"] { try self.execute("DELETE FROM \(table)") }
        self.tally.counts = QueueCounts()
        self.tally.finishedBytes = 0
        return running.map(\.id)
    }

    /// Gives up what is of no use any more or too old, but nothing that is being sent.
    ///
    /// - Parameters:
    ///   - maxAge: How old a request may be; nil for any age.
    ///   - limit: How many at most; what is left is due at once.
    /// - Returns: Those that were given up.
    /// - Throws: What the database says.
    func expire(maxAge: Duration?, limit: Int = 1000) throws -> [UUID] {
        var rows = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM request INDEXED BY requestDeadline
            WHERE deadline IS NOT NULL AND deadline <= ? AND state != 3 ORDER BY deadline LIMIT ?
            """,
            [self.now, limit]
        )
        if let maxAge {
            let oldest = self.now &- QueueClock.milliseconds(maxAge)
            // Numbers grow with time, so that the first ones say whether there is anything to find.
            var last: Int64 = -1
            while rows.count < limit {
                let next = try self.rows(
                    "SELECT \(StoredRow.columns) FROM request WHERE sequence > ? ORDER BY sequence LIMIT 32",
                    [last]
                )
                rows += next.filter { $0.enqueued <= oldest && $0.state != .running && !rows.contains($0) }
                guard let end = next.last, next.contains(where: { $0.enqueued <= oldest }) else { break }
                last = end.sequence
            }
        }
        for row in rows {
            // One that was promoted by the one before it is still the same request.
            guard let row = try self.row(row.id) else { continue }
            _ = try self.drop(row, error: "it expired")
        }
        return rows.map(\.id)
    }

    /// How long it is until the first request is of no use any more; nil when none says when.
    func nextDeadline() throws -> Duration? {
        let deadline = try self.number(
            """
            SELECT deadline FROM request INDEXED BY requestDeadline WHERE deadline IS NOT NULL AND state != 3
            ORDER BY deadline LIMIT 1
            """
        )
        return deadline.map { .milliseconds(max(0, $0 &- self.now)) }
    }

    private func removeBodies(_ sql: String) throws {
        try self.attempt {
            for row in try Row.fetchAll(self.db.cachedStatement(sql: sql)) {
                if let file = Columns(row).optionalText(0) { self.willRemoveBody(file) }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// What is remembered of requests that left without having been delivered, for processes that wait for them.
///
/// Deliveries are not written down, for they are many: what is gone and not in the list was delivered, as long as the
/// list goes back to when it was seen.
enum StoreEnds {
    /// How many ends are remembered.
    static let capacity: Int64 = 1000
}

extension StoreTransaction {
    /// Remembers how requests ended that leave now.
    ///
    /// - Parameters:
    ///   - ids: Those that left last; only the last ones are looked at when there are too many.
    ///   - count: How many left in all; nil for no others.
    ///   - state: How they ended.
    /// - Throws: What the database says.
    func remember(_ ids: [UUID], of count: Int? = nil, as state: RequestState) throws {
        guard !ids.isEmpty else { return }
        self.tally.ends += Int64(count ?? ids.count)
        let last = ids.suffix(Int(StoreEnds.capacity))
        for (number, id) in zip((self.tally.ends - Int64(last.count) + 1)..., last) {
            try self.run("INSERT INTO ended VALUES (?, ?, ?)", .number(number), .id(id), .text(state.rawValue))
        }
        try self.run("DELETE FROM ended WHERE number <= ?", .number(self.tally.ends - StoreEnds.capacity))
    }
}

extension StoreRecords {
    /// How a request ended that was not delivered; nil when nobody has written that down, or not lately.
    func end(of id: UUID) throws -> RequestState? {
        let row = try Row.fetchOne(
            self.db.cachedStatement(sql: "SELECT state FROM ended WHERE id = ? ORDER BY number DESC LIMIT 1"),
            arguments: [id]
        )
        return row.flatMap { Columns($0).optionalText(0) }.flatMap { RequestState(rawValue: $0) }
    }

    /// How a request ended that is there no more.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - ends: How many ends there had been when it was there.
    ///   - tally: How many there are now.
    /// - Returns: How it ended; nil when that is not known any more.
    /// - Throws: What the database says.
    func end(of id: UUID, since ends: Int64, _ tally: StoreTally) throws -> RequestState? {
        guard 0...StoreEnds.capacity ~= tally.ends - ends else { return nil }
        let find = "SELECT state FROM ended WHERE number > ? AND id = ? LIMIT 1"
        let row = try Row.fetchOne(self.db.cachedStatement(sql: find), arguments: [ends, id])
        return row.map { Columns($0).optionalText(0).flatMap { RequestState(rawValue: $0) } } ?? .succeeded
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

extension StoreTransaction {
    /// Puts requests whose time has not come among those that may go, because the path is back: all but those of
    /// servers that ask for patience.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: How many there were.
    /// - Throws: What the database says.
    func promoteUnasked(limit: Int) throws -> Int {
        guard self.counts.backoff > 0 else { return 0 }
        let rows = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM request INDEXED BY requestDue
            WHERE state = 2 AND (due <= ? OR status IS NULL OR status NOT IN (429, 503)) ORDER BY due LIMIT ?
            """,
            [self.now, limit]
        )
        for row in rows {
            try self.execute("UPDATE request SET state = 0, due = NULL WHERE sequence = ?", [row.sequence])
            self.move(row, to: .ready)
        }
        return rows.count
    }
}

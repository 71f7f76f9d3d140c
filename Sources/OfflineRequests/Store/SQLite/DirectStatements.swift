// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB
import GRDBSQLite

/// What happens for every single request, past GRDB: that boxes each value twice, and looks out for observers that a queue has
/// not, which takes more than half as long as SQLite itself does.
extension Database {
    /// Executes a statement that returns no rows.
    func executeDirectly(_ sql: String, _ values: [any StatementBinding] = []) throws {
        let statement = unsafe try self.cachedStatement(sql: sql).sqliteStatement
        defer { _ = unsafe sqlite3_reset(statement) }
        for (index, value) in values.enumerated() {
            // Without memory nothing is bound, and NULL would be kept.
            try self.check(unsafe value.bind(to: statement, at: Int32(index + 1)), expecting: SQLITE_OK)
        }
        try self.check(unsafe sqlite3_step(statement), expecting: SQLITE_DONE)
    }

    private func check(_ code: Int32, expecting expected: Int32) throws {
        if code == expected { return }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: self.lastErrorMessage)
    }

    /// Whether SQLite opened the file to read only, or the header, once it was read, says that this version may not write it.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(self.sqliteConnection, "main") == 1 }

    /// Changes with every transaction that this connection ends, or finds that another one has ended.
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        _ = unsafe sqlite3_file_control(self.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}

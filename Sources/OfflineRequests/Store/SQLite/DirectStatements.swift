// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import GRDBSQLite

/// What happens for every single request, past GRDB: that boxes each value twice, and looks out for observers that a queue has
/// not, which takes more than half as long as SQLite itself does.
extension Database {
    enum Value {
        case integer(Int64?)
        case text(String?)
        case blob(Data?)
    }

    /// Executes a statement that returns no rows.
    func executeDirectly(_ sql: String, _ values: [Value] = []) throws {
        let statement = unsafe try self.cachedStatement(sql: sql).sqliteStatement
        defer { _ = unsafe sqlite3_reset(statement) }
        for (index, value) in values.enumerated() {
            try self.check(unsafe Self.bind(value, at: Int32(index + 1), of: statement), expecting: SQLITE_OK)
        }
        try self.check(unsafe sqlite3_step(statement), expecting: SQLITE_DONE)
    }

    private func check(_ code: Int32, expecting expected: Int32) throws {
        if code == expected { return }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: self.lastErrorMessage)
    }

    /// Returns SQLite's code: without memory nothing is bound, and NULL would be kept.
    private static func bind(_ value: Value, at place: Int32, of statement: SQLiteStatement) -> Int32 {
        // SQLite copies what is bound.
        let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number?): return unsafe sqlite3_bind_int64(statement, place, number)
        case .text(var text?):
            return text.withUTF8 { text in
                unsafe text.withMemoryRebound(to: CChar.self) { text in
                    let (count, encoding) = (UInt64(text.count), UInt8(SQLITE_UTF8))
                    return unsafe sqlite3_bind_text64(statement, place, text.baseAddress, count, copy, encoding)
                }
            }
        // What has no address would be taken for nothing.
        case .blob(let data?) where data.isEmpty: return unsafe sqlite3_bind_zeroblob(statement, place, 0)
        case .blob(let data?):
            return unsafe data.withUnsafeBytes { data in
                unsafe sqlite3_bind_blob64(statement, place, data.baseAddress, UInt64(data.count), copy)
            }
        case .integer(nil), .text(nil), .blob(nil): return unsafe sqlite3_bind_null(statement, place)
        }
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

extension Data {
    init(_ id: UUID) { self = unsafe Swift.withUnsafeBytes(of: id.uuid) { unsafe Data($0) } }
}

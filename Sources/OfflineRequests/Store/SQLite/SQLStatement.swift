// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import GRDBSQLite

extension Database {
    /// Says how long statements wait for other processes.
    func waitForOthers(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(self.sqliteConnection, milliseconds)
    }

    /// A number that every change of the file, by whoever it may be, makes another one: those of others as soon as a
    /// transaction begins (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        _ = unsafe sqlite3_file_control(self.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }
}

/// A statement of every insert or delivery, run without GRDB's values.
///
/// Those are boxed one by one, and cost more than what SQLite does with them. The statement is GRDB's own, from its
/// cache; only what is bound and read goes to SQLite directly.
struct SQLStatement {
    private let statement: Statement

    init(_ db: Database, _ sql: String) throws {
        self.statement = try db.cachedStatement(sql: sql)
    }

    /// A value that is bound.
    enum Value {
        case null
        case number(Int64)
        case text(String)
        case octets(Data)
        case id(UUID)

        static func number(_ number: Int) -> Value { .number(Int64(number)) }

        static func number(_ number: Int64?) -> Value { number.map { .number($0) } ?? .null }

        static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    }

    /// Runs it to its end.
    func run(_ values: Value...) throws { try self.run(values) }

    /// Runs it to its end.
    func run(_ values: [Value]) throws {
        try self.bind(values)
        defer { _ = unsafe sqlite3_reset(self.statement.sqliteStatement) }
        while try self.step() {}
    }

    /// Reads the first row; nil without one.
    func first<Result>(_ values: Value..., read: (SQLStatement) throws -> Result) throws -> Result? {
        try self.bind(values)
        defer { _ = unsafe sqlite3_reset(self.statement.sqliteStatement) }
        return try self.step() ? try read(self) : nil
    }

    /// Reads the rows, for as long as that says it wants more.
    func each(_ values: Value..., read: (SQLStatement) throws -> Bool) throws {
        try self.bind(values)
        defer { _ = unsafe sqlite3_reset(self.statement.sqliteStatement) }
        while try self.step(), try read(self) {}
    }

    /// The number in a column of the row that was just read; nil for anything else.
    func number(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(self.statement.sqliteStatement, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(self.statement.sqliteStatement, column)
    }

    /// The text in a column of the row that was just read; nil for anything else.
    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(self.statement.sqliteStatement, column) == SQLITE_TEXT,
            let text = unsafe sqlite3_column_text(self.statement.sqliteStatement, column)
        else { return nil }
        return unsafe String(cString: text)
    }

    /// The octets in a column of the row that was just read; nil for anything else.
    func octets(_ column: Int32) -> Data? {
        guard unsafe sqlite3_column_type(self.statement.sqliteStatement, column) == SQLITE_BLOB else { return nil }
        let count = unsafe sqlite3_column_bytes(self.statement.sqliteStatement, column)
        guard let octets = unsafe sqlite3_column_blob(self.statement.sqliteStatement, column) else { return Data() }
        return unsafe Data(bytes: octets, count: Int(count))
    }

    /// The id in a column of the row that was just read; nil for anything else.
    func id(_ column: Int32) -> UUID? {
        guard unsafe sqlite3_column_type(self.statement.sqliteStatement, column) == SQLITE_BLOB,
            unsafe sqlite3_column_bytes(self.statement.sqliteStatement, column) == 16,
            let octets = unsafe sqlite3_column_blob(self.statement.sqliteStatement, column)
        else { return nil }
        return unsafe UUID(uuid: octets.loadUnaligned(as: uuid_t.self))
    }

    private func step() throws -> Bool {
        switch unsafe sqlite3_step(self.statement.sqliteStatement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let database = unsafe sqlite3_db_handle(self.statement.sqliteStatement)
            let message = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) }
            let extended = unsafe sqlite3_extended_errcode(database)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: extended & 0xFF == code & 0xFF ? extended : code),
                message: message
            )
        }
    }

    private func bind(_ values: [Value]) throws {
        let handle = unsafe self.statement.sqliteStatement
        // GRDB leaves a statement where it ended, and one that was not reset takes no values.
        _ = unsafe sqlite3_reset(handle)
        // SQLite copies what it is given before the call returns.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code: Int32
            switch value {
            case .null: code = unsafe sqlite3_bind_null(handle, place)
            case .number(let number): code = unsafe sqlite3_bind_int64(handle, place, number)
            case .text(let text):
                var text = text
                code = text.withUTF8 { text in
                    unsafe text.withMemoryRebound(to: CChar.self) { text in
                        unsafe sqlite3_bind_text(handle, place, text.baseAddress, Int32(text.count), copied)
                    }
                }
            case .id(let id):
                code = unsafe withUnsafeBytes(of: id.uuid) { octets in
                    unsafe sqlite3_bind_blob(handle, place, octets.baseAddress, Int32(octets.count), copied)
                }
            case .octets(let octets):
                code = unsafe octets.withUnsafeBytes { octets in
                    // Without an address it would be NULL.
                    unsafe octets.isEmpty
                        ? sqlite3_bind_zeroblob(handle, place, 0)
                        : sqlite3_bind_blob(handle, place, octets.baseAddress, Int32(octets.count), copied)
                }
            }
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    }
}

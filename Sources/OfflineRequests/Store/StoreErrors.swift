// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// What is in the file cannot have been written by a queue, although SQLite finds nothing wrong with it.
struct StoreDamage: Error {
    var message: String
}

enum StoreErrors {
    /// Whether the file is damaged; that a constraint is not met says nothing of the file.
    static func isDamage(_ error: any Error) -> Bool {
        if let error = error as? DatabaseError {
            return self.isSaidToBeDamaged(error) || error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
        }
        // A column of a row has what no queue writes there.
        return error is StoreDamage || error is RowDecodingError || error is DecodingError
    }

    private static func isSaidToBeDamaged(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        // What the header says of the schema, no version of SQLite has written (`sqlite3InitOne` of prepare.c); and what
        // statements name is there in every file of a version that was looked at before.
        case .SQLITE_ERROR:
            ["unsupported file format", "no such table: ", "no such column: ", "no such index: "].contains { text in
                error.message?.hasPrefix(text) == true
            }
        default: false
        }
    }

    /// Whether SQLite took for damage what the disk did not give for a moment: while it executes a statement it makes
    /// SQLITE_CORRUPT of an EIO.
    private static func isPassing(_ error: any Error, path: String) -> Bool {
        guard let error = error as? DatabaseError, self.isSaidToBeDamaged(error) else { return false }
        return (try? StoreFile.read(path) { try self.check($0) }) != nil
    }

    static func isFullDisk(_ error: any Error, path: String) -> Bool {
        if self.isDamage(error) { return false }
        return if case .diskFull = self.queueError(error, path: path) { true } else { false }
    }

    /// Looks through a whole database; quickly, for its requests alone, and not for what leads to them.
    static func check(_ db: Database, quickly: Bool = false) throws {
        let finding = try String.fetchOne(db, sql: "PRAGMA \(quickly ? "quick" : "integrity")_check(1)") ?? ""
        if finding != "ok" { throw StoreDamage(message: finding) }
        if !quickly { try StoreSchema.checkTexts(db) }
        try StoreSchema.checkTotal(db)
    }

    /// That the system did not open a file to write, for want of descriptors or memory, or because of its disk.
    static func notOpenedToWrite(_ path: String) -> QueueError {
        guard StoreFiles.areWritable(path) else { return .readOnly(path: path) }
        return .io(path: path, reason: "the system does not open this to write now; it is tried again later")
    }

    static func queueError(_ error: any Error, path: String) -> QueueError {
        if self.isPassing(error, path: path) {
            return .io(path: path, reason: "a read from the disk was incomplete; it is repeated later")
        }
        if self.isDamage(error) { return .corrupt(path: path, setAsideAs: nil) }
        // What Foundation's files say has the number of the system in it.
        if let error = (error as? CocoaError)?.underlying as? POSIXError {
            return StoreFiles.error(error.code.rawValue, path)
        }
        guard let error = error as? DatabaseError else {
            return error as? QueueError ?? .io(path: path, reason: "\(error)")
        }
        switch error.resultCode {
        case .SQLITE_FULL: return .diskFull(path: path, missing: nil)
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            if StoreFiles.isFull(path) { return .diskFull(path: path, missing: nil) }
        case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY && StoreFiles.areWritable(path):
            return self.notOpenedToWrite(path)
        case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK:
            let reason = "a change of this was interrupted, and only a program that writes into it can take that back"
            return .io(path: path, reason: reason)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: return .readOnly(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            let holders = LockHolders.text(of: StorePaths.companions.map { path + $0 } + [path])
            return .io(path: path, reason: "\(holders) held the queue locked for too long; try again")
        default: ()
        }
        let code = error.extendedResultCode.rawValue
        return .io(path: path, reason: "\(error.message ?? "SQLite error") (SQLite \(code))")
    }
}

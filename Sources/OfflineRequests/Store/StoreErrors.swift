// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What an error of the database means.
enum StoreErrors {
    /// Whether the file is damaged.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case is Damage: true
        case let error as DatabaseError:
            switch error.resultCode {
            // No constraint, and no table or column that is not there: that would be a version, or our mistake.
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: true
            default: error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
            }
        default: false
        }
    }

    static func queueError(_ error: any Error, path: String) -> QueueError {
        guard let error = error as? DatabaseError else {
            return error as? QueueError ?? .io(path: path, reason: "\(error)")
        }
        switch error.resultCode {
        case .SQLITE_FULL: return .diskFull(path: path)
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            if StoreFiles.isFull(path) { return .diskFull(path: path) }
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: return .readOnly(path: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .corrupt(path: path, setAsideAs: nil)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return .io(path: path, reason: "another process has kept the queue for too long; try again")
        case .SQLITE_NOMEM: return .io(path: path, reason: "there is no memory")
        default: ()
        }
        return .io(
            path: path,
            reason: "\(error.message ?? "SQLite error") (SQLite \(error.extendedResultCode.rawValue))"
        )
    }
}

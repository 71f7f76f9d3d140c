// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The names of the files of a queue.
struct StorePaths: Hashable, Sendable {
    /// The database.
    let database: String

    init(_ database: String) { self.database = database }

    /// SQLite's journal, which exists while a process has the database open.
    var journal: String { "\(self.database)-wal" }
    /// What the processes that have it open share, to find their way in the journal.
    var memory: String { "\(self.database)-shm" }
    /// The folder of long bodies.
    var bodies: String { "\(self.database)-bodies" }
    /// What keeps the database in its place while it is used.
    var lock: String { "\(self.database)-lock" }
    /// Room for the ends of requests on a full disk.
    var reserve: String { "\(self.database)-reserve" }
    /// A new database that takes the place of a damaged one, complete as soon as it has this name.
    var replacement: String { "\(self.database)-salvaged" }
    /// The folder the database is in.
    var folder: String {
        guard let slash = self.database.lastIndex(of: "/") else { return "." }
        return slash == self.database.startIndex ? "/" : String(self.database[..<slash])
    }

    /// What SQLite has beside a database.
    static let companions = ["-wal", "-shm"]
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathSystem

/// The new database that takes the place of a damaged one, with what SQL can still read of that.
///
/// It is complete and durable before it gets its second name, and from then on the exchange is finished by the process that opens
/// the queue next. At no instant is the damaged file gone and what was saved of it not there.
struct StoreReplacement {
    let paths: StorePaths
    let bodies: BodyFiles
    let stamp: Moment

    /// Puts what can be read of the damaged database in its place, while no other process uses it; returns how many
    /// requests that are, how many are lost, where it says that, and what it is called now.
    func replace() throws -> (recovered: Int, lost: Int?, aside: String) {
        // What the disk does not give now is no damage, nor is that it has no room: nothing may be left out for that.
        let mended = MendedCopy(path: self.paths.mended)
        defer { mended.remove() }
        try mended.make(from: self.paths)
        let source = mended.path
        // SQLite makes damage of a read that fails: lost is what two looks in a row do not find.
        var (found, looks) = (try self.salvage(from: source), 1)
        while case let again = try self.salvage(from: source), again != found {
            (found, looks) = (again, looks + 1)
            if looks == 5 {
                let reason = "the disk returns different data on each read; the file is repaired later"
                throw QueueError.io(path: self.paths.database, reason: reason)
            }
        }
        try StoreFiles.rename(self.paths.unfinished, to: self.paths.replacement)
        StoreFiles.syncFolder(self.paths.folder)
        let aside = try self.finish()?.aside ?? self.paths.database
        return (found.requests, found.ids.map { max(0, $0 - found.requests) }, aside)
    }

    /// How much of a damaged database can be read.
    private struct Salvage: Hashable {
        /// How many requests its index has; nil where that is damaged.
        var ids: Int?
        var requests = 0
        var hasStatus = false
        var ends: Int?
    }

    /// Makes the new database of what can be read.
    private func salvage(from source: String) throws -> Salvage {
        var salvage = Salvage()
        let path = self.paths.unfinished
        StorePaths.remove(path)
        try StoreFiles.create(path)
        let new = try StoreFile.open(path, readOnly: false)
        defer { StoreFile.close(new) }
        try new.write { new in
            try StoreSchema.make(new, at: self.stamp)
            // Closed before its file has another name.
            let opened = try self.unlessDamaged { try StoreFile.open(source, readOnly: true, isDamaged: true) }
            guard let old = opened else { return }
            try StoreFile.once(old) { old in
                let count = "SELECT count(id) FROM request INDEXED BY requestID WHERE id >= x''"
                salvage.ids = try self.unlessDamaged { try Int.fetchOne(old, sql: count) } ?? nil
                try self.copy(from: old, to: new, &salvage)
            }
        }
        _ = try new.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        return salvage
    }

    /// What can be read; nil for damage.
    ///
    /// What the disk or the system does not give now is none.
    private func unlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? {
        do { return try read() } catch let error where StoreErrors.isDamage(error) { return nil }
    }

    private func copy(from old: Database, to new: Database, _ salvage: inout Salvage) throws {
        if let status = try self.unlessDamaged({ try StoreStatus.read(old) }) {
            try status.update(new)
            salvage.hasStatus = true
        }
        let ends = try self.unlessDamaged { try Row.fetchAll(old, sql: "SELECT * FROM ended") }
        salvage.ends = ends?.count
        for row in ends ?? [] {
            let sql = "INSERT OR IGNORE INTO ended VALUES (\(databaseQuestionMarks(count: row.count)))"
            try new.execute(sql: sql, arguments: StatementArguments(Array(row.databaseValues)))
        }
        try old.forEachReadable("TRUE") { stored in
            var stored = stored
            // A body in a file is looked at before it is sent: all others wait here.
            let isDamaged = try stored.bodyFile == nil && stored.intact(self.bodies) == nil
            if isDamaged, !stored.state.isFinal {
                (stored.state, stored.waiting, stored.due) = (.held, .damaged, nil)
            }
            // At a gate that is none it would wait for ever.
            let request = stored.readable(self.bodies)
            if !request.endpoint.isEmpty { stored.gate = Gate(request).text }
            try stored.insert(new, isNew: false)
            if new.changesCount == 1 { salvage.requests += 1 }
        }
        // The heads of lanes may be among what is lost.
        try new.execute(
            sql: """
                UPDATE request SET state = 'ready' WHERE state = 'blocked' AND sequence IN
                  (SELECT min(sequence) FROM request WHERE lane IS NOT NULL AND \(StoreSchema.pending) GROUP BY lane)
                """
        )
    }

    /// Puts the new file in the place of the damaged one, and bodies that no request in it has beside that; returns how many
    /// requests it has, and what the damaged one is called now; nil where none is new.
    func finish() throws -> (recovered: Int, aside: String)? {
        guard try StoreFiles.isThere(self.paths.replacement) else { return nil }
        let (count, bodies) = try StoreFile.readUnshared(self.paths.replacement) { db in
            // One that a user has put there.
            try StoreSchema.check(db, path: self.paths.replacement)
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM request") ?? 0
            return (count, try String.fetchSet(db, sql: "SELECT bodyFile FROM request WHERE bodyFile IS NOT NULL"))
        }
        let aside = try self.setAside()
        let lostBodies = StorePaths(aside).bodies
        // Before the exchange: the process that sends afterwards removes bodies that no request has.
        _ = try self.bodies.removeOrphans(
            isKnown: { bodies.contains($0) },
            remove: { name in
                try StoreFiles.createFolder(lostBodies)
                try StoreFiles.rename(self.bodies.path(name), to: "\(lostBodies)/\(name)")
            }
        )
        try StoreFiles.rename(self.paths.replacement, to: self.paths.database)
        StoreFiles.syncFolder(self.paths.folder)
        return (count, aside)
    }

    /// Whether a process that repaired the queue gave that file another name.
    func isSetAside(_ file: FileIdentity) throws -> Bool {
        try FileAccess.names(in: self.paths.folder).contains { name in
            let path = "\(self.paths.folder)/\(name)"
            return try path.hasPrefix("\(self.paths.database).corrupt-") && StoreFiles.identity(path) == file
        }
    }

    /// Gives what is there another name, and returns that; the file itself may not have it because there was none.
    func setAside(_ suffixes: [String] = StorePaths.companions + ["-journal", ""]) throws -> String {
        let time = self.stamp.wall.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        let name = "\(self.paths.database).corrupt-\(time)"
        var (aside, number) = (name, 1)
        while FileAccess.exists(aside) || FileAccess.exists(StorePaths(aside).journal) {
            number += 1
            aside = "\(name)-\(number)"
        }
        // A journal beside a database that it does not belong to would be played into it.
        for suffix in suffixes where try StoreFiles.identity(self.paths.database + suffix) != nil {
            try StoreFiles.rename(self.paths.database + suffix, to: aside + suffix)
        }
        return aside
    }
}

extension Database {
    /// Reads each row of requests that can be read once, in no certain order.
    ///
    /// A damaged page ends a scan. What is behind it is found from the other end, then by the numbers in an index, and where
    /// that is damaged, too, by looking ever further and halving: SQLite fails for every number in a damaged page, and finds
    /// the first row behind it for any other.
    func forEachReadable(_ condition: String, _ body: (StoredRequest) throws -> Void) throws {
        var seen: Set<Int64> = []
        func take(_ stored: StoredRequest) throws {
            if let number = stored.sequence, seen.insert(number).inserted { try body(stored) }
        }
        let (state, waiting, priority) = try StoreSchema.readable()
        // Of two columns with one name the first is read.
        let columns = "\(state) AS state, \(waiting) AS waiting, \(priority) AS priority, *"
        let select = "SELECT \(columns) FROM request NOT INDEXED WHERE"
        let all = "\(select) \(condition) ORDER BY sequence"
        if try self.scan({ try StoredRequest.fetchCursor(self, sql: all) }, take) { return }
        _ = try self.scan({ try StoredRequest.fetchCursor(self, sql: "\(all) DESC") }, take)

        var numbers: Set<Int64> = []
        let index = "SELECT sequence FROM request INDEXED BY requestID WHERE id >= x'' ORDER BY id"
        let isWhole = try ["", " DESC"].contains { order in
            try self.scan({ try Int64.fetchCursor(self, sql: index + order) }) { numbers.insert($0) }
        }
        let find = "\(select) sequence >= ? AND \(condition) ORDER BY sequence LIMIT 1"
        /// The first from a number on, or that there is none; nil for damage, of which one before that number is a sign.
        func request(from number: Int64) throws -> StoredRequest?? {
            var found: StoredRequest?
            let rows = { try StoredRequest.fetchCursor(self.cachedStatement(sql: find), arguments: [number]) }
            guard try self.scan(rows, { found = $0 }), found?.sequence.map({ $0 >= number }) != false else {
                return .none
            }
            return .some(found)
        }
        for number in numbers.subtracting(seen).sorted() {
            if case let found?? = try request(from: number) { try take(found) }
        }
        var next: Int64? = isWhole ? nil : 0
        while let number = next {
            if let found = try request(from: number) {
                if let found { try take(found) }
                // No queue counts that far, and to go on from there would overflow.
                next = found?.sequence.flatMap { $0 < 1 << 61 ? $0 + 1 : nil }
                continue
            }
            var (bad, step) = (number, Int64(1))
            while try request(from: bad + step) == nil {
                bad += step
                if step > 1 << 60 { return }
                step *= 2
            }
            var good = bad + step
            while good - bad > 1 {
                let middle = bad + (good - bad) / 2
                if try request(from: middle) == nil { bad = middle } else { good = middle }
            }
            next = good
        }
    }

    /// Goes through rows until the end, or until a damaged page; returns whether it read all of them.
    private func scan<Rows: Cursor>(_ rows: () throws -> Rows, _ body: (Rows.Element) throws -> Void) throws -> Bool {
        var (cursor, isWhole) = (Rows?.none, true)
        while true {
            let row: Rows.Element?
            do {
                let rows = try cursor ?? rows()
                cursor = rows
                row = try rows.next()
            } catch let error where StoreErrors.isDamage(error) {
                if cursor == nil || error is DatabaseError { return false }
                // A row that is not as a queue writes it; the next one may be.
                isWhole = false
                continue
            }
            guard let row else { return isWhole }
            try body(row)
        }
    }
}

/// A copy of a damaged database whose header is as it must be, so that one wrong bit there does not hide every request.
///
/// Nothing of the header of a queue is unknown but how many pages there are, which the length of the file says
/// (https://sqlite.org/fileformat.html).
struct MendedCopy {
    let path: String

    /// Makes a copy, with its journal, while no other process is at the file; the caller removes it, also after an error.
    ///
    /// To open the file drops the locks that this process has on it by SQLite, which nothing needs any more.
    func make(from paths: StorePaths) throws {
        self.remove()
        if try StoreFiles.isThere(self.path) {
            throw QueueError.io(path: self.path, reason: "a copy of the damaged file has to be here; remove what is")
        }
        for suffix in ["", "-wal"] where try StoreFiles.identity(paths.database + suffix) != nil {
            try FileManager.default.copyItem(atPath: paths.database + suffix, toPath: self.path + suffix)
        }
        let file = try FileHandle(forUpdating: URL(filePath: self.path))
        defer { try? file.close() }
        let pages = (Int(try file.seekToEnd()) + StoreSchema.pageSize - 1) / StoreSchema.pageSize
        // What is missing of the last page reads as zeroes.
        try file.truncate(atOffset: UInt64(max(1, pages) * StoreSchema.pageSize))
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Self.header(pages: max(1, pages)))
    }

    func remove() { StorePaths.remove(self.path) }

    private static func header(pages: Int) -> Data {
        func number(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var header = Data("SQLite format 3\0".utf8)
        // The size of pages, WAL for readers and writers, nothing reserved, and fractions that are fixed.
        header += [UInt8(StoreSchema.pageSize >> 8), 0, 2, 2, 0, 64, 32, 32]
        // The count of changes, by which the number of pages counts; no free pages, which only a writer needs.
        header += number(1) + number(pages) + number(0) + number(0)
        // The schema's count and format, the cache, no vacuum, UTF-8.
        header += number(1) + number(4) + number(0) + number(0) + number(1)
        header += number(StoreSchema.version) + number(0) + number(Int(StoreSchema.applicationID))
        header += [UInt8](repeating: 0, count: 20)
        return header + number(1) + number(3_040_001)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathSystem
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// A damaged file: nothing crashes or hangs, it is set aside, what was lost is told, no request comes back changed, and
/// the rest is delivered.
@Suite struct DamageTests {
    private static let pageSize = StoreSchema.pageSize

    private let bench: StoreBench

    init() throws { self.bench = try StoreBench() }

    /// Fills a queue with requests that have everything, and closes it.
    private func fill(_ bench: StoreBench, _ count: Int = 120) throws -> [UUID: RetryableRequest] {
        let store = try bench.open()
        var random = SeededGenerator(seed: 1)
        let prepared = try (0..<count).map { number in
            try store.prepare(
                sample(number) { request in
                    request.endpoint = "https://host\(number % 10).example.net/\(number)"
                    request.orderingKey = number % 4 == 0 ? "lane \(number % 12)" : nil
                    request.uniqueKey = number % 7 == 0 ? "key \(number)" : nil
                    // Some do not fit into a page.
                    let length = number % 25 == 0 ? 20_000 : 200
                    request.body = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
                }
            )
        }
        try store.transaction(durable: true) { transaction in for one in prepared { _ = try transaction.insert(one) } }
        for id in try store.readyIDs().prefix(count / 10) { try store.run(id, .dead(reason: "given up")) }
        try bench.settle()
        let requests = try store.all().map { ($0.id, $0.request) }
        store.close()
        return Dictionary(uniqueKeysWithValues: requests)
    }

    private func overwrite(_ bytes: [UInt8], at place: Int, _ bench: StoreBench) throws {
        let file = try FileHandle(forUpdating: URL(filePath: bench.path))
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// Overwrites a page that has requests, and nothing else; another for every number.
    private func overwriteLeaf(_ number: Int) throws {
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        let leaves = stride(from: 0, to: file.count, by: Self.pageSize).filter { page in
            file[page] == 0x0D && file[page..<(page + Self.pageSize)].firstRange(of: Data("\"endpoint\"".utf8)) != nil
        }
        try self.overwrite([UInt8](repeating: 0xA5, count: Self.pageSize), at: leaves[number], self.bench)
    }

    /// Looks through a file, and replaces it when it is damaged.
    private func repair(_ store: RequestStore) throws {
        do { try store.verify() } catch {
            guard case QueueError.corrupt(path: _, setAsideAs: .some(let aside)) = error else { throw error }
            #expect(FileManager.default.fileExists(atPath: aside))
        }
    }

    private func list(_ path: String) throws -> (records: [RequestRecord], isWhole: Bool) {
        var records: [RequestRecord] = []
        do {
            try QueueReader(file: path).forEach(in: Set(RequestState.allCases)) { record in
                records.append(record)
                return true
            }
            return (records, true)
        } catch QueueError.corrupt(path: path, setAsideAs: nil) { return (records, false) }
    }

    @Test(arguments: [0, 1, 2])
    func everyPageInTurn(part: Int) throws {
        let original = try self.fill(self.bench)
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        var (silent, fatal) = (0, 0)
        for page in stride(from: 0, to: file.count, by: Self.pageSize) where page / Self.pageSize % 3 == part {
            let bench = try StoreBench()
            try file.write(to: URL(filePath: bench.path))
            // What was a queue once has it.
            _ = try FileLock("\(bench.path)-lock")
            try self.overwrite([UInt8](repeating: 0xA5, count: Self.pageSize), at: page, bench)

            let listed = try self.list(bench.path)
            for record in listed.records where !record.request.endpoint.isEmpty {
                var request = record.request
                // A list compares no checksum.
                request.body = original[record.id]?.body
                #expect(request == original[record.id], "page at \(page)")
            }

            let store = try bench.open()
            store.sends = true
            try self.repair(store)
            let records = try store.all()
            let damaged = records.filter { $0.waiting == .damaged }
            for record in records where !damaged.contains(record) {
                #expect(record.request.endpoint == original[record.id]?.endpoint, "page at \(page)")
            }
            if let salvage = bench.salvages.first {
                #expect(bench.salvages.count == 1)
                #expect(salvage.recovered == records.count)
                if let lost = salvage.lost { #expect(records.count + lost == original.count, "page at \(page)") }
                for id in Set(original.keys).subtracting(records.map(\.id)) {
                    #expect(try store.read { try $0.end(of: id) } == nil, "page at \(page)")
                }
            } else {
                // The page was none that is used, or has a part of a request that says so itself.
                #expect(records.count == original.count)
                silent += 1
            }
            // One page has at most a few requests, or an index; only the root of the table, and the first, have more.
            if records.count - damaged.count < original.count - 20 { fatal += 1 }

            var delivered: Set<UUID> = []
            var ids = try store.readyIDs()
            while !ids.isEmpty {
                for id in ids { try store.run(id, .succeeded) }
                delivered.formUnion(ids)
                ids = try store.readyIDs()
            }
            #expect(delivered.isSubset(of: original.keys) && delivered.isDisjoint(with: damaged.map(\.id)))
            #expect(try store.counts.pending == store.counts.held + store.counts.blocked)
            try store.verify()
        }
        #expect(silent < 20)
        #expect(fatal <= 2)
    }

    /// SQLite says so, too, when the disk gives an error while a statement is executed.
    @Test func whatIsDamagedForAMomentOnlyIsReadAgain() throws {
        let store = try self.bench.open()
        let id = try store.insert(sample(1)).id
        store.sends = true
        #expect {
            try store.transaction(durable: false) { _ in throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        } throws: {
            if case .io? = $0 as? QueueError { true } else { false }
        }
        #expect(self.bench.salvages.isEmpty)
        #expect(try store.readyIDs() == [id])
    }

    /// No file can be there, for another reason than a full disk; or the copy cannot be opened, and is not damaged.
    @Test(arguments: ["-mended", "-mended-journal"])
    func nothingIsLostThatCannotBeCopiedOrReadNow(suffix: String) throws {
        let original = try self.fill(self.bench)
        try self.overwriteLeaf(1)
        let obstacle = self.bench.path + suffix
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        let store = try self.bench.open()
        _ = try store.transaction(durable: true) { $0.status.isPaused = true }
        store.sends = true
        #expect {
            try store.verify()
        } throws: {
            if case .io? = $0 as? QueueError { true } else { false }
        }
        #expect(self.bench.salvages.isEmpty)
        try FileManager.default.removeItem(atPath: obstacle)
        try self.repair(store)
        #expect(try store.all().count > original.count - 20)
        #expect(try store.read { $0.status.isPaused })
    }

    @Test func anIdentifierThatIsAnotherIsDamage() throws {
        let original = try self.fill(self.bench)
        let id = try #require(original.keys.first)
        let other = UUID()
        let database = try DatabaseQueue(path: self.bench.path)
        try database.write { db in
            try db.execute(sql: "UPDATE request SET id = ?, state = 'ready' WHERE id = ?", arguments: [other, id])
        }
        try database.close()
        let store = try self.bench.open()
        #expect(try !store.readyIDs().contains(other))
        #expect(try store.record(other)?.waiting == .damaged)
        #expect(try store.transaction(durable: true) { try $0.cancel(other) } == .held)
    }

    @Test(arguments: [2, 100, 511, 4095, 4096, 4097, 20_000, 40_960, 100_001])
    func anEndThatIsMissing(length: Int) throws {
        let original = try self.fill(self.bench)
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        try file.prefix(length).write(to: URL(filePath: self.bench.path))
        _ = try self.list(self.bench.path)
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(self.bench.salvages.count == 1)
        #expect(try store.all().count == self.bench.salvages.first?.recovered)
        #expect(try Set(store.all().map(\.id)).isSubset(of: original.keys))
        try store.insert(sample(1000))
    }

    @Test func aListGoesOnBehindDamageAndSaysSo() throws {
        let original = try self.fill(self.bench, 400)
        for number in [3, 9, 10] { try self.overwriteLeaf(number) }
        let listed = try self.list(self.bench.path)
        #expect(!listed.isWhole)
        #expect(listed.records.count > original.count - 60)
        #expect(listed.records.count < original.count)
        #expect(Set(listed.records.map(\.id)).count == listed.records.count)
        // Reading repairs nothing.
        let names = try FileManager.default.contentsOfDirectory(atPath: self.bench.folder.path)
        #expect(!names.contains { $0.contains("corrupt") })
    }

    /// What SQL finds by its number is kept, however many pages between are damaged, and listed.
    @Test func whatIsBetweenDamagedPagesIsKept() throws {
        _ = try self.fill(self.bench, 400)
        for number in stride(from: 1, to: 60, by: 2) { try self.overwriteLeaf(number) }
        let readable = try DatabaseQueue(path: self.bench.path).inDatabase { db in
            (1...400).filter { number in
                let find = "SELECT id FROM request NOT INDEXED WHERE sequence = \(number)"
                return (try? Data.fetchOne(db, sql: find)) != nil
            }
        }
        #expect(readable.count > 200)
        let listed = try self.list(self.bench.path).records.map(\.sequence)
        #expect(Set(listed).isSuperset(of: readable.map(Int64.init)) && listed == listed.sorted())
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(try Set(store.all().map(\.sequence)).isSuperset(of: readable.map(Int64.init)))
    }

    /// By a number that is wrong in the tree above, what is below is not found, and a scan goes through it all the same.
    @Test func aWrongNumberAboveHidesNothing() throws {
        let original = try self.fill(self.bench, 400)
        let root = try DatabaseQueue(path: self.bench.path).read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'request'") ?? 0
        }
        let page = try Data(contentsOf: URL(filePath: self.bench.path)).dropFirst((root - 1) * Self.pageSize)
        func number(at place: Int) -> Int {
            let bytes = page.dropFirst(place)
            return bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(page.first == 5)
        // A cell is the number of a page, in four bytes, and that of a row (https://sqlite.org/fileformat.html).
        let cells = (0..<number(at: 3)).map { number(at: 12 + 2 * $0) + 4 }
        let cell = try #require(cells.first { number(at: $0) >> 8 == 0x82 })
        try self.overwrite([0x80], at: (root - 1) * Self.pageSize + cell, self.bench)
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(self.bench.salvages.count == 1)
        #expect(try Set(store.all().map(\.id)) == Set(original.keys))
    }

    /// SQLite takes what describes a table as it is.
    @Test(arguments: ["old.state", "UPDATE total"]) func aWrongWordInATriggerIsDamage(_ word: String) throws {
        let original = try self.fill(self.bench)
        try DatabaseQueue(path: self.bench.path).write { db in
            let text = "replace(sql, '\(word)', '\(word.dropLast())m') WHERE name = 'requestRemoved'"
            try db.execute(sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = \(text)")
        }
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(self.bench.salvages.count == 1)
        #expect(try Set(store.all().map(\.id)) == Set(original.keys))
        let id = try #require(try store.readyIDs().first)
        try store.run(id, .succeeded)
    }

    /// SQLite reads nothing of a file in which it cannot read one of these, unless it is told to.
    @Test(arguments: ["requestLane", "requestID", "requestReady"])
    func aWrongWordInAnIndexLosesNothing(_ index: String) throws {
        let original = try self.fill(self.bench)
        try DatabaseQueue(path: self.bench.path).write { db in
            let text = "replace(sql, ' ON ', ' MN ') WHERE name = '\(index)'"
            try db.execute(sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = \(text)")
            #expect(db.changesCount == 1)
        }
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(try Set(store.all().map(\.id)) == Set(original.keys))
    }

    /// A column, a table or a number of which SQLite finds nothing wrong.
    @Test(arguments: [
        "UPDATE request SET state = 'clocked' WHERE sequence = 5",
        "UPDATE total SET count = count + 1 WHERE state = 'ready'",
    ])
    func aRequestThatIsNotCountedIsDamage(_ change: String) throws {
        let original = try self.fill(self.bench)
        try DatabaseQueue(path: self.bench.path).write { try $0.execute(sql: change) }
        let listed = try self.list(self.bench.path)
        #expect(!listed.isWhole && Set(listed.records.map(\.id)) == Set(original.keys))
        try self.expectReplacement(of: original)
        let isHeld = change.contains("clocked")
        let store = try self.bench.open()
        #expect(try store.all().filter { $0.waiting == .damaged }.map(\.sequence) == (isHeld ? [5] : []))
    }

    /// By one that leads elsewhere a lane would go in another order, or a request not at all.
    @Test func anIndexThatIsNotOfItsTableIsDamage() throws {
        let original = try self.fill(self.bench)
        let name = "name = 'requestLane'"
        // Unknown while the table changes.
        let index = try DatabaseQueue(path: self.bench.path).write { db in
            let row = try Row.fetchOne(db, sql: "SELECT * FROM sqlite_schema WHERE \(name)")
            try db.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE \(name)")
            return StatementArguments(Array(try #require(row).databaseValues))
        }
        try DatabaseQueue(path: self.bench.path).write { db in
            try db.execute(sql: "UPDATE request SET lane = lane || 'x'; PRAGMA writable_schema = ON")
            try db.execute(sql: "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", arguments: index)
        }
        #expect(try self.list(self.bench.path).isWhole)
        try self.expectReplacement(of: original)
    }

    /// What the process that is to send does before it sends.
    private func expectReplacement(of original: [UUID: RetryableRequest]) throws {
        let store = try self.bench.open()
        store.sends = true
        #expect {
            try store.check()
        } throws: {
            if case .corrupt(_, setAsideAs: _?)? = $0 as? QueueError { true } else { false }
        }
        #expect(self.bench.salvages.count == 1)
        #expect(try Set(store.all().map(\.id)) == Set(original.keys))
        try store.check()
        store.close()
    }

    /// SQLite finds the row before a number where the tree above says otherwise; to go on from there would never end.
    @Test(.timeLimit(.minutes(1))) func aSearchThatIsLedBackEnds() throws {
        let original = try self.fill(self.bench, 400)
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        let roots = try DatabaseQueue(path: self.bench.path).read { db in
            try ["request", "requestID"].map { name in
                let find = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
                return (try Int.fetchOne(db, sql: find, arguments: [name]) ?? 1) - 1
            }
        }
        // The number of rows from which on the first of two leaves is left for the second, twice as high.
        let root = roots[0] * Self.pageSize
        let place = root + 12 + 2 * 3
        let cell = root + (Int(file[place]) << 8 | Int(file[place + 1])) + 4
        let length = file[cell] & 0x80 == 0 ? 1 : 2
        try self.overwrite(length == 1 ? [file[cell] + 9] : [file[cell], file[cell + 1] ^ 0x08], at: cell, self.bench)
        try self.overwrite([0xFF], at: roots[1] * Self.pageSize, self.bench)
        try self.overwriteLeaf(12)
        #expect(try !self.list(self.bench.path).isWhole)
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(try store.all().count > original.count - 60)
    }

    /// Neither those behind it, nor those between a damaged page and it.
    @Test(arguments: [false, true]) func aRowThatCannotBeReadHidesNoOther(withoutIndex: Bool) throws {
        let original = try self.fill(self.bench, 400)
        try DatabaseQueue(path: self.bench.path).write { db in
            try db.execute(sql: "UPDATE request SET answer = 'no JSON' WHERE sequence IN (7, 150, 151)")
            if withoutIndex { try db.execute(sql: "DROP INDEX requestID") }
        }
        for number in [20, 90] { try self.overwriteLeaf(number) }
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        let kept = try Set(store.all().map(\.sequence))
        #expect(kept.isDisjoint(with: [7, 150, 151]) && kept.isSuperset(of: [6, 8, 149, 152]))
        #expect(kept.count > original.count - 20)
    }

    @Test func aNameThatNoQueueGivesIsNoBody() throws {
        let bodies = BodyFiles(folder: "/folder")
        #expect(bodies.path("../victim") == "/folder/none")
    }

    @Test func aRequestThatIsNotWhatWasTakenIsHeldAndTheRestGoesOn() throws {
        let store = try self.bench.open()
        let body = Data("the body of the first one".utf8)
        let first = try store.insert(sample(1) { $0.body = body }).id
        let second = try store.insert(sample(2)).id
        let long = try (3..<6).map { number in
            try store.insert(sample(number) { $0.body = Data(repeating: 7, count: 100_000) }).id
        }
        // One changed, one shorter, one gone.
        let files = try long.map { try #require(try store.record($0)?.request.bodyFile) }
        var bytes = try Data(contentsOf: URL(filePath: files[0]))
        bytes[50_000] = 8
        try bytes.write(to: URL(filePath: files[0]))
        try bytes.dropLast(1).write(to: URL(filePath: files[1]))
        try FileManager.default.removeItem(atPath: files[2])
        try self.bench.settle()
        store.close()
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        let place = try #require(file.firstRange(of: body)).lowerBound
        try self.overwrite([0x54], at: place, self.bench)

        let again = try self.bench.open()
        // Within the transaction nothing is read but rows.
        #expect(try Set(again.ready().map(\.id)) == Set([first, second] + long))
        #expect(try again.counts.held == 0)
        #expect(try again.readyIDs() == [second])
        let damaged = [first] + long
        for id in damaged { #expect(try again.record(id)?.waiting == .damaged) }
        #expect(try again.record(first)?.request.endpoint == "https://example.net/items/1")
        // Nor does it go when somebody wants it to.
        _ = try again.transaction(durable: true) { try $0.requeue(first) }
        try again.transaction(durable: true) { _ = try $0.resumeHeld() }
        #expect(try again.readyIDs() == [second])
        #expect(try again.counts.held == 4)
        #expect(try again.verify() == 4)
        #expect(self.bench.salvages.isEmpty)
    }

    /// What is no text would be found again and again; what is made anew is what the request says.
    @Test(arguments: ["gate = CAST(gate AS BLOB)", "gate = 'http 192.0.2.77'", "priority = 7", "waiting = '{'"])
    func aColumnThatIsNotThatOfItsRequestIsMadeAnew(_ change: String) throws {
        let store = try self.bench.open()
        let ids = try (0..<3).map { try store.insert(sample($0)).id }
        let right = try store.transaction(durable: false) { try $0.gates().map(\.id) }
        try DatabaseQueue(path: self.bench.path).write { db in
            try db.execute(sql: "UPDATE request SET \(change) WHERE sequence < 3")
        }
        store.sends = true
        #expect {
            if !change.contains("BLOB") { try store.verify() }
            _ = try store.transaction(durable: false) { try $0.gates() }
        } throws: { error in
            if case .corrupt(_, setAsideAs: _?) = error as? QueueError { true } else { false }
        }
        #expect(try store.transaction(durable: false) { try $0.gates().map(\.id) } == right)
        #expect(try store.all([.ready]).map(\.id) == ids)
    }

    @Test func onlyTheSenderRepairsAndOthersGoOnInTheNewFile() throws {
        _ = try self.fill(self.bench)
        let other = try self.bench.open()
        let before = try StoreFiles.identity(self.bench.path)
        other.close()
        try self.overwrite([UInt8](repeating: 0xA5, count: 20 * Self.pageSize), at: Self.pageSize, self.bench)
        let (one, sender) = (try self.bench.open(), try self.bench.open())
        let corrupt = QueueError.corrupt(path: self.bench.path, setAsideAs: nil)
        #expect(throws: corrupt) { try one.insert(sample()) }
        #expect(throws: corrupt) { try one.read { try $0.counts } }
        #expect(try StoreFiles.identity(self.bench.path) == before)
        // Whoever has the lock of the sender alone may repair it.
        let lock = try FileLock(QueueFile.senderLock(of: self.bench.path))
        #expect(try lock.take())
        #expect {
            try one.verify()
        } throws: { error in
            if case .io(_, let reason) = error as? QueueError { reason.contains("sends") } else { false }
        }
        sender.sends = true
        #expect {
            try sender.insert(sample())
        } throws: { error in
            if case .corrupt(_, setAsideAs: _?) = error as? QueueError { true } else { false }
        }
        #expect(try StoreFiles.identity(self.bench.path) != before)
        let id = try one.insert(sample(1000)).id
        #expect(try sender.record(id) != nil)
        #expect(self.bench.salvages.count == 1)
    }

    @Test func whatElseIsKnownIsSavedToo() throws {
        _ = try self.fill(self.bench)
        let store = try self.bench.open()
        let long = try store.insert(sample { $0.body = Data(repeating: 3, count: 100_000) }).id
        let lane = try (0..<3).map { number in try store.insert(sample(number) { $0.orderingKey = "lane" }).id }
        try store.transaction(durable: true) { $0.status.isPaused = true }
        try store.run(lane[0], .dead(reason: "refused"), status: 400)
        let lostBody = UUID().uuidString.lowercased()
        try Data([1]).write(to: URL(filePath: store.bodies.path(lostBody)))
        try self.bench.settle()
        store.close()
        try self.overwriteLeaf(3)
        let again = try self.bench.open()
        again.sends = true
        try self.repair(again)
        let salvage = try #require(self.bench.salvages.first)
        #expect(try again.read { $0.status.isPaused })
        #expect(try lane.map { try again.record($0)?.state } == [.held, .blocked, .blocked])
        let record = try #require(try again.record(long))
        #expect(try Data(contentsOf: URL(filePath: record.request.bodyFile ?? "")).count == 100_000)
        #expect(FileManager.default.fileExists(atPath: "\(salvage.setAsideAs ?? "")-bodies/\(lostBody)"))
    }

    /// The header of the file has nothing that is not known.
    @Test(arguments: [0, 16, 18, 19, 28, 31, 47, 56, 60, 61, 62, 63, 68, 71, -1], [true, false])
    func aDamagedHeaderHidesNothing(place: Int, hasLock: Bool) throws {
        let isMarked = 0..<68 ~= place
        if !isMarked, !hasLock { return }
        let original = try self.fill(self.bench, 300)
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        if place < 0 {
            try self.overwrite([UInt8](repeating: 0xFF, count: 100), at: 0, self.bench)
        } else {
            // With another bit in its last byte the version of the tables is one that may come.
            try self.overwrite([file[place] ^ (place == 63 ? UInt8(StoreSchema.version) : 0x40)], at: place, self.bench)
        }
        // A copy of the file alone has none.
        if !hasLock { try FileManager.default.removeItem(atPath: "\(self.bench.path)-lock") }
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        #expect(try Set(store.all().map(\.id)) == Set(original.keys), "byte \(place)")
        #expect(try store.all().allSatisfy { $0.waiting != .damaged })
        let names = try FileManager.default.contentsOfDirectory(atPath: self.bench.folder.path)
        #expect(!names.contains { $0.contains("mended") })
    }

    @Test func withoutTheLastPageFewAreLost() throws {
        let original = try self.fill(self.bench, 300)
        let file = try Data(contentsOf: URL(filePath: self.bench.path))
        try file.dropLast(Self.pageSize).write(to: URL(filePath: self.bench.path))
        _ = try FileLock("\(self.bench.path)-lock")
        let store = try self.bench.open()
        store.sends = true
        try self.repair(store)
        let saved = try store.all().map(\.id)
        #expect(saved.count >= original.count - 20, "\(saved.count) of \(original.count)")
        #expect(Set(saved).isSubset(of: original.keys))
    }

    /// An index that has lost everything hides what is ready from the one that looks for it there.
    @Test func whatWaitsAtALostGateIsFound() throws {
        let store = try self.bench.open()
        store.sends = true
        let ids = try (0..<3).map { try store.insert(sample($0)).id }
        try store.transaction(durable: true) { transaction in
            try transaction.execute("UPDATE request SET gate = '' WHERE sequence = 2")
            try transaction.execute("UPDATE request SET gate = 'no gate' WHERE sequence = 3")
        }
        try store.transaction(durable: true) { transaction in
            _ = try transaction.cancel(ids[0])
            try transaction.execute("UPDATE request SET gate = ''")
        }
        #expect {
            try store.transaction(durable: true) { transaction in
                if try transaction.gates().isEmpty { try transaction.checkGates() }
            }
        } throws: { error in
            if case .corrupt(_, setAsideAs: _?) = error as? QueueError { true } else { false }
        }
        #expect(try store.readyIDs() == [ids[1], ids[2]])
    }

    @Test(arguments: [0, 1, 2])
    func aRepairThatWasKilledIsFinished(instant: Int) throws {
        let store = try self.bench.open()
        let id = try store.insert(sample(1)).id
        store.close()
        try self.bench.settle()
        // The new file is not complete; it is; the damaged one has its other name already.
        if instant == 0 {
            try Data("half".utf8).write(to: URL(filePath: "\(self.bench.path)-salvaging"))
            try self.overwrite([UInt8](repeating: 0xA5, count: Self.pageSize), at: Self.pageSize, self.bench)
        } else {
            try FileManager.default.moveItem(atPath: self.bench.path, toPath: "\(self.bench.path)-salvaged")
            if instant == 1 { try Data("damaged".utf8).write(to: URL(filePath: self.bench.path)) }
            #expect { try QueueReader(existing: self.bench.path) } throws: {
                "\($0)".contains("repair was interrupted")
            }
        }
        try Data("a copy".utf8).write(to: URL(filePath: "\(self.bench.path)-mended"))
        // Of a request that is lost.
        let body = UUID().text
        try StoreFiles.createFolder(StorePaths(self.bench.path).bodies)
        try Data("body".utf8).write(to: URL(filePath: "\(StorePaths(self.bench.path).bodies)/\(body)"))
        let again = try self.bench.open()
        again.sends = true
        try self.repair(again)
        #expect(try again.all().map(\.id) == [id])
        let names = try FileManager.default.contentsOfDirectory(atPath: self.bench.folder.path)
        #expect(!names.contains { $0.contains("salvag") || $0.contains("mended") })
        #expect(names.contains { $0.contains("corrupt") && !$0.hasSuffix("-bodies") } == (instant < 2))
        guard case .salvaged(recovered: 1, lost: _, setAsideAs: let aside)? = self.bench.salvages.first else {
            Issue.record("\(self.bench.salvages)")
            return
        }
        try again.removeOrphanedBodies()
        #expect(FileAccess.exists("\(aside)-bodies/\(body)"))
    }

    @Test func aDiskThatDamagesEverythingIsNotFilled() throws {
        let store = try self.bench.open()
        store.sends = true
        for round in 1...4 {
            try self.bench.settle()
            // The store notices that its file is another one, and opens that.
            var file = try Data(contentsOf: URL(filePath: self.bench.path))
            file.replaceSubrange(Self.pageSize..., with: Data(repeating: 0xEE, count: file.count - Self.pageSize))
            for suffix in ["-wal", "-shm", ""] { try? FileManager.default.removeItem(atPath: self.bench.path + suffix) }
            try file.write(to: URL(filePath: self.bench.path))
            #expect {
                try store.verify()
            } throws: { error in
                guard case .corrupt(_, setAsideAs: let aside) = error as? QueueError else { return false }
                return (aside == nil) == (round == 4)
            }
            #expect(self.bench.salvages.count { $0.recovered != nil } == min(round, 3))
        }
    }
}

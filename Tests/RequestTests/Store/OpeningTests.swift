// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathSystem
import NetPathTestKit
import Testing

@testable import OfflineRequests

@Suite struct OpeningTests {
    private let bench: StoreBench

    init() throws { self.bench = try StoreBench() }

    /// Changes bytes of the file.
    private func patch(_ bytes: [UInt8], at place: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: self.bench.path))
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    private func makeQueue() throws {
        let store = try self.bench.open()
        try store.insert(sample())
        store.close()
    }

    @Test func filesAreForTheirUserAlone() throws {
        let store = try self.bench.open()
        try store.insert(sample { $0.body = Data(repeating: 7, count: 100_000) })
        let manager = FileManager.default
        func mode(_ path: String) throws -> Int? {
            try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        for suffix in ["", "-wal", "-shm", "-lock"] {
            #expect(try mode(self.bench.path + suffix) == 0o600, "\(suffix)")
        }
        #expect(try mode(store.bodies.folder) == 0o700)
        for name in try manager.contentsOfDirectory(atPath: store.bodies.folder) {
            #expect(try mode(store.bodies.path(name)) == 0o600)
        }
        // A copy that somebody made, for example.
        store.close()
        try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: self.bench.path)
        let again = try self.bench.open()
        try again.insert(sample())
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(self.bench.path + suffix) == 0o600, "\(suffix)") }
    }

    @Test func whatOneForgetsDoesNotMisleadAnother() throws {
        let one = try self.bench.open()
        let other = try self.bench.open()
        try other.insert(sample(0))
        _ = try one.transaction(durable: true) { try $0.reset() }
        let id = try other.insert(sample(1)).id
        #expect(try one.readyIDs() == [id])
        #expect(self.bench.salvages.isEmpty)
    }

    @Test func foldersAreMade() throws {
        let path = self.bench.folder["some/where/queue.sqlite"]
        let store = try RequestStore(path: path)
        try store.insert(sample())
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func aFolderIsNoQueue() throws {
        #expect(throws: QueueError.isDirectory(path: self.bench.folder.path)) {
            try RequestStore(path: self.bench.folder.path)
        }
    }

    @Test func aDeviceIsNoQueue() {
        #expect(throws: QueueError.self) { try RequestStore(path: "/dev/null") }
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-wal"))
    }

    /// Also where the lock of a queue is there that is gone.
    @Test(arguments: ["x", "Dear diary,\n", String(repeating: "a line of text\n", count: 10_000)], [false, true])
    func somebodyElsesTextStaysAsItIs(_ text: String, hasLock: Bool) throws {
        if hasLock { try StoreFiles.create("\(self.bench.path)-lock") }
        try Data(text.utf8).write(to: URL(filePath: self.bench.path))
        #expect(throws: QueueError.notAQueue(path: self.bench.path)) { try self.bench.open() }
        #expect(try String(contentsOfFile: self.bench.path, encoding: .utf8) == text)
        let names = try FileManager.default.contentsOfDirectory(atPath: self.bench.folder.path)
        #expect(!names.contains { $0.contains("corrupt") || $0.contains("salvag") })
    }

    @Test(arguments: [1, 2] as [UInt8])
    func somebodyElsesDatabaseStaysAsItIs(journal: UInt8) throws {
        try self.makeQueue()
        // 2 stands for WAL, which a file that has it not must not be switched to.
        try self.patch([journal, journal], at: 18)
        // No version, and the application id of somebody else.
        try self.patch([0, 0, 0, 0], at: 60)
        try self.patch([1, 2, 3, 4], at: 68)
        let before = try Data(contentsOf: URL(filePath: self.bench.path))
        #expect(throws: QueueError.notAQueue(path: self.bench.path)) { try self.bench.open() }
        #expect(try Data(contentsOf: URL(filePath: self.bench.path)) == before)
    }

    @Test(arguments: [1, 2] as [UInt8])
    func aNewerSchemaIsLeftAlone(journal: UInt8) throws {
        try self.makeQueue()
        try self.patch([journal, journal], at: 18)
        try self.patch([0, 0, 0, 99], at: 60)
        let before = try Data(contentsOf: URL(filePath: self.bench.path))
        #expect(throws: QueueError.newerSchema(path: self.bench.path, version: 99)) { try self.bench.open() }
        #expect(try Data(contentsOf: URL(filePath: self.bench.path)) == before)
        #expect(self.bench.salvages.isEmpty)
    }

    @Test func anEmptyFileBecomesAQueue() throws {
        #expect(FileManager.default.createFile(atPath: self.bench.path, contents: nil))
        try self.makeQueue()
    }

    /// Leaves a rollback journal, as a process does that is killed in the middle of a change; one that only reads must not take
    /// that back.
    private func leaveJournal(pagesBefore: Int) throws {
        func number(_ value: Int) -> [UInt8] { [0, 0, UInt8(value >> 8), UInt8(value & 255)] }
        // https://sqlite.org/fileformat.html, 3: no pages in it, a nonce, sectors of 512 bytes.
        var header: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7] + number(0) + number(7)
        header += number(pagesBefore) + number(512) + number(StoreSchema.pageSize)
        header += [UInt8](repeating: 0, count: 512 - header.count)
        try StoreFiles.create("\(self.bench.path)-journal")
        try Data(header).write(to: URL(filePath: "\(self.bench.path)-journal"))
        _ = unsafe chmod("\(self.bench.path)-journal", 0o600)
    }

    /// What is there after SQLite has switched a new file to WAL.
    private func leavePage() throws {
        try DatabaseQueue(path: self.bench.path).inDatabase { db in
            try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
            try db.execute(sql: "PRAGMA journal_mode = WAL")
        }
        _ = unsafe chmod(self.bench.path, 0o600)
    }

    private func isThere(_ suffix: String) -> Bool { FileAccess.exists(self.bench.path + suffix) }

    /// What a process leaves that dies before it has written, between its pages, and, after a loss of power, without the first.
    @Test(arguments: [0, 3, -1])
    func aQueueWhoseMakerDiedIsMade(pages: Int) throws {
        try StoreFiles.create("\(self.bench.path)-lock")
        if pages > 0 {
            try self.makeQueue()
            try self.bench.settle()
            for suffix in ["-wal", "-shm", "-reserve"] { StoreFiles.remove(self.bench.path + suffix) }
            // Without WAL, and not all of it.
            try self.patch([1, 1], at: 18)
            let file = try FileHandle(forWritingTo: URL(filePath: self.bench.path))
            try file.truncate(atOffset: UInt64(pages * StoreSchema.pageSize))
        } else {
            try StoreFiles.create(self.bench.path)
            if pages < 0 { try self.patch([1], at: UInt64(2 * StoreSchema.pageSize - 1)) }
        }
        try self.leaveJournal(pagesBefore: 0)
        let store = try self.bench.open()
        #expect(try store.counts.pending == 0)
        #expect(!self.isThere("-journal"))
        try store.insert(sample())
        store.close()
        #expect(self.bench.salvages.isEmpty)
        #expect(try QueueReader(existing: self.bench.path).counts().pending == 1)
    }

    /// The room for the ends of requests that an earlier file of that name had.
    @Test func whatWasReservedForAFileThatIsGoneIsNoDamage() throws {
        try StoreFiles.create("\(self.bench.path)-reserve")
        try Data("reserved".utf8).write(to: URL(filePath: "\(self.bench.path)-reserve"))
        _ = unsafe chmod("\(self.bench.path)-reserve", 0o600)
        try self.makeQueue()
        #expect(self.bench.salvages.isEmpty)
    }

    /// Another program has the empty file open, and writes its first tables.
    @Test func anEmptyFileInWhichAnotherProgramWritesStaysItsOwn() throws {
        try StoreFiles.create(self.bench.path)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: self.bench.path, configuration: configuration)
        try other.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE; CREATE TABLE diary(line); INSERT INTO diary VALUES ('dear diary')")
        }
        #expect { try self.bench.open() } throws: { "\($0)".contains("held the queue locked for too long") }
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        #expect(throws: QueueError.notAQueue(path: self.bench.path)) { try self.bench.open() }
        #expect(try other.read { try String.fetchOne($0, sql: "SELECT line FROM diary") } == "dear diary")
    }

    /// Its journal takes back what another program changes now, in a queue that has no WAL; the kernel shows no lock of it.
    @Test func aJournalThatAnotherProgramWritesStays() throws {
        try self.makeQueue()
        try self.bench.settle()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: self.bench.path, configuration: configuration)
        try other.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE; UPDATE request SET attempts = 7")
        }
        for _ in 0..<2 {
            #expect { try self.bench.open() } throws: { "\($0)".contains("held the queue locked for too long") }
            #expect(self.isThere("-journal"))
        }
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        try other.close()
        #expect(try self.bench.open().all().map(\.attempts) == [7])
    }

    /// Another process may have made its own under the names that are free again.
    @Test func aProcessWhoseLockIsRemovedMakesNoFile() throws {
        let lock = try FileLock("\(self.bench.path)-lock")
        try FileManager.default.removeItem(atPath: "\(self.bench.path)-lock")
        for _ in 0..<2 {
            #expect(throws: QueueError.removed(path: "\(self.bench.path)-lock")) { try lock.takeAlone(within: .zero) }
            try StoreFiles.create("\(self.bench.path)-lock")
        }
    }

    /// Also where it has no tables yet, and a queue was there before.
    @Test(arguments: [nil, 0, 1], [false, true])
    func aDatabaseThatAnotherProgramMakesStaysAsItIs(pagesBefore: Int?, hasLock: Bool) throws {
        try self.leavePage()
        if let pagesBefore { try self.leaveJournal(pagesBefore: pagesBefore) }
        if hasLock { try StoreFiles.create("\(self.bench.path)-lock") }
        let names = ["", "-journal"].filter { self.isThere($0) }
        let before = try names.map { try Data(contentsOf: URL(filePath: self.bench.path + $0)) }
        let reason = pagesBefore == nil ? "not a queue" : "interrupted"
        for _ in 0..<2 {
            #expect { try self.bench.open() } throws: { "\($0)".contains(reason) }
            #expect { try QueueReader(existing: self.bench.path) } throws: { "\($0)".contains(reason) }
        }
        #expect(try names.map { try Data(contentsOf: URL(filePath: self.bench.path + $0)) } == before)
        #expect(self.isThere("-lock") == hasLock)
    }

    /// As where a copy without WAL was opened by a process that was killed; and with a journal that says nothing.
    @Test(arguments: [false, true], [false, true])
    func aQueueWhoseChangeWasInterruptedIsOpened(isEmpty: Bool, hasLock: Bool) throws {
        try self.makeQueue()
        try self.bench.settle()
        let pages = try Data(contentsOf: URL(filePath: self.bench.path)).count / StoreSchema.pageSize
        if isEmpty {
            try StoreFiles.create("\(self.bench.path)-journal")
        } else {
            try self.leaveJournal(pagesBefore: pages)
            #expect { try QueueReader(existing: self.bench.path) } throws: { "\($0)".contains("interrupted") }
        }
        if !hasLock { StoreFiles.remove("\(self.bench.path)-lock") }
        let store = try self.bench.open()
        #expect(try store.counts.pending == 1)
        #expect(!self.isThere("-journal"))
        #expect(self.bench.salvages.isEmpty)
    }

    /// Leaves what a repair has made that was interrupted before it took the place of the damaged file.
    private func leaveReplacement(of request: RetryableRequest) throws {
        let other = try StoreBench()
        let store = try other.open()
        try store.insert(request)
        store.close()
        try other.settle()
        try FileManager.default.copyItem(atPath: other.path, toPath: "\(self.bench.path)-salvaged")
    }

    /// What a process wrote into the old file would go with it.
    @Test func aRepairThatWasInterruptedIsFinishedByAProcessThatHasTheFileOpen() throws {
        let store = try self.bench.open()
        try store.insert(sample(1))
        try self.leaveReplacement(of: sample(2))
        #expect { try store.all() } throws: { "\($0)".contains("its repair was interrupted") }
        let id = try store.insert(sample(3)).id
        #expect(try store.all().map(\.id).contains(id))
        #expect(try store.all().count == 2)
        #expect(self.bench.salvages.map(\.recovered) == [1])
        store.close()
        #expect(try self.bench.open().all().count == 2)
    }

    /// Also where the lock was not copied.
    @Test func aRepairThatWasInterruptedIsFinishedWithoutALock() throws {
        try self.makeQueue()
        try self.leaveReplacement(of: sample(2))
        StoreFiles.remove("\(self.bench.path)-lock")
        #expect(try self.bench.open().counts.pending == 1)
        #expect(self.bench.salvages.map(\.recovered) == [1])
    }

    @Test(arguments: ["", "CREATE TABLE request(id, bodyFile)"])
    func aReplacementThatIsNoQueueReplacesNothing(tables: String) throws {
        try self.makeQueue()
        let path = "\(self.bench.path)-salvaged"
        try StoreFiles.create(path)
        try DatabaseQueue(path: path).inDatabase { try $0.execute(sql: tables) }
        #expect(throws: QueueError.notAQueue(path: path)) { try self.bench.open() }
        try FileManager.default.removeItem(atPath: path)
        #expect(try self.bench.open().counts.pending == 1)
    }

    /// One that others could have put there takes the place of nothing.
    @Test func aReplacementThatIsNotTrustedReplacesNothing() throws {
        try self.makeQueue()
        let path = "\(self.bench.path)-salvaged"
        try Data("evil".utf8).write(to: URL(filePath: path))
        try FileManager.default.linkItem(atPath: path, toPath: "\(path)-too")
        #expect { try self.bench.open() } throws: { "\($0)".contains("hard links") }
        try FileManager.default.removeItem(atPath: path)
        #expect(try self.bench.open().counts.pending == 1)
    }

    @Test func aFileThatIsGoneIsMadeAnew() throws {
        let store = try self.bench.open()
        try store.insert(sample(1))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: self.bench.path + suffix) }
        let id = try store.insert(sample(2)).id
        #expect(try store.all().map(\.id) == [id])
        store.close()
        #expect(try self.bench.open().all().map(\.id) == [id])
    }

    @Test func aFileThatWasRemovedIsNotDamaged() throws {
        let store = try self.bench.open()
        try store.insert(sample(1))
        try FileManager.default.removeItem(atPath: self.bench.path)
        try store.insert(sample(2))
        guard case .failed(.io(self.bench.path, let reason))? = self.bench.salvages.first else {
            Issue.record("\(self.bench.salvages)")
            return
        }
        let journal = try #require(reason.split(separator: " kept as ").last)
        #expect(FileManager.default.fileExists(atPath: String(journal)))
        #expect(reason.contains("was removed"), "\(reason)")
    }

    @Test func aFileThatIsPutInThePlaceOfAnotherIsTold() throws {
        let store = try self.bench.open()
        try store.insert(sample(1))
        let other = try StoreBench()
        let new = try other.open()
        let id = try new.insert(sample(2)).id
        new.close()
        try other.settle()
        #expect(unsafe rename(other.path, self.bench.path) == 0)
        #expect(try store.transaction(durable: false) { try $0.records.counts.ready } == 1)
        #expect(try store.all().map(\.id) == [id])
        #expect(self.bench.salvages.count == 1)
        guard case .failed(.io(self.bench.path, let reason))? = self.bench.salvages.first else {
            Issue.record("\(self.bench.salvages)")
            return
        }
        #expect(reason.contains("another file replaced this one"), "\(reason)")
    }

    /// A process that repairs says it itself, and no other one does.
    @Test func aRepairElsewhereIsNoReplacement() throws {
        let other = try self.bench.open()
        let sender = try self.bench.open()
        try sender.insert(sample(1))
        sender.sends = true
        #expect(throws: QueueError.self) {
            try sender.transaction(durable: false) { _ in throw StoreDamage(message: "for a test") }
        }
        #expect(try other.transaction(durable: false) { try $0.records.counts.ready } == 1)
        #expect(self.bench.salvages.map(\.recovered) == [1])
    }

    /// Of a single byte, too, which SQLite takes for an empty database.
    @Test(arguments: [0, 1] as [UInt64])
    func aFileThatLostEverythingIsDamaged(_ size: UInt64) throws {
        try self.makeQueue()
        try FileHandle(forWritingTo: URL(filePath: self.bench.path)).truncate(atOffset: size)
        #expect(throws: QueueError.corrupt(path: self.bench.path, setAsideAs: nil)) {
            try QueueReader(file: self.bench.path)
        }
        let store = try self.bench.open()
        store.sends = true
        #expect(throws: QueueError.self) { try store.insert(sample(2)) }
        #expect(self.bench.salvages.map(\.recovered) == [0])
        let id = try store.insert(sample(2)).id
        #expect(try store.all().map(\.id) == [id])
    }

    /// Others write into the journal what this process does not see any more, and must not overwrite.
    @Test func aProcessWhoseSharedMemoryIsRemovedLeavesTheJournal() throws {
        var first: RequestStore? = try self.bench.open()
        let kept = try #require(try first?.insert(sample(1)).id)
        try FileManager.default.removeItem(atPath: "\(self.bench.path)-shm")
        // In a process of its own, which has no shared memory of this one's.
        let writer = Process()
        writer.executableURL = URL(filePath: try MonitorProcess.builtProduct("netpath-queue"))
        writer.arguments = ["send", "http://192.0.2.80/", "--queue", self.bench.path]
        writer.standardOutput = FileHandle.nullDevice
        try writer.run()
        writer.waitUntilExit()
        #expect(writer.terminationStatus == 0)
        #expect(throws: QueueError.removed(path: "\(self.bench.path)-shm")) { try first?.insert(sample(2)) }
        #expect(throws: QueueError.closed) { try first?.insert(sample(3)) }
        first?.close()
        first = nil
        let ids = try self.bench.open().all().map(\.id)
        #expect(ids.count == 2 && ids.contains(kept), "\(ids)")
        #expect(self.bench.salvages.isEmpty)
    }

    @Test(arguments: 1...2) func aFileOfAnEarlierVersionIsBroughtUpToDate(version: Int) throws {
        let first = try self.bench.open()
        let id = try first.insert(sample(1)).id
        first.close()
        let file = try DatabaseQueue(path: self.bench.path)
        try file.write { db in
            try db.execute(
                sql: """
                    DROP INDEX requestReady;
                    CREATE INDEX requestReady ON request (gate, retries, priority DESC) WHERE state = 'ready';
                    PRAGMA user_version = \(version)
                    """
            )
            guard version == 1 else { return }
            try db.execute(
                sql: """
                    DROP INDEX requestApart;
                    CREATE INDEX requestApart ON request (state) WHERE state IN ('running', 'held', 'dead', 'succeeded')
                    """
            )
        }
        try file.close()
        // Who only reads has to do with it as it is.
        var dead = 0
        try QueueReader(file: self.bench.path).forEach(in: [.dead]) { _ in
            dead += 1
            return true
        }
        #expect(dead == 0)
        let store = try self.bench.open()
        #expect(try store.transaction(durable: true) { try $0.resumeHeld() } == 0)
        #expect(try store.all([.dead]).isEmpty)
        #expect(try store.all().map(\.id) == [id])
        try store.check()
        #expect(self.bench.salvages.isEmpty)
    }

    @Test func aConnectionToAFileThatIsGoneKeepsItsSharedMemory() throws {
        let store = try self.bench.open()
        try store.insert(sample(1))
        let old = try DatabaseQueue(path: self.bench.path)
        let count = { try old.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM request") } }
        #expect(try count() == 1)
        // With an empty journal there is nothing to set aside.
        store.emptyJournal()
        let memory = "\(self.bench.path)-shm"
        let former = try #require(try StoreFiles.identity(memory))
        try FileManager.default.removeItem(atPath: self.bench.path)
        try store.insert(sample(2))
        // A read of memory that was cut would end the process.
        try #require(try StoreFiles.identity(memory) != former)
        #expect(try count() == 1)
        store.close()
    }

    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount"))
    func aReadOnlyPlaceIsNamed() throws {
        try self.makeQueue()
        let (bench, folder) = (self.bench, self.bench.folder.path)
        try PrivateMounts.run {
            try PrivateMounts.makeReadOnly(folder)
            #expect(throws: QueueError.readOnly(path: bench.path)) { try bench.open() }
        }
    }

    @Test func theFolderOfWhatCannotBeMadeIsNamed() throws {
        let folder = self.bench.folder.path
        #expect(StoreFiles.error(EACCES, "\(folder)/none") == .readOnly(path: folder))
        #expect(StoreFiles.error(EROFS, "\(folder)/none") == .readOnly(path: folder))
        try self.makeQueue()
        #expect(StoreFiles.error(EACCES, self.bench.path) == .readOnly(path: self.bench.path))
    }

    @Test func severalUseOneFile() throws {
        let stores = try (0..<3).map { _ in try self.bench.open() }
        let ids = try (0..<9).map { try stores[$0 % 3].insert(sample($0)).id }
        for store in stores { #expect(try store.all().map(\.id) == ids) }
    }
}

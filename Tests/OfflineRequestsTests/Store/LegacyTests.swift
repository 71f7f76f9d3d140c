// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP
import NetPathSystem
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// A file that the last version before these tables wrote: dead, held, three of a type, a lane, a body file, paused.
@Suite struct LegacyTests {
    private let lab: QueueLab
    private let old: String

    init() throws {
        self.lab = try QueueLab()
        self.old = self.lab.folder["old.sqlite"]
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/OfflineRequests/queue-1.sqlite")
        try Data(contentsOf: fixture).write(to: URL(filePath: self.old))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.old)
        let body = "9ed46e93-4cf6-4fbb-9ef0-0c6e1b57802c"
        try FileManager.default.createDirectory(atPath: "\(self.old)-bodies", withIntermediateDirectories: false)
        try Data(repeating: UInt8(ascii: "x"), count: 70_000).write(to: URL(filePath: "\(self.old)-bodies/\(body)"))
    }

    private func rest() throws -> [Row] {
        try DatabaseQueue(path: self.old).read { db in
            try Row.fetchAll(db, sql: "SELECT id, state FROM kept ORDER BY sequence")
        }
    }

    @Test func everythingComesOverOnceAndAsItWas() throws {
        let queue = try self.lab.open()
        #expect(try queue.importRequests(from: self.old) == 7)
        let records = try queue.core.store.all()
        #expect(records.map(\.state) == [.dead, .held, .ready, .ready, .blocked, .ready, .ready])
        #expect(try queue.isPaused)
        let one = records[2].request
        #expect(one.endpoint == "https://example.net/one")
        #expect(one.headers["Authorization"] == "Bearer secret-1")
        #expect(one.body == Data("a=1".utf8))
        #expect(one.idempotencyKey == one.id.uuidString.lowercased())
        #expect(records[0].lastError == "the server answered 400")
        #expect(records[0].attempts == 1)
        #expect(records[1].waiting == .unauthorized)
        #expect(records[4].request.priority == .high)
        #expect(records[4].request.expiresAt != nil)
        let plain = records[5].request
        #expect(plain.method == "DELETE" && plain.idempotencyKey == nil && plain.requires.unmeteredOnly)
        #expect(plain.timeouts.total == .seconds(90) && plain.expects.statuses == [204] && plain.ifExists == .replace)
        #expect(try Data(contentsOf: URL(filePath: records[6].request.bodyFile ?? "")).count == 70_000)
        #expect(FileAccess.names(in: "\(self.old)-bodies").isEmpty)

        // What is left there is an empty queue that is counted rightly.
        #expect(try self.rest().isEmpty)
        try DatabaseQueue(path: self.old).read { db in
            let ledger = try #require(try Row.fetchOne(db, sql: "SELECT * FROM queue"))
            for column in ["ready", "blocked", "backoff", "running", "held", "dead", "bytes", "finishedBytes"] {
                #expect(ledger[column] == 0, "\(column)")
            }
            #expect(ledger["sequence"] == 7)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM ended WHERE state = 'cancelled'") == 6)
        }
        #expect(try queue.importRequests(from: self.old) == 0)
        #expect(try queue.core.store.all().count == 7)
        try queue.core.store.verify()
    }

    @Test func anApplicationTakesItsOwnTypes() throws {
        let queue = try self.lab.open()
        #expect(try queue.importRequests(from: self.old, types: ["order"]) == 2)
        #expect(try queue.core.store.all().map(\.request.requestType) == ["order", "order"])
        // The second of the lane, whose first has left.
        let states = try self.rest().map { $0["state"] as Int }
        #expect(states == [5, 4, 0, 0, 0])
    }

    @Test func aCrashBetweenBothCommitsSendsNothingTwice() throws {
        let queue = try self.lab.open()
        let before = try Data(contentsOf: URL(filePath: self.old))
        let body = "\(self.old)-bodies/9ed46e93-4cf6-4fbb-9ef0-0c6e1b57802c"
        let bytes = try Data(contentsOf: URL(filePath: body))
        #expect(try queue.importRequests(from: self.old) == 7)
        let ids = try queue.core.store.all().map(\.id)
        // As after the commit of the new file, and one of them has been sent since.
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: self.old + suffix) }
        try before.write(to: URL(filePath: self.old))
        try bytes.write(to: URL(filePath: body))
        try queue.core.store.transaction(durable: true) { store in
            for id in ids { try store.execute("INSERT INTO imported VALUES (?)", [id]) }
            _ = try store.cancel(ids[2])
        }
        #expect(try queue.importRequests(from: self.old) == 7)
        #expect(try queue.core.store.all().map(\.id) == ids.filter { $0 != ids[2] })
        #expect(try self.rest().isEmpty)
    }

    @Test func whileAnOlderProgramSendsNothingIsTaken() throws {
        let queue = try self.lab.open()
        let sender = try SenderLock(path: "\(self.old)-sender")
        #expect(sender.take())
        #expect {
            try queue.importRequests(from: self.old)
        } throws: { error in
            if case .io(_, let reason) = error as? QueueError { reason.contains("older version sends") } else { false }
        }
        #expect(try self.rest().count == 7)
        #expect(throws: QueueError.missing(path: self.lab.folder["none"])) {
            try queue.importRequests(from: self.lab.folder["none"])
        }
        #expect(throws: QueueError.notAQueue(path: self.lab.file)) { try queue.importRequests(from: self.lab.file) }
    }

    @Test func opendByItsNameItSaysWhatToDo() throws {
        #expect(throws: QueueError.olderVersion(path: self.old)) { try RequestStore(path: self.old) }
        #expect(throws: QueueError.olderVersion(path: self.old)) { try StoreReader(existing: self.old) }
        #expect(try self.rest().count == 7)
    }
}

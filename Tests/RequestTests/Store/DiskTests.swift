// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathSystem
import NetPathTestKit
import Testing

@testable import OfflineRequests

@Suite struct DiskTests {
    /// A fault of the disk looks like this, which is not provoked here: the system does not say what is there.
    @Test func whatTheSystemDoesNotSayIsNotNothing() throws {
        let folder = try TemporaryDirectory()
        let loop = folder["loop"]
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(throws: QueueError.self) { try StoreFiles.size(loop) }
        #expect(throws: QueueError.self) { try StoreFiles.identity(loop) }
        #expect(try StoreFiles.size(folder["none"]) == 0)
        #expect(try StoreFiles.identity(folder["none"]) == nil)
    }

    private func size(_ path: String) throws -> Int { try StoreFiles.size(path) }

    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"))
    func aFullDiskIsNamedAndLosesNothing() throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 1 << 20)
            let store = try bench.open()
            var kept: [UUID] = []
            var refusals = 0
            for number in 0..<5000 where refusals < 3 {
                do {
                    kept.append(try store.insert(sample(number)).id)
                } catch QueueError.diskFull(path: bench.path, let missing?) {
                    #expect(missing > 0)
                    refusals += 1
                }
            }
            #expect(refusals == 3)
            #expect(kept.count > 10)
            #expect(try store.all().map(\.id) == kept)
            try store.verify()
            #expect(bench.salvages.isEmpty)
        }
    }

    /// With not one byte free, also after the file was closed, and opened anew.
    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"), arguments: [100, 60_000])
    func whatWasTakenEndsOnAFullDisk(_ size: Int) throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 6 << 20)
            let body = Data(repeating: 7, count: size)
            var store = try bench.open()
            var kept: [UUID] = []
            func enqueue() { while let id = try? store.insert(sample { $0.body = body }).id { kept.append(id) } }
            enqueue()
            #expect(kept.count > 10)
            let ballast = try Ballast(in: bench.folder)
            ballast.fill()
            let half = kept.count / 2
            for id in kept[..<half] {
                try store.makingRoom { try store.run(id, .retry(after: .zero, countsAttempt: true)) }
                try store.makingRoom { _ = try store.transaction(durable: false) { try $0.promoteDue() } }
                try store.makingRoom { try store.run(id, .succeeded) }
            }
            store.close()
            ballast.fill()
            store = try bench.open()
            for id in kept[half...] {
                try store.makingRoom { _ = try store.transaction(durable: true) { try $0.cancel(id) } }
            }
            #expect(try store.counts == QueueCounts())
            #expect(bench.salvages.isEmpty)
            #expect(throws: Never.self) { try store.verify() }
        }
    }

    /// Each attempt that fails is written down, and takes no room from the ends.
    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"))
    func failuresLeaveRoomForEnds() throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 12 << 20)
            let store = try bench.open()
            var kept: [UUID] = []
            while kept.count < 3000, let id = try? store.insert(sample(kept.count)).id { kept.append(id) }
            #expect(kept.count == 3000)
            // The least that is ever reserved.
            store.emptyJournal()
            try store.tidy()
            try Ballast(in: bench.folder).fill()
            let reason = String(repeating: "the server is busy, ", count: 10)
            let again = Disposition.retry(after: .zero, countsAttempt: true)
            for id in kept { try store.makingRoom { try store.run(id, again, status: 500, error: reason) } }
            // In small steps, as a full disk has it.
            while try store.counts.backoff > 0 {
                try store.makingRoom { _ = try store.transaction(durable: false) { try $0.promoteDue(limit: 16) } }
            }
            for id in kept { try store.makingRoom { try store.run(id, .succeeded) } }
            #expect(try store.counts == QueueCounts())
        }
    }

    /// A response is kept only where there is room for it besides, until the disk is full and then.
    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"), arguments: 0..<8)
    func keptResponsesLeaveRoomForEnds(_ eighth: Int) throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            // However far the journal has come, which SQLite copies back every 2 MiB, when the disk is full.
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 6 << 20 + eighth << 18)
            let store = try bench.open()
            let ids = try (0..<200).map { try store.insert(sample($0)).id }
            store.emptyJournal()
            try store.tidy()
            let response = TransportResponse(
                status: 200,
                headers: [:],
                body: [UInt8](repeating: 7, count: 100_000),
                isCut: false
            )
            var cut = 0
            for id in ids {
                try store.makingRoom {
                    try store.transaction(durable: false, inserting: response.body.count) { transaction in
                        #expect(try transaction.markRunning(id))
                        _ = try transaction.finish(id, .succeeded, status: 200, response: response)
                    }
                }
                if try store.all().first(where: { $0.id == id })?.response?.isCut == true { cut += 1 }
            }
            #expect(try store.counts.succeeded == ids.count)
            #expect(cut > 50 && cut < ids.count - 10, "\(cut) of \(ids.count) have no body")
        }
    }

    /// What is given up for the end of a request is not reserved again before that is written.
    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"))
    func whatIsReservedIsForTheNextEnd() throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 4 << 20)
            let store = try bench.open()
            let ids = try (0..<4).map { try store.insert(sample($0)).id }
            let ballast = try Ballast(in: bench.folder)
            ballast.fill()
            // As another process leaves it that was refused.
            store.emptyJournal()
            ballast.fill()
            func end(_ id: UUID) throws {
                try store.transaction(durable: true, inserting: nil) { _ = try $0.cancel(id) }
            }
            #expect(throws: QueueError.self) { try end(ids[0]) }
            store.makeRoom()
            try end(ids[0])
            #expect(try store.all().map(\.id) == Array(ids[1...]))
        }
    }

    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"))
    func whatTheSenderSaidBeforeIsGoneWhereThereIsNoRoomForMore() throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 64 << 10)
            let lock = try FileLock(QueueFile.senderLock(of: bench.path))
            let only = UUID()
            #expect(try lock.take(saying: SenderReport(only: only).bytes))
            #expect(SenderReport(ofQueue: bench.path)?.only == only)
            lock.write([UInt8](repeating: UInt8(ascii: " "), count: 128 << 10))
            #expect(try self.size(QueueFile.senderLock(of: bench.path)) == 0)
            #expect(SenderReport(ofQueue: bench.path)?.only == nil)
        }
    }

    @Test(.enabled(if: PrivateMounts.areAvailable, "needs root, to mount a small disk"))
    func aBodyThatDoesNotFitLeavesNothing() throws {
        let bench = try StoreBench()
        try PrivateMounts.run {
            try PrivateMounts.mountDisk(on: bench.folder.path, bytes: 1 << 20)
            let store = try bench.open()
            #expect {
                try store.insert(sample { $0.body = Data(repeating: 1, count: 2 << 20) })
            } throws: { error in
                if case .diskFull = error as? QueueError { true } else { false }
            }
            #expect(FileAccess.names(in: store.bodies.folder).isEmpty)
            #expect(try store.all().isEmpty)
            try store.insert(sample())
        }
    }

    @Test func theJournalStaysSmall() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        var largest = 0
        for number in 0..<3000 {
            let prepared = try store.prepare(sample(number))
            try store.transaction(durable: false) { _ = try $0.insert(prepared) }
            if number % 100 == 0 { largest = try max(largest, self.size("\(bench.path)-wal")) }
        }
        // SQLite copies it back every 1000 pages.
        #expect(largest < 6 << 20)
    }

    @Test func aFileThatIsMostlyEmptyShrinks() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        let body = Data(repeating: 7, count: 50_000)
        let prepared = try (0..<150).map { number in try store.prepare(sample(number) { $0.body = body }) }
        try store.transaction(durable: false) { transaction in for one in prepared { _ = try transaction.insert(one) } }
        try bench.settle()
        let full = try self.size(bench.path)
        #expect(full > 5 << 20)
        // A file that is in use stays as it is.
        try store.tidy()
        #expect(try self.size(bench.path) == full)
        try store.transaction(durable: false) { transaction in
            for one in prepared.dropFirst() { _ = try transaction.cancel(one.request.id) }
        }
        try store.tidy()
        #expect(try self.size(bench.path) < full / 10)
        #expect(try self.size("\(bench.path)-wal") == 0)
        #expect(try store.all().map(\.id) == [prepared[0].request.id])
    }

    @Test func deliveredSecretsAreGone() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        let id = try store.insert(sample { $0.headers["Authorization"] = "Bearer very-secret" }).id
        try store.run(id, .succeeded)
        try bench.settle()
        let file = try Data(contentsOf: URL(filePath: bench.path))
        #expect(file.firstRange(of: Data("very-secret".utf8)) == nil)
    }

    @Test func nothingRunsInTheBackground() throws {
        func threads() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
        let bench = try StoreBench()
        let store = try bench.open()
        // Other tests start threads at the same time: what the store starts would be there every time.
        let growth = try (0..<20).map { number in
            let before = try threads()
            try store.insert(sample(number))
            _ = try store.all()
            try store.tidy()
            return try threads() - before
        }
        #expect(growth.contains { $0 <= 0 })
    }
}

extension RequestStore {
    /// Changes the queue, with what is reserved where the disk is full.
    fileprivate func makingRoom(_ change: () throws -> Void) throws {
        do { try change() } catch QueueError.diskFull {
            self.makeRoom()
            try change()
        }
    }
}

/// A file that takes what is left of a disk, to the last byte.
private struct Ballast {
    private let file: FileHandle

    init(in folder: TemporaryDirectory) throws {
        try folder.write("ballast", "")
        self.file = try FileHandle(forWritingTo: URL(filePath: folder["ballast"]))
    }

    func fill() {
        for size in [4096, 1] { while (try? self.file.write(contentsOf: Data(repeating: 1, count: size))) != nil {} }
    }
}

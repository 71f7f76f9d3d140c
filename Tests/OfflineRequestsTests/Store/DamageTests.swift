// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// A file with 500 requests, damaged in every way: nothing crashes or hangs, the damaged file is set aside, no request
/// comes back changed, and every request comes back whose page was not touched.
@Suite struct DamageTests {
    /// What was there before the damage.
    struct Original: Sendable {
        var file: [UInt8]
        var requests: [UUID: RetryableRequest] = [:]
        var finished: Set<UUID> = []
        /// The requests that lie in one page, and where.
        var places: [UUID: Range<Int>] = [:]
    }

    private static let original = Result { try Self.makeOriginal() }

    private static func makeOriginal() throws -> Original {
        let bench = try StoreBench()
        let store = try bench.open()
        var random = SeededGenerator(seed: 1)
        let prepared = try (0..<500).map { number in
            try store.prepare(
                sample(number) { request in
                    request.endpoint = "https://host\(number % 40).example.net/\(number)"
                    request.priority = RequestPriority.allCases[number % 3]
                    request.orderingKey = number % 4 == 0 ? "lane \(number % 12)" : nil
                    request.uniqueKey = number % 7 == 0 ? "key \(number)" : nil
                    request.expiresAt = number % 5 == 0 ? bench.stamp.wall.addingTimeInterval(1e6) : nil
                    // Some do not fit into a page.
                    let length = number % 25 == 0 ? 20_000 : 200
                    request.body = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
                }
            )
        }
        try store.transaction(durable: true) { transaction in for one in prepared { _ = try transaction.insert(one) } }
        for id in try store.readyIDs().prefix(60) { try store.run(id, .dead, error: "given up") }
        for id in try store.readyIDs().prefix(60) {
            try store.run(id, .later(after: .seconds(60), countsAttempt: false))
        }
        try bench.settle()
        store.close()
        var original = Original(file: [UInt8](try Data(contentsOf: URL(filePath: bench.path))))
        for record in try bench.open().all() {
            original.requests[record.id] = record.request
            if record.state == .dead { original.finished.insert(record.id) }
        }
        let file = Data(original.file)
        for one in prepared where one.payload.count < 2000 {
            // In its own words, not in those of what salvages.
            guard let place = file.firstRange(of: one.payload) else { continue }
            original.places[one.request.id] = place
        }
        return original
    }

    /// Where pages of a kind begin.
    private static func pages(_ kind: Int, of file: [UInt8]) -> [Int] {
        let pages = stride(from: 0, to: file.count, by: DatabasePages.size)
        return switch kind {
        case 0: [0]
        case 1: pages.filter { file[$0] == 0x0D }
        case 2: pages.filter { file[$0] == 0x0A }
        case 3: pages.filter { file[$0] == 0x05 || file[$0] == 0x02 }
        case 4: pages.filter { ![0x0D, 0x0A, 0x05, 0x02].contains(file[$0]) }
        default: Array(pages)
        }
    }

    /// Opens a damaged file, and uses it as a queue is used.
    ///
    /// - Returns: What was in it.
    private func use(_ bench: StoreBench, _ original: Original) throws -> [RequestRecord] {
        let store = try bench.open()
        /// The first use that meets the damage fails, and has repaired it.
        func retrying<Value>(_ body: () throws -> Value) throws -> Value {
            do { return try body() } catch QueueError.corrupt(_, setAsideAs: let aside) {
                // What only reads repairs nothing.
                if aside == nil { do { try store.verify() } catch QueueError.corrupt(_, setAsideAs: _?) {} }
                return try body()
            }
        }
        _ = try retrying { try store.readyIDs() }
        let found = try retrying { try store.all() }
        try retrying { try store.verify() }
        let now = try store.all()
        #expect(Set(now.map(\.id)).count == now.count)

        // And it is a queue.
        let id = try retrying { try store.insert(sample()).id }
        #expect(try retrying { try store.run(id, .delivered())?.state } == .succeeded)
        #expect(try store.counts.total == now.count)
        try store.verify()
        return bench.salvages.isEmpty ? found : now
    }

    private func check(_ found: [RequestRecord], of original: Original, damaged: Range<Int>?, _ hint: String) {
        for record in found {
            var request = record.request
            // How often something was tried has no checksum.
            request.retryCount = 0
            #expect(request == original.requests[record.id], "\(hint)")
            #expect((record.state == .dead) == original.finished.contains(record.id), "\(hint)")
        }
        guard let damaged else { return }
        let pages = (damaged.lowerBound / DatabasePages.size)...((damaged.upperBound - 1) / DatabasePages.size)
        let expected = original.places.filter { !pages.contains($0.value.lowerBound / DatabasePages.size) }.map(\.key)
        let missing = Set(expected).subtracting(found.map(\.id))
        #expect(missing.isEmpty, "\(hint): \(missing.count) of \(expected.count) that were not touched are missing")
    }

    @Test(arguments: 0..<240)
    func randomOctets(seed: Int) throws {
        let original = try Self.original.get()
        var random = SeededGenerator(seed: UInt64(seed))
        let pages = Self.pages(seed % 6, of: original.file)
        let page = try #require(pages.randomElement(using: &random))
        // The heads of pages do the most harm.
        let offset = Int.random(in: 0..<(seed % 2 == 0 ? DatabasePages.size : 120), using: &random)
        let length = [1, 1, 4, 64, 1000, DatabasePages.size, 20_000].randomElement(using: &random) ?? 1
        let range = (page + offset)..<min(original.file.count, page + offset + length)
        var file = original.file
        let kind = Int.random(in: 0..<4, using: &random)
        for index in range {
            file[index] = [0, 0xFF, file[index] ^ 0x40, UInt8.random(in: 0...255, using: &random)][kind]
        }
        let bench = try StoreBench()
        try Data(file).write(to: URL(filePath: bench.path))
        let found = try self.use(bench, original)
        self.check(found, of: original, damaged: range, "seed \(seed), \(range)")
        for salvage in bench.salvages {
            // SQLite may have written to it before it met the damage, but the damage is there.
            let aside = [UInt8](try Data(contentsOf: URL(filePath: try #require(salvage.asideAs))))
            #expect(aside.count >= original.file.count, "seed \(seed)")
            // With the one that was added, where nothing before that met the damage.
            #expect(salvage.recovered + (salvage.lost ?? 0) <= 501, "seed \(seed)")
        }
    }

    @Test(arguments: [2, 100, 511, 512, 2047, 2048, 2049, 20_000, 40_960, 100_001])
    func anEndThatIsMissing(length: Int) throws {
        let original = try Self.original.get()
        let bench = try StoreBench()
        try Data(original.file[..<length]).write(to: URL(filePath: bench.path))
        do {
            let found = try self.use(bench, original)
            self.check(found, of: original, damaged: length..<original.file.count, "\(length) octets")
            #expect(bench.salvages.count == 1)
        } catch QueueError.notAQueue {
            // So short that nothing says any more what it was.
            #expect(length < DatabasePages.size)
            #expect(try Data(contentsOf: URL(filePath: bench.path)).count == length)
        }
    }

    @Test func theJournalIsReadToo() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        for number in 0..<100 { try store.insert(sample(number)) }
        try bench.settle()
        let ids = try (0..<60).map { try store.insert(sample($0)).id }
        // As it would be after the process was killed, and the disk lost everything that was not written lately.
        let copy = try StoreBench()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: bench.path + suffix, toPath: copy.path + suffix)
        }
        try Self.damage(copy.path)
        let again = try copy.open()
        _ = try? again.all()
        #expect(try again.all().map(\.id).suffix(60) == ids[...])
        let salvage = try #require(copy.salvages.first)
        #expect(salvage.recovered + (salvage.lost ?? 0) == 160)
        #expect(FileManager.default.fileExists(atPath: "\(salvage.asideAs ?? "")-wal"))
    }

    /// Damages everything but the first page; no connection of this process may have the file open.
    private static func damage(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        let length = try file.seekToEnd()
        try file.seek(toOffset: UInt64(DatabasePages.size))
        try file.write(contentsOf: Data(repeating: 0xEE, count: Int(length) - DatabasePages.size))
        try file.close()
    }

    @Test func whatElseIsKnownIsSavedToo() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        let long = try store.insert(sample { $0.body = Data(repeating: 3, count: 100_000) }).id
        let lane = try (0..<3).map { number in try store.insert(sample(number) { $0.orderingKey = "lane" }).id }
        try store.transaction(durable: true) { $0.isPaused = true }
        _ = try store.transaction(durable: true) { try $0.markRunning(long) }
        try store.run(lane[0], .dead, status: 400)
        try Data([1]).write(to: URL(filePath: store.bodies.path("of-a-request-that-was-lost")))
        store.close()
        let file = try FileHandle(forUpdating: URL(filePath: bench.path))
        try file.write(contentsOf: Data(repeating: 0xEE, count: 16))
        try file.close()

        let again = try bench.open()
        let salvage = try #require(bench.salvages.first)
        #expect(salvage.recovered == 4)
        #expect(try again.read { $1.isPaused })
        #expect(try again.all().map(\.id) == [long] + lane)
        #expect(try again.all().map(\.state) == [.ready, .held, .blocked, .blocked])
        let record = try #require(try again.record(long))
        #expect(record.isRepeat)
        #expect(try Data(contentsOf: URL(filePath: record.request.bodyFile ?? "")).count == 100_000)
        #expect(FileManager.default.fileExists(atPath: "\(salvage.asideAs ?? "")-bodies/of-a-request-that-was-lost"))
    }

    @Test func othersGoOnInTheNewFile() throws {
        let bench = try StoreBench()
        let other = try bench.open()
        do {
            let one = try bench.open()
            try one.insert(sample(1))
            try bench.settle()
            one.close()
        }
        // What another process does: this one still has the damaged file open.
        let before = StoreFiles.identity(bench.path)
        try Self.damage(bench.path)
        let third = try bench.open()
        #expect(bench.salvages.count == 1)
        #expect(StoreFiles.identity(bench.path) != before)
        let second = try other.insert(sample(2)).id
        #expect(try third.all().map(\.id) == [second])
        other.close()
        third.close()
        #expect(try bench.open().record(second) != nil)
    }

    @Test func anExchangeThatWasInterruptedIsFinished() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        let id = try store.insert(sample(1)).id
        store.close()
        // As it is after the new file got its name, and before anything else.
        try FileManager.default.moveItem(atPath: bench.path, toPath: "\(bench.path)-salvaged")
        try Data("damaged".utf8).write(to: URL(filePath: bench.path))
        try Data("damaged".utf8).write(to: URL(filePath: "\(bench.path)-wal"))
        #expect(try bench.open().all().map(\.id) == [id])
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(names.filter { $0.contains("corrupt") }.count == 2)
    }

    @Test func aDiskThatDamagesEverythingIsNotFilled() throws {
        let bench = try StoreBench()
        let store = try bench.open()
        for round in 1...4 {
            try bench.settle()
            // The store notices that its file is another one, and opens that.
            let file = try Data(contentsOf: URL(filePath: bench.path))
            var damaged = file
            damaged.replaceSubrange(
                DatabasePages.size...,
                with: Data(repeating: 0xEE, count: file.count - DatabasePages.size)
            )
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.path + suffix) }
            try FileManager.default.removeItem(atPath: bench.path)
            try damaged.write(to: URL(filePath: bench.path))
            #expect {
                try store.verify()
            } throws: { error in
                if case .corrupt(_, setAsideAs: let aside) = error as? QueueError {
                    (aside == nil) == (round == 4)
                } else {
                    false
                }
            }
            #expect(bench.salvages.count == min(round, 3))
        }
    }
}

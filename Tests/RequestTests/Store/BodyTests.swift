// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem
import NetPathTestKit
import Testing

@testable import OfflineRequests

@Suite struct BodyTests {
    private let bench: StoreBench
    private let store: RequestStore
    private let long = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws {
        self.bench = try StoreBench()
        self.store = try self.bench.open()
    }

    private func files() -> [String] { FileAccess.names(in: self.store.bodies.folder) }

    @Test func shortBodiesStayInTheDatabase() throws {
        let body = Data(repeating: 9, count: BodyFiles.threshold)
        let id = try self.store.insert(sample { $0.body = body }).id
        #expect(try self.store.record(id)?.request.body == body)
        #expect(self.files().isEmpty)
    }

    @Test func longBodiesGetAFile() throws {
        let id = try self.store.insert(sample { $0.body = self.long }).id
        let request = try #require(try self.store.record(id)?.request)
        #expect(request.body == nil)
        let file = try #require(request.bodyFile)
        #expect(try Data(contentsOf: URL(filePath: file)) == self.long)
        #expect(try self.store.counts.bytes > self.long.count)
        try self.store.run(id, .succeeded)
        #expect(self.files().isEmpty)
        #expect(try self.store.counts.bytes == 0)
    }

    @Test func aGivenFileIsCopied() throws {
        let source = self.bench.folder["source"]
        try self.long.write(to: URL(filePath: source))
        let id = try self.store.insert(
            sample {
                $0.body = nil
                $0.bodyFile = source
            }
        ).id
        try FileManager.default.removeItem(atPath: source)
        let copy = try #require(try self.store.record(id)?.request.bodyFile)
        #expect(try Data(contentsOf: URL(filePath: copy)) == self.long)
        // Given up it is still there; purged it is not.
        try self.store.run(id, .dead(reason: "refused"))
        #expect(self.files().count == 1)
        _ = try self.store.transaction(durable: true) { try $0.purge(.dead) }
        #expect(self.files().isEmpty)
    }

    @Test(arguments: ["/nowhere/at/all", "/dev/zero", "/tmp"])
    func whatCannotBeReadIsRefused(_ path: String) throws {
        #expect {
            try self.store.insert(
                sample {
                    $0.body = nil
                    $0.bodyFile = path
                }
            )
        } throws: { error in
            if case .bodyUnreadable(path: path, reason: _) = error as? QueueError { true } else { false }
        }
        #expect(self.files().isEmpty)
    }

    @Test func whatIsNotKeptLeavesNoFile() throws {
        do {
            let prepared = try self.store.prepare(sample { $0.body = self.long })
            #expect(self.files().count == 1)
            // While somebody is at it, it is no orphan.
            #expect(try self.store.removeOrphanedBodies() == 0)
            #expect(prepared.row.size > self.long.count)
        }
        #expect(self.files().isEmpty)
        struct Undo: Error {}
        do {
            let prepared = try self.store.prepare(sample { $0.body = self.long })
            #expect(throws: QueueError.self) {
                try self.store.transaction(durable: true) { transaction in
                    _ = try transaction.insert(prepared)
                    throw Undo()
                }
            }
        }
        #expect(self.files().isEmpty)
    }

    @Test func orphansGoAndOthersStay() throws {
        let id = try self.store.insert(sample { $0.body = self.long }).id
        let dead = try self.store.insert(sample { $0.body = self.long }).id
        try self.store.run(dead, .dead(reason: "refused"))
        try Data([1]).write(to: URL(filePath: self.store.bodies.path(UUID().uuidString.lowercased())))
        #expect(try self.store.removeOrphanedBodies() == 1)
        for id in [id, dead] {
            let file = try #require(try self.store.record(id)?.request.bodyFile)
            #expect(FileManager.default.fileExists(atPath: file))
        }
        _ = try self.store.transaction(durable: true) { try $0.reset() }
        #expect(self.files().isEmpty)
    }

    /// The owner of the folder may have put a link there, and the process may be one of root.
    @Test func whatALinkLeadsToIsLeftAlone() throws {
        let other = self.bench.folder["other"]
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        let files = ["shadow", UUID().uuidString.lowercased()].map { "\(other)/\($0)" }
        for file in files { try Data([1]).write(to: URL(filePath: file)) }
        try FileManager.default.createSymbolicLink(atPath: self.store.bodies.folder, withDestinationPath: other)
        #expect(try self.store.removeOrphanedBodies() == 0)
        #expect(throws: QueueError.self) { try self.store.insert(sample { $0.body = self.long }) }
        #expect(FileAccess.names(in: other).count == 2)
        try FileManager.default.removeItem(atPath: self.store.bodies.folder)
        try FileManager.default.createDirectory(atPath: self.store.bodies.folder, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(filePath: self.store.bodies.path("of-a-user")))
        try FileManager.default.createSymbolicLink(
            atPath: self.store.bodies.path(UUID().uuidString.lowercased()),
            withDestinationPath: files[0]
        )
        #expect(try self.store.removeOrphanedBodies() == 0)
        #expect(self.files().count == 2)
    }

    /// They could take a body away that was accepted.
    @Test func aFolderThatOthersCanWriteTakesNoBody() throws {
        let folder = self.store.bodies.folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(unsafe chmod(folder, 0o777) == 0)
        #expect { try self.store.insert(sample { $0.body = self.long }) } throws: { "\($0)".contains("chmod 700") }
        #expect(FileAccess.names(in: folder).isEmpty)
        #expect(unsafe chmod(folder, 0o700) == 0)
        try self.store.insert(sample { $0.body = self.long })
    }

    /// Root's bodies would become those of the user who owns the folder.
    @Test(.enabled(if: geteuid() == 0, "needs root, to give a folder to another user"))
    func theFolderOfAnotherUserTakesNoBody() throws {
        let folder = self.store.bodies.folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(unsafe chown(folder, 65_534, 65_534) == 0)
        #expect { try self.store.insert(sample { $0.body = self.long }) } throws: { "\($0)".contains("another user") }
        #expect(FileAccess.names(in: folder).isEmpty)
    }

    @Test func anOrphanIsLockedUntilItIsGone() throws {
        try FileManager.default.createDirectory(atPath: self.store.bodies.folder, withIntermediateDirectories: true)
        let left = UUID().uuidString.lowercased()
        try Data([1]).write(to: URL(filePath: self.store.bodies.path(left)))
        var others: [Int] = []
        let count = self.store.bodies.removeOrphans(
            isKnown: { _ in false },
            remove: { name in
                #expect(name == left)
                // Somebody else who looks at the same instant, or has just made the file.
                others.append(self.store.bodies.removeOrphans(isKnown: { _ in false }, remove: { _ in }))
            }
        )
        #expect(count == 1)
        #expect(others == [0])
    }

    @Test func noBodyIsTakenFromThoseWhoEnqueue() async throws {
        let (store, long) = (self.store, self.long)
        let other = try self.bench.open()
        try await withThrowingTaskGroup { group in
            group.addTask { for _ in 0..<2000 { try other.removeOrphanedBodies() } }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<50 {
                        let id = try store.insert(sample { $0.body = long }).id
                        let file = try #require(try store.record(id)?.request.bodyFile)
                        #expect(FileManager.default.fileExists(atPath: file))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

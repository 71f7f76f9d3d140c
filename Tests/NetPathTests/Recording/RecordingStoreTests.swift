// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// Where recordings are kept.
@Suite struct RecordingStoreTests {
    private let folder = ScratchFolder()

    private func size(_ path: String) -> Int { FileAccess.status(path).map { Int($0.st_size) } ?? -1 }

    @Test func neverMoreThanItMay() throws {
        let path = "\(self.folder.path)/recording"
        var store = RecordingStore(folder: path)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000) + [UInt8(ascii: "\n")]
        for _ in 0..<120 {
            try store.append(line)
            if store.isFull { try store.beginFile() }
            let sizes = RecordingStore.files(in: path).map(self.size)
            #expect(sizes.reduce(0, +) <= RecordingStore.folderLimit)
        }
        let files = RecordingStore.files(in: path)
        #expect(files.count > 4 && files.first?.hasSuffix("00000001.jsonl") == false)
        #expect(FileAccess.status(files[0]).map { $0.st_mode & 0o777 & ~0o640 } == 0)
        // One batch that is larger than a file makes room for itself.
        try store.append([UInt8](repeating: UInt8(ascii: "y"), count: 5 << 20))
        #expect(RecordingStore.files(in: path).map(self.size).reduce(0, +) <= RecordingStore.folderLimit)
        store.close()
        for name in FileAccess.names(in: path) { unsafe unlink("\(path)/\(name)") }
    }

    @Test func halfALineOfAKilledWriter() throws {
        let path = "\(self.folder.path)/killed"
        var store = RecordingStore(folder: path)
        try store.append(Array("{\"at\":1}\n{\"at\":2,\"hea".utf8))
        store.close()
        var next = RecordingStore(folder: path)
        try next.append(Array("{\"at\":3}\n".utf8))
        next.close()
        let text = try RecordingFiles.bytes(of: RecordingStore.files(in: path)[0])
        #expect(String(decoding: text, as: UTF8.self).split(separator: "\n").last == "{\"at\":3}")
    }

    private func expectRefusal(_ store: RecordingStore, sourceLocation: SourceLocation = #_sourceLocation) {
        var store = store
        #expect(throws: SystemError.self, sourceLocation: sourceLocation) { try store.append([1]) }
    }

    /// Two processes that write to one folder would mix their lines.
    @Test func onlyOneWritesToAFolder() throws {
        let path = "\(self.folder.path)/shared"
        var first = RecordingStore(folder: path)
        try first.append(Array("first\n".utf8))
        var second = RecordingStore(folder: path)
        let refusal = #expect(throws: SystemError.self) { try second.append(Array("second\n".utf8)) }
        #expect(refusal?.isHeldElsewhere == true)
        #expect(refusal?.action == "process \(getpid()) records in \(path) already")
        // Those who may read the recording cannot take the lock.
        #expect(FileAccess.status("\(path)/recording.lock").map { $0.st_mode & 0o777 } == 0o600)
        first.close()
        try second.append(Array("second\n".utf8))
        second.close()
        let text = try RecordingFiles.bytes(of: RecordingStore.files(in: path)[0])
        #expect(String(decoding: text, as: UTF8.self) == "first\n\nsecond\n")
    }

    /// After a downgrade: what a newer version wrote stays as it is, and a new file is begun.
    @Test func filesOfANewerVersionAreLeftAlone() throws {
        let path = "\(self.folder.path)/newer"
        #expect(unsafe mkdir(path, 0o700) == 0)
        let header = #"{"at":1,"wall":5,"header":{"recording":99,"netpath":"9","continues":false}}"#
        _ = self.folder.file("newer/00000003.jsonl", Array("\(header)\nwhat is unknown\n".utf8))
        #expect(throws: RecordingError.newer(99)) { try Recording(path).read { _ in true } }
        var store = RecordingStore(folder: path)
        try store.append(
            Array(#"{"at":2,"wall":6,"header":{"recording":1,"netpath":"1","continues":false}}"#.utf8) + [0x0A]
        )
        store.close()
        #expect(store.newerFile == "\(path)/00000003.jsonl")
        #expect(RecordingStore.files(in: path).count == 2)
        let kept = try RecordingFiles.bytes(of: "\(path)/00000003.jsonl")
        #expect(String(decoding: kept, as: UTF8.self) == "\(header)\nwhat is unknown\n")
        let recording = try Recording(path)
        var count = 0
        let damaged = try recording.read { _ in
            count += 1
            return true
        }
        #expect(recording.newerFiles == 1 && count == 1 && damaged == 0)
    }

    @Test(arguments: ["/dev/zero", "/dev/null"])
    func aDeviceAmongTheFilesIsNotRead(_ device: String) {
        #expect(unsafe symlink(device, "\(self.folder.path)/00000001.jsonl") == 0)
        #expect(throws: SystemError.self) { try Recording(self.folder.path).read { _ in true } }
    }

    @Test func whatIsNoRecordingIsNotOverwritten() throws {
        let notes = self.folder.file("notes", Array("precious\n".utf8))
        self.expectRefusal(RecordingStore(file: notes))
        #expect(try RecordingFiles.bytes(of: notes) == Array("precious\n".utf8))
        let recording = self.folder.file("recording", Array("{\"at\":1}\n".utf8))
        var store = RecordingStore(file: recording)
        try store.open()
        store.close()
        #expect(try RecordingFiles.bytes(of: recording).isEmpty)
    }

    @Test func whatIsNoPlaceForARecording() throws {
        let file = self.folder.file("file", [])
        self.expectRefusal(RecordingStore(folder: file))
        self.expectRefusal(RecordingStore(folder: "/proc/netpath"))
        self.expectRefusal(RecordingStore(file: "/proc/netpath/x"))
        // Not followed, not waited for.
        #expect(unsafe symlink(file, "\(self.folder.path)/link") == 0)
        self.expectRefusal(RecordingStore(file: "\(self.folder.path)/link"))
        #expect(unsafe mkfifo("\(self.folder.path)/pipe", 0o600) == 0)
        self.expectRefusal(RecordingStore(file: "\(self.folder.path)/pipe"))
        self.expectRefusal(RecordingStore(file: "/dev/null"))
        // A pipe has no beginning to come back to, and looked like a recording of nothing.
        let refusal = #expect(throws: SystemError.self) { try Recording("\(self.folder.path)/pipe") }
        #expect(refusal?.action.contains("neither a file nor a folder") == true)
    }
}

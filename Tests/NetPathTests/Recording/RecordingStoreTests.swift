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

    private func size(_ path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : -1
    }

    @Test func neverMoreThanItMay() throws {
        let path = "\(self.folder.path)/recording"
        var store = try RecordingStore(folder: path)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000) + [UInt8(ascii: "\n")]
        for _ in 0..<120 {
            try store.append(line)
            if store.isFull { try store.beginFile() }
            let sizes = RecordingStore.files(in: path).map(self.size)
            #expect(sizes.reduce(0, +) <= RecordingStore.folderLimit)
        }
        let files = RecordingStore.files(in: path)
        #expect(files.count > 4 && files.first?.hasSuffix("00000001.jsonl") == false)
        var status = stat()
        let isThere = unsafe stat(files[0], &status) == 0
        #expect(isThere && status.st_mode & 0o777 & ~0o640 == 0)
        // One batch that is larger than a file makes room for itself.
        try store.append([UInt8](repeating: UInt8(ascii: "y"), count: 5 << 20))
        #expect(RecordingStore.files(in: path).map(self.size).reduce(0, +) <= RecordingStore.folderLimit)
        store.close()
        for name in FileAccess.names(in: path) { unsafe unlink("\(path)/\(name)") }
    }

    @Test func halfALineOfAKilledWriter() throws {
        let path = "\(self.folder.path)/killed"
        var store = try RecordingStore(folder: path)
        try store.append(Array("{\"at\":1}\n{\"at\":2,\"hea".utf8))
        store.close()
        var next = try RecordingStore(folder: path)
        try next.append(Array("{\"at\":3}\n".utf8))
        next.close()
        let text = try RecordingFiles.bytes(of: RecordingStore.files(in: path)[0])
        #expect(String(decoding: text, as: UTF8.self).split(separator: "\n").last == "{\"at\":3}")
    }

    @Test func whatIsNoPlaceForARecording() throws {
        let file = self.folder.file("file", [])
        #expect(throws: SystemError.self) { try RecordingStore(folder: file) }
        #expect(throws: SystemError.self) { try RecordingStore(folder: "/proc/netpath") }
        #expect(throws: SystemError.self) { try RecordingStore(file: "/proc/netpath/x") }
        // Not followed, not waited for.
        #expect(unsafe symlink(file, "\(self.folder.path)/link") == 0)
        #expect(throws: SystemError.self) { try RecordingStore(file: "\(self.folder.path)/link") }
        #expect(unsafe mkfifo("\(self.folder.path)/pipe", 0o600) == 0)
        #expect(throws: SystemError.self) { try RecordingStore(file: "\(self.folder.path)/pipe") }
        #expect(throws: SystemError.self) { try RecordingStore(file: "/dev/null") }
    }
}

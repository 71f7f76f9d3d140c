// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// The lines of a recording that a history needs, in pages.
@Suite struct PathLinesTests {
    private let folder = ScratchFolder()

    /// A recording of some files, of which the last one ends within a line.
    private func recording() throws -> Recording {
        var walk = MachineWalk(seed: 7)
        var writer = RecordingWriter(RecordingHeader(netpath: "1", boot: "b", configuration: "private"))
        let path = "\(self.folder.path)/recording"
        var store = RecordingStore(folder: path)
        try store.append(writer.begin(walk.checkpoint, now: (walk.now, 1_700_000_000_000_000_000, 0)))
        for number in 1...4 {
            for _ in 0..<20 {
                let journal = walk.journal(of: 10)
                let lines = try writer.lines(
                    of: journal,
                    checkpoint: walk.checkpoint,
                    now: (walk.now, walk.now.nanoseconds + 1_699_999_000_000_000_000, 0)
                )
                try store.append(lines)
            }
            if number < 4 { try store.beginFile() }
        }
        try store.append(Array(#"{"at":5,"pa"#.utf8))
        store.close()
        return try Recording(path)
    }

    @Test(arguments: [1, 64, 4_096, 1 << 20])
    func pagesAreTheWhole(_ part: Int) throws {
        let recording = try self.recording()
        var expected: [RecordedEvent] = []
        try recording.read(.paths) { event in
            expected.append(event)
            return true
        }
        #expect(expected.count { if case .path = $0.kind { true } else { false } } > 20)
        var lines = try recording.pathLines(since: 0, withMessages: true, part: part)
        var bytes: [UInt8] = []
        while !lines.isAtEnd {
            let page = try lines.next()
            #expect(page.count < 32 << 10 || part > 4_096)
            #expect(page.isEmpty || page.last == UInt8(ascii: "\n"))
            bytes += page
        }
        var seen: [RecordedEvent] = []
        try Recording.read(bytes) { seen.append($0) }
        #expect(seen.map(\.wallNanoseconds) == expected.map(\.wallNanoseconds))
        #expect(seen.map(\.time) == expected.map(\.time))
        let path = { (event: RecordedEvent) -> RecordedPath? in
            if case .path(let path) = event.kind { path } else { nil }
        }
        #expect(seen.compactMap(path) == expected.compactMap(path))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("private"))
        let end = try lines.next()
        #expect(end.isEmpty)
    }

    /// A line that is too long is damage, for a history in pages and for one that is read at once, and what follows counts.
    @Test(arguments: [1 << 20, 32 << 20])
    func aLineThatIsTooLongIsDamage(_ part: Int) throws {
        let header = #"{"at":1,"wall":1700000000000000000,"header":{"recording":1,"netpath":"1","continues":false}}"#
        let long = #"{"at":2,"gap":""# + String(repeating: "x", count: RecordingReader.lineLimit + 9) + "\"}"
        let path = self.folder.file("long", Array("\(header)\n\(long)\n{\"at\":3,\"end\":true}\n".utf8))
        let recording = try Recording(path)
        var kinds: [String] = []
        let damaged = try recording.read(.paths) { event in
            kinds.append("\(event.kind)".prefix { $0.isLetter }.description)
            return true
        }
        #expect(damaged == 1 && kinds == ["header", "gap", "end"])
        var lines = try recording.pathLines(since: 0, withMessages: true, part: part)
        var bytes: [UInt8] = []
        while !lines.isAtEnd { bytes += try lines.next() }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("the recording is damaged") && text.contains("\"end\"") && bytes.count < 4_096)
    }

    @Test func aFileThatIsRemovedMeanwhileIsLeftOut() throws {
        let recording = try self.recording()
        var lines = try recording.pathLines(since: 0, withMessages: false)
        for name in FileAccess.names(in: "\(self.folder.path)/recording") {
            unsafe unlink("\(self.folder.path)/recording/\(name)")
        }
        while !lines.isAtEnd {
            let page = try lines.next()
            #expect(page.isEmpty)
        }
    }
}

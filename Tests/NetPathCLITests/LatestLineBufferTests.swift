// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPathCLI

@Suite struct LatestLineBufferTests {
    private static func render(_ value: Int, previous: () -> Int?, room: inout [UInt8]) -> Int {
        let line = Array("\(previous() ?? 0)-\(value)\n".utf8)
        room.replaceSubrange(..<min(line.count, room.count), with: line)
        return line.count
    }

    /// Writes as a pipe with room for so many bytes would take them.
    private func write(_ buffer: inout LatestLineBuffer<Int>, room: Int) -> String {
        var text: [UInt8] = []
        while buffer.isPending, text.count < room {
            let bytes = buffer.nextBytes(render: Self.render).prefix(room - text.count)
            text += bytes
            buffer.wrote(bytes.count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    @Test func withRoomEveryLineIsWritten() {
        var buffer = LatestLineBuffer<Int>()
        var text = ""
        for value in 1...3 {
            buffer.offer(value)
            text += self.write(&buffer, room: 100)
        }
        #expect(text == "0-1\n1-2\n2-3\n")
        #expect(!buffer.isPending)
        #expect(buffer.nextBytes { _, _, _ in 1 }.isEmpty)
    }

    @Test func aLineThatBeganIsFinishedAndThenTheNewestComes() {
        var buffer = LatestLineBuffer<Int>()
        buffer.offer(1)
        #expect(self.write(&buffer, room: 2) == "0-")
        for value in 2...1_000 { buffer.offer(value) }
        #expect(self.write(&buffer, room: 1) == "1")
        buffer.offer(1_001)
        // The line tells what it follows: 1, not one of those that nobody saw.
        #expect(self.write(&buffer, room: 100) == "\n1-1001\n")
        #expect(!buffer.isPending)
    }

    @Test func aValueWithoutALineLeavesNothingToWrite() {
        var buffer = LatestLineBuffer<Int>()
        buffer.offer(1)
        #expect(buffer.nextBytes { _, _, _ in 0 }.isEmpty)
        #expect(!buffer.isPending)
        buffer.offer(2)
        #expect(self.write(&buffer, room: 100) == "1-2\n")
    }

    @Test func aLineThatDidNotBeginIsReplaced() {
        var buffer = LatestLineBuffer<Int>()
        buffer.offer(1)
        #expect(String(decoding: buffer.nextBytes(render: Self.render), as: UTF8.self) == "0-1\n")
        buffer.wrote(0)
        buffer.offer(2)
        #expect(buffer.lastShown == nil)
        #expect(self.write(&buffer, room: 100) == "0-2\n")
        #expect(buffer.lastShown == 2)
    }

    /// Whatever the room, the output is whole lines in order, and ends with the newest.
    @Test(arguments: 1...9)
    func anyRoom(_ room: Int) {
        var buffer = LatestLineBuffer<Int>()
        var text = ""
        for value in 1...50 {
            buffer.offer(value)
            text += self.write(&buffer, room: room)
        }
        while buffer.isPending { text += self.write(&buffer, room: room) }
        let lines = text.split(separator: "\n")
        let numbers = lines.map { line in line.split(separator: "-").compactMap { Int($0) } }
        #expect(numbers.allSatisfy { $0.count == 2 })
        #expect(numbers.last?.last == 50)
        #expect(numbers.dropFirst().map(\.first) == numbers.dropLast().map(\.last))
        #expect(numbers.compactMap(\.last) == numbers.compactMap(\.last).sorted())
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Testing

/// Lines that arrive in pieces.
@Suite struct LineBufferTests {
    @Test func linesAreJoinedAndSplit() {
        var buffer = LineBuffer(limit: 10)
        buffer.append(Array("one\ntw".utf8))
        #expect(buffer.next() == .whole(Array("one".utf8)[...]))
        #expect(buffer.next() == nil)
        buffer.append(Array("o\n\n".utf8))
        #expect(buffer.next() == .whole(Array("two".utf8)[...]))
        #expect(buffer.next() == .whole([]))
        #expect(buffer.next() == nil)
        #expect(buffer.rest.isEmpty)
    }

    @Test func aLongLineIsToldOnceAndDropped() {
        var buffer = LineBuffer(limit: 4)
        buffer.append(Array("12345".utf8))
        #expect(buffer.next() == .tooLong(Array("12345".utf8)[...]))
        buffer.append(Array("67890".utf8))
        #expect(buffer.next() == nil)
        #expect(buffer.rest.isEmpty)
        buffer.append(Array("1\nab\n".utf8))
        #expect(buffer.next() == .whole(Array("ab".utf8)[...]))
        buffer.append(Array("123456\ncd\n".utf8))
        #expect(buffer.next() == .tooLong(Array("123456".utf8)[...]))
        #expect(buffer.next() == .whole(Array("cd".utf8)[...]))
    }

    /// However the bytes are cut, the lines are the same.
    @Test func piecesDoNotMatter() {
        let bytes = Array("a\nlonger than allowed\n\nlast".utf8)
        func lines(_ pieces: [ArraySlice<UInt8>]) -> [String?] {
            var buffer = LineBuffer(limit: 6)
            var lines: [String?] = []
            for piece in pieces {
                buffer.append(piece)
                while let line = buffer.next() {
                    if case .whole(let bytes) = line {
                        lines.append(String(decoding: bytes, as: UTF8.self))
                    } else {
                        lines.append(nil)
                    }
                }
            }
            return lines + [String(decoding: buffer.rest, as: UTF8.self)]
        }
        for cut in bytes.indices { #expect(lines([bytes[..<cut], bytes[cut...]]) == ["a", nil, "", "last"]) }
    }
}

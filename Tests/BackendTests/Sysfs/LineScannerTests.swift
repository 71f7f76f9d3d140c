// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPathSysfs

@Suite struct LineScannerTests {
    @Test func wordsOfALine() {
        let bytes = Array("a  b\tc\n\nlast".utf8)
        let text = bytes.span
        var scanner = LineScanner()
        var words: [[String]] = []
        while scanner.nextLine(in: text) {
            var line: [String] = []
            while true {
                let word = scanner.nextWord(in: text)
                if word.isEmpty { break }
                line.append(text.string(word))
            }
            words.append(line)
        }
        #expect(words == [["a", "b", "c"], [], ["last"]])
        #expect(scanner.isCut)
    }
}

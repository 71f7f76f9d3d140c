// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

/// A text, and the diagnostics it must lead to: the beginning of each description.
struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let expected: [String]

    init(_ name: String, _ text: String, _ expected: String...) {
        self.init(name, bytes: Array(text.utf8), expected)
    }

    init(_ name: String, bytes: [UInt8], _ expected: [String]) {
        self.name = name
        self.bytes = bytes
        self.expected = expected
    }

    var testDescription: String { name }
}

@Suite struct YAMLRefusalTests {
    static let refusals = [
        Refusal(
            "duplicate keys",
            "a: 1\nb: {c: 1, c: 2}\n\"a\": 3\n",
            "t:2:11: error: duplicate key 'c', first given at line 2, column 5",
            "t:3:1: error: duplicate key 'a', first given at line 1, column 1"
        ),
        Refusal("second document", "a: 1\n---\nb: 2\n", "t:2:1: error: a second document begins here"),
        Refusal(
            "second document without a marker",
            "a: 1\n...\nb: 2\n",
            "t:3:1: error: not valid YAML: the document has ended before this"
        ),
        Refusal("anchor", "a: &x [1]\nb: &y {}\n", "t:1:4: error: anchors and aliases are not supported"),
        Refusal("alias", "a: 1\nb: *x\n", "t:2:4: error: anchors and aliases are not supported"),
        Refusal("alias as a key", "*x : 1\n", "t:1:1: error: anchors and aliases are not supported"),
        Refusal(
            "merge key",
            "b: &b {x: 1}\na:\n  <<: *b\n",
            "t:1:4: error: anchors and aliases",
            "t:3:3: error: merge keys (<<) are not supported"
        ),
        Refusal("tag", "a: !!int 5\n", "t:1:4: error: tags such as !!str are not supported"),
        Refusal("own tag", "a: !thing {b: 1}\n", "t:1:4: error: tags such as !!str are not supported"),
        Refusal("list as a key", "? [a, b]\n: 1\n", "t:1:3: error: a key must be a word, not a list or a mapping"),
        Refusal("mapping as a key", "{{a: 1}: 2}", "t:1:2: error: a key must be a word"),
        Refusal(
            "empty key",
            "?\n: 1\n\"\": 2\n",
            "t:1:2: error: a key must not be empty",
            "t:3:1: error: a key must not be empty"
        ),
        Refusal(
            "tab as indentation",
            "a:\n\tb: 1\n",
            "t:2:1: error: not valid YAML: found character that cannot start any token while scanning for the next "
                + "token; indent with spaces, not with tabs\n\tb: 1\n^"
        ),
        Refusal(
            "tab in a list",
            "a:\n  - b: 1\n\t- c: 1\n",
            "t:3:1: error: not valid YAML:"
        ),
        Refusal(
            "wrong indentation",
            "a:\n  - b\n c: 1\n",
            "t:3:2: error: not valid YAML: did not find expected key while parsing a block mapping "
                + "that begins at line 1, column 1\n c: 1\n ^"
        ),
        Refusal(
            "key in a list",
            "a:\n  - b\n  c: 1\n",
            "t:3:3: error: not valid YAML: did not find expected '-' indicator while parsing a block collection "
                + "that begins at line 2, column 3\n  c: 1\n  ^"
        ),
        Refusal(
            "open bracket",
            "a: [1, 2\nb: 3\n",
            "t:2:2: error: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence "
                + "that begins at line 1, column 4\nb: 3\n ^"
        ),
        Refusal("open quote", "a: \"b\n", "t:2:1: error: not valid YAML: found unexpected end of stream"),
        Refusal("colon in text", "a: b: c\n", "t:1:5: error: not valid YAML: mapping values are not allowed"),
        Refusal("control character", "a: 1\nb: \u{7}\n", "t:2:4: error: the control character U+0007 is not allowed"),
        Refusal(
            "escaped NUL",
            "a:\n  b: [\"/etc/x\\0y\"]\n",
            "t:2:7: error: must not hold a NUL (\\0)"
        ),
        Refusal("NUL", "a: 1\0\n", "t:1:5: error: the control character U+0000 is not allowed"),
        Refusal(
            "not UTF-8",
            bytes: Array("ok: \u{E9}\nb\u{E9}d: x".utf8) + [0xFF, 0x0A],
            ["t:2:7: error: the file is not UTF-8 text: invalid leading UTF-8 octet (byte 0xFF); save it as UTF-8"]
        ),
        Refusal(
            "Latin-1",
            bytes: Array("name: caf".utf8) + [0xE9, 0x0A],
            ["t:1:10: error: the file is not UTF-8 text:"]
        ),
        Refusal("cut short in a character", bytes: [0x61, 0xC3], ["t:1:2: error: the file is not UTF-8 text:"]),
        Refusal("UTF-16", bytes: [0xFF, 0xFE, 0x61, 0], ["t:1:1: error: the file is UTF-16 text; save it as UTF-8"]),
        Refusal(
            "several errors at once",
            "a: &x 1\na: 2\nb: !t 3\n",
            "t:1:4: error: anchors",
            "t:2:1: error: duplicate key 'a'",
            "t:3:4: error: tags"
        ),
    ]

    static func refusal(of bytes: [UInt8]) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try YAMLReader.read(ConfigurationSource(name: "t", bytes: bytes))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: refusals) func refuses(_ refusal: Refusal) throws {
        let error = try #require(Self.refusal(of: refusal.bytes), "accepted")
        let found = error.diagnostics.map(\.description)
        try #require(found.count == refusal.expected.count, "\(error)")
        for (found, expected) in zip(found, refusal.expected) {
            #expect(found.hasPrefix(expected), "found \(found)")
        }
    }

    @Test func duplicateKeysKnowTheirPath() throws {
        let error = try #require(Self.refusal(of: Array("backends:\n  - {}\n  - type: a\n    type: b\n".utf8)))
        #expect(error.diagnostics.map(\.path) == ["backends[1].type"])
    }

    @Test func billionLaughsIsOneError() throws {
        var text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
        for level in 1...30 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        let error = try #require(Self.refusal(of: Array(text.utf8)))
        #expect(error.diagnostics.count == 1)
        #expect(error.diagnostics.first?.position == SourcePosition(line: 1, column: 5))
    }
}

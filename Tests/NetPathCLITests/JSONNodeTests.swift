// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Testing

@testable import NetPathCLI

@Suite struct JSONNodeTests {
    @Test(
        arguments: [
            ("", #""""#),
            ("a\"b\\c/d", #""a\"b\\c/d""#),
            ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{1B}\u{1F}", #""\u0000\u001b\u001f""#),
            // C1 controls and bidirectional overrides act on terminals as well.
            ("\u{7F}\u{9B}\u{202E}\u{2028}", #""\u007f\u009b\u202e\u2028""#),
            // Beyond the basic plane an escape is a surrogate pair.
            ("\u{E0001}", #""\udb40\udc01""#),
            ("\r\n", #""\r\n""#),
            ("straße 網 😀", "\"straße 網 😀\""),
        ]
    )
    func strings(_ text: String, _ expected: String) {
        #expect(JSONNode.string(text).line == expected)
    }

    @Test func everyKind() {
        let value: JSONNode = [
            "z": .null, "a": .bool(true), "b": .bool(false), "n": .integer(Int64.min), "u": .integer(UInt64.max),
            "list": [.integer(1), [], .object([])], "key \"": .string("x"),
        ]
        #expect(
            value.line == #"{"z":null,"a":true,"b":false,"n":-9223372036854775808,"u":9223372036854775807,"#
                + #""list":[1,[],{}],"key \"":"x"}"#
        )
    }

    @Test func absentValues() {
        #expect(JSONNode.optional(nil as String?) == .null)
        #expect(JSONNode.optional(nil as UInt32?) == .null)
        #expect(JSONNode.optional(nil as Bool?) == .null)
        #expect(JSONNode.optional(7 as UInt32?) == .integer(7))
    }
}

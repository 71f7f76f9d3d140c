// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Testing

/// JSON that nobody vouches for.
struct JSONReaderTests {
    private func read(_ text: String) throws(JSONFault) -> JSONNode { try JSONReader.read(Array(text.utf8)[...]) }

    @Test func everyKindOfValueIsRead() throws {
        let node = try self.read(
            #" {"a":[null,true,false,-1,0,1.5,2e3,"\u00e4\n\ud83d\ude00/\/"],"b":{},"c":[]} "#
        )
        let list: [JSONNode] = [
            .null, .bool(true), .bool(false), .integer(-1), .integer(0), .number(1.5), .number(2000), .string("ä\n😀//"),
        ]
        #expect(node == .object(["a": .array(list), "b": .object([:]), "c": .array([])]))
    }

    @Test(arguments: [
        "", " ", "{", "[", "\"", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1,]", "[1 2]", "01", "1.", ".5", "-", "+1",
        "1e", "nul",
        "NaN", "'a'", "\"\\x\"", "\"\\u12g4\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\udc00x\"", "\"\t\"", "1 2",
        "{\"a\":1,\"a\":2}",
        "1e999", "{a:1}", "\u{FEFF}{}", "// comment\n1",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(throws: JSONFault.self) { try self.read(text) }
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: JSONFault.self) { try JSONReader.read([0x22, 0xFF, 0xFE, 0x22]) }
        #expect(throws: JSONFault.self) { try JSONReader.read([0x22, 0xC0, 0x80, 0x22]) }
    }

    @Test func hugeNumbersAreNoIntegers() throws {
        #expect(try self.read("9223372036854775807") == .integer(.max))
        #expect(try self.read("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(throws: JSONFault.self) { try self.read(String(repeating: "9", count: 100_000)) }
    }

    @Test func depthAndSizeHaveLimits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try self.read(nested(JSONReader.depthLimit + 1)) != .null)
        #expect(throws: JSONFault.self) { try self.read(nested(JSONReader.depthLimit + 2)) }
        #expect(throws: JSONFault.self) { try self.read(nested(100_000)) }
        let many = "[" + String(repeating: "0,", count: JSONReader.valueLimit) + "0]"
        #expect(throws: JSONFault.self) { try self.read(many) }
    }
}

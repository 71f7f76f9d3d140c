// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

@Suite struct YAMLReaderTests {
    /// Writes a tree with its positions, so that one string asserts all of it.
    static func outline(_ node: ConfigurationNode) -> String {
        let content =
            switch node.content {
            case .scalar(let text, let isQuoted): isQuoted ? "\"\(text)\"" : text
            case .sequence(let elements): "[\(elements.map(outline).joined(separator: " "))]"
            case .mapping(let entries):
                "{\(entries.map { "\(outline($0.key)):\(outline($0.value))" }.joined(separator: " "))}"
            }
        return "\(content)@\(node.position)"
    }

    static func outline(of text: String) throws -> String {
        outline(try YAMLReader.read(ConfigurationSource(name: "test.yaml", text: text)))
    }

    @Test func everyNodeKnowsItsPlace() throws {
        let text = """
            # comment
            backends:
              - type: netlink
                interval: "2s"
            list: [a, 'b']
            """
        #expect(
            try Self.outline(of: text) == """
                {backends@2:1:[{type@3:5:netlink@3:11 interval@4:5:"2s"@4:15}@3:5]@3:3 \
                list@5:1:[a@5:8 "b"@5:11]@5:7}@2:1
                """
        )
    }

    @Test(arguments: [
        ("", "{}@1:1"),
        ("\n# only a comment\n", "{}@1:1"),
        ("---\n...\n", "{}@1:1"),
        ("\u{FEFF}", "{}@1:1"),
        ("\u{FEFF}a: 1", "{a@1:1:1@1:4}@1:1"),
        ("a: 1\r\nb:\r\n  - c\r\n", "{a@1:1:1@1:4 b@2:1:[c@3:5]@3:3}@1:1"),
        ("a: 1\rb: 2", "{a@1:1:1@1:4 b@2:1:2@2:4}@1:1"),
        ("\u{E9}\u{1F600}: x", "{\u{E9}\u{1F600}@1:1:x@1:5}@1:1"),
        ("norway: no\nnothing: null\n", "{norway@1:1:no@1:9 nothing@2:1:null@2:10}@1:1"),
        ("%YAML 1.1\n--- {a: 1}", "{a@2:6:1@2:9}@2:5"),
        ("a: |\n  x\n  y\n", "{a@1:1:\"x\ny\n\"@1:4}@1:1"),
        ("a:", "{a@1:1:@1:3}@1:1"),
        ("just text", "just text@1:1"),
    ])
    func reads(text: String, outline: String) throws {
        #expect(try Self.outline(of: text) == outline)
    }

    @Test func readsJSON() throws {
        let text =
            "{\n\t\"backends\": [\n\t\t{\"type\": \"netlink\", \"a\\/b\": \"\\u00e9\"}\n\t],\n\t\"n\": 5, \"t\": true\n}\n"
        #expect(
            try Self.outline(of: text) == """
                {"backends"@2:2:[{"type"@3:4:"netlink"@3:12 "a/b"@3:23:"\u{E9}"@3:31}@3:3]@2:14 \
                "n"@5:2:5@5:7 "t"@5:10:true@5:15}@1:1
                """
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

enum Policy: String, CaseIterable, Sendable {
    case priority
    case unanimous
    case any
}

/// Reads a text as a section.
func section(of text: String) throws -> ConfigurationSection {
    let source = ConfigurationSource(name: "netpath.yaml", text: text)
    return ConfigurationSection(try YAMLReader.read(source), in: source)
}

/// What is wrong with a section, without the quoted lines.
func complaints(of section: ConfigurationSection) -> [String] {
    do throws(ConfigurationError) {
        try section.validate()
        return []
    } catch {
        return error.diagnostics.map { String($0.description.prefix { $0 != "\n" }) }
    }
}

@Suite struct SectionValuesTests {
    @Test(
        arguments: [
            ("500ms", .milliseconds(500)), ("2s", .seconds(2)), ("1.5s", .milliseconds(1_500)), ("5m", .seconds(300)),
            ("1h", .seconds(3_600)), ("0s", .zero), ("0", .zero), ("0.25h", .seconds(900)), ("\"2s\"", .seconds(2)),
            ("0.000001ms", .nanoseconds(1)),
        ] as [(String, Duration)]
    )
    func readsDuration(text: String, expected: Duration) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.duration("v", in: .zero ... .seconds(3_600)) == expected)
        #expect(complaints(of: section) == [])
    }

    @Test(arguments: [
        ("5 parsecs", "must be a duration such as 2s or 500ms, found '5 parsecs'"),
        ("5", "must have a unit (ms, s, m, h or d), found '5' (did you mean '5s'?)"),
        ("1.5", "must have a unit (ms, s, m, h or d), found '1.5' (did you mean '1.5s'?)"),
        ("2h", "must be a duration from 0s to 1h, found '2h'"),
        ("-1s", "must be a duration such as 2s or 500ms, found '-1s'"),
        ("1.s", "must be a duration such as 2s or 500ms, found '1.s'"),
        ("1.2.3s", "must be a duration such as 2s or 500ms, found '1.2.3s'"),
        ("1.0000001s", "must be a duration such as 2s or 500ms, found '1.0000001s'"),
        ("9999999999999999999h", "must be a duration such as 2s or 500ms, found '9999999999999999999h'"),
        ("9999999999999999h", "must be a duration such as 2s or 500ms, found '9999999999999999h'"),
        ("\u{661}s", "must be a duration such as 2s or 500ms, found '\u{661}s'"),
        ("s", "must be a duration such as 2s or 500ms, found 's'"),
        ("[2s]", "must be a duration such as 2s or 500ms, found a list"),
    ])
    func refusesDuration(text: String, complaint: String) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.duration("v", default: .seconds(7), in: .zero ... .seconds(3_600)) == .seconds(7))
        #expect(complaints(of: section) == ["netpath.yaml:1:4: error: 'v' \(complaint)"])
    }

    @Test(arguments: [("5", 5), ("-3", -3), ("0", 0), ("10", 10)])
    func readsInteger(text: String, expected: Int) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.integer("v", in: -3...10) == expected)
        #expect(complaints(of: section) == [])
    }

    @Test(arguments: [
        ("\"5\"", "the text \"5\""), ("010", "'010'"), ("+5", "'+5'"), ("0x5", "'0x5'"), ("1_0", "'1_0'"),
        ("5.0", "'5.0'"), ("11", "'11'"), ("-4", "'-4'"), ("99999999999999999999", "'99999999999999999999'"),
        ("true", "'true'"), ("{a: 1}", "a mapping"),
    ])
    func refusesInteger(text: String, found: String) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.integer("v", default: 7, in: -3...10) == 7)
        let complaint = "netpath.yaml:1:4: error: 'v' must be a whole number from -3 to 10, found \(found)"
        #expect(complaints(of: section) == [complaint])
    }

    @Test(arguments: [("true", true), ("false", false)])
    func readsBoolean(text: String, expected: Bool) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.boolean("v", default: !expected) == expected)
        #expect(complaints(of: section) == [])
    }

    @Test(arguments: [
        ("yes", "'yes'"), ("on", "'on'"), ("True", "'True'"), ("1", "'1'"), ("\"true\"", "the text \"true\""),
    ])
    func refusesBoolean(text: String, found: String) throws {
        let section = try section(of: "v: \(text)")
        #expect(section.boolean("v", default: true))
        #expect(
            complaints(of: section) == [
                "netpath.yaml:1:4: error: 'v' must be true or false\(text.hasPrefix("\"") ? ", without quotes" : ""), found \(found)"
            ]
        )
    }

    @Test func readsTextAndChoices() throws {
        let section = try section(
            of: "plain: 5\nquoted: \"\"\npolicy: \"any\"\nword: b\nlist: [x, \"null\", 3]\nnone: []"
        )
        #expect(section.string("plain") == "5")
        #expect(section.string("quoted", default: "x").isEmpty)
        #expect(section.string("absent") == nil)
        #expect(section.string("absent", default: "x") == "x")
        #expect(section.choice("policy", default: Policy.priority) == .any)
        #expect(section.choice("absent", default: Policy.unanimous) == .unanimous)
        #expect(section.choice("word", among: ["a", "b"]) == "b")
        #expect(section.strings("list") == ["x", "null", "3"])
        #expect(section.strings("none", default: ["d"]) == [])
        #expect(section.strings("absent", default: ["d"]) == ["d"])
        #expect(complaints(of: section) == [])
    }

    @Test func refusesTextAndChoices() throws {
        let section = try section(of: "text: [a]\npolicy: priorty\nother: zzz\nlist: a\nmixed: [a, [b], ~]\n")
        #expect(section.string("text", default: "d") == "d")
        #expect(section.choice("policy", default: Policy.any) == .any)
        #expect(section.choice("other", of: Policy.self) == nil)
        #expect(section.strings("list", default: ["d"]) == ["d"])
        #expect(section.strings("mixed", default: ["d"]) == ["d"])
        let allowed = "allowed: priority, unanimous, any"
        #expect(
            complaints(of: section) == [
                "netpath.yaml:1:7: error: 'text' must be text, found a list",
                "netpath.yaml:2:9: error: 'policy' must be one of the allowed words, found 'priorty' "
                    + "(did you mean 'priority'?); \(allowed)",
                "netpath.yaml:3:8: error: 'other' must be one of the allowed words, found 'zzz'; \(allowed)",
                "netpath.yaml:4:7: error: 'list' must be a list such as [a, b], found 'a'",
                "netpath.yaml:5:12: error: 'mixed[1]' must be text, found a list",
                "netpath.yaml:5:17: error: 'mixed[2]' must be text, found '~'",
            ]
        )
    }

    @Test(arguments: ["v:", "v: ~", "v: null", "v: # nothing"]) func noValueIsAnError(text: String) throws {
        let section = try section(of: text)
        #expect(section.string("v", default: "d") == "d")
        #expect(section.integer("v", default: 1, in: 0...5) == 1)
        #expect(section.section("v") == nil)
        #expect(
            complaints(of: section) == ["netpath.yaml:1:1: error: 'v' has no value; give it one or remove the key"]
        )
    }
}

/// Values without which there is nothing to do.
@Suite struct RequiredValuesTests {
    @Test(arguments: [
        ("path: /run/modem", "/run/modem", [String]()), ("path: 7", "7", []),
        ("other: x", "", ["netpath.yaml:1:1: error: 'path' is missing"]),
        ("path: ''", "", ["netpath.yaml:1:7: error: 'path' must not be empty, found the text \"\""]),
        ("path:", "", ["netpath.yaml:1:1: error: 'path' has no value; give it one or remove the key"]),
        ("path: [a]", "", ["netpath.yaml:1:7: error: 'path' must be text, found a list"]),
    ])
    func readsText(text: String, expected: String, complaint: [String]) throws {
        let section = try section(of: text)
        _ = section.string("other")
        #expect(section.requiredString("path") == expected)
        #expect(complaints(of: section) == complaint)
    }

    @Test(arguments: [
        ("urls: [a, b]", ["a", "b"], [String]()), ("other: x", [], ["netpath.yaml:1:1: error: 'urls' is missing"]),
        ("urls: []", [], ["netpath.yaml:1:7: error: 'urls' must not be empty, found a list"]),
        ("urls: [a, '']", [], ["netpath.yaml:1:7: error: 'urls' must contain no empty text, found a list"]),
        ("urls: a", [], ["netpath.yaml:1:7: error: 'urls' must be a list such as [a, b], found 'a'"]),
    ])
    func readsTexts(text: String, expected: [String], complaint: [String]) throws {
        let section = try section(of: text)
        _ = section.string("other")
        #expect(section.requiredStrings("urls") == expected)
        #expect(complaints(of: section) == complaint)
    }
}

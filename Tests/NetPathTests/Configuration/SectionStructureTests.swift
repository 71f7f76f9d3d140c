// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

@Suite struct SectionStructureTests {
    @Test func diagnosticsLookLikeACompilers() throws {
        let section = try section(of: "# c\nbackends:\n  - type: netlink\n    interval: 5 parsecs\n")
        let backend = try #require(section.sections("backends").first)
        _ = backend.string("type")
        _ = backend.duration("interval", in: .zero ... .seconds(60))
        let error = #expect(throws: ConfigurationError.self) { try section.validate() }
        #expect(
            error?.description == """
                netpath.yaml:4:15: error: 'backends[0].interval' must be a duration such as 2s or 500ms, \
                found '5 parsecs'
                    interval: 5 parsecs
                              ^
                """
        )
        let diagnostic = try #require(error?.diagnostics.first)
        #expect(diagnostic.path == "backends[0].interval")
        #expect(diagnostic.position == SourcePosition(line: 4, column: 15))
        #expect(diagnostic.found == "'5 parsecs'")
    }

    @Test func unknownKeysAreNamedEverywhere() throws {
        let section = try section(
            of: "backend: []\nbackends:\n  - type: a\n    intervall: 2s\nmerge: {polcy: any}\nxyz: 1\n"
        )
        for backend in section.sections("backends") {
            _ = backend.string("type")
            _ = backend.duration("interval", in: .zero ... .seconds(60))
        }
        _ = section.section("merge")?.choice("policy", of: Policy.self)
        #expect(
            complaints(of: section) == [
                "netpath.yaml:1:1: error: unknown key 'backend' (did you mean 'backends'?); allowed: backends, merge",
                "netpath.yaml:4:5: error: unknown key 'intervall' in 'backends[0]' (did you mean 'interval'?); "
                    + "allowed: type, interval",
                "netpath.yaml:5:9: error: unknown key 'polcy' in 'merge' (did you mean 'policy'?); allowed: policy",
                "netpath.yaml:6:1: error: unknown key 'xyz'; allowed: backends, merge",
            ]
        )
    }

    @Test func allErrorsComeOnceAndInTheOrderOfTheFile() throws {
        let section = try section(of: "a: x\nb: y\nc: z\n")
        _ = section.integer("b", in: 0...1)
        _ = section.boolean("a")
        _ = section.integer("b", in: 0...1)
        section.finish()
        section.finish()
        let found = complaints(of: section)
        #expect(found.count == 3)
        #expect(found.map { $0.prefix(17) } == ["netpath.yaml:1:4:", "netpath.yaml:2:4:", "netpath.yaml:3:1:"])
    }

    @Test func nestedSectionsAreTheSameEachTime() throws {
        let section = try section(of: "m: {a: 1}\nl: [{b: 1}]\n")
        #expect(section.section("m") === section.section("m"))
        #expect(section.sections("l").first === section.sections("l").first)
        _ = section.section("m")?.integer("a", in: 0...1)
        _ = section.sections("l").first?.integer("b", in: 0...1)
        #expect(complaints(of: section) == [])
    }

    @Test func wrongStructureIsNamed() throws {
        let section = try section(of: "m: 1\nl: {a: 1}\nmixed: [{}, 2, []]\n")
        #expect(section.section("m") == nil)
        #expect(section.section("absent") == nil)
        #expect(section.sections("l").isEmpty)
        #expect(section.sections("mixed").map(\.path) == ["mixed[0]"])
        #expect(
            complaints(of: section) == [
                "netpath.yaml:1:4: error: 'm' must be a mapping of keys and values, found '1'",
                "netpath.yaml:2:4: error: 'l' must be a list of mappings, found a mapping",
                "netpath.yaml:3:13: error: 'mixed[1]' must be a mapping of keys and values, found '2'",
                "netpath.yaml:3:16: error: 'mixed[2]' must be a mapping of keys and values, found a list",
            ]
        )
    }

    /// What is wrong with a value that may stand there is not its form.
    @Test func warningsNameSingleValuesAndNoForms() throws {
        let section = try section(of: "l: [a]\nn: 1\n")
        section.warn("l", "is doubtful")
        section.warn("n", "is doubtful")
        #expect(
            section.warnings.map { $0.description.prefix { $0 != "\n" } } == [
                "netpath.yaml:1:4: warning: 'l' is doubtful", "netpath.yaml:2:4: warning: 'n' is doubtful, found '1'",
            ]
        )
    }

    @Test(arguments: [("[a]", "a list"), ("text", "'text'")]) func theFileMustBeAMapping(
        text: String,
        found: String
    ) throws {
        let complaint =
            "netpath.yaml:1:1: error: the file must consist of keys and values such as 'backends:', found \(found)"
        #expect(complaints(of: try section(of: text)) == [complaint])
    }

    @Test func factoriesCanRejectAndRequire() throws {
        let section = try section(of: "b:\n  - hosts: [a, b]\n")
        let entry = try #require(section.sections("b").first)
        entry.reject("hosts", at: 1, "is not host:port")
        entry.reject("hosts", "are too many")
        entry.reject("absent", "is needed here", allowed: ["x", "y"])
        entry.require("type")
        entry.require("hosts")
        #expect(entry.contains("hosts") && !entry.contains("type"))
        #expect(
            complaints(of: section) == [
                "netpath.yaml:2:5: error: 'b[0].absent' is needed here; allowed: x, y",
                "netpath.yaml:2:5: error: 'b[0].type' is missing",
                "netpath.yaml:2:12: error: 'b[0].hosts' are too many, found a list",
                "netpath.yaml:2:16: error: 'b[0].hosts[1]' is not host:port, found 'b'",
            ]
        )
    }

    @Test func theEmptySectionHasDefaultsOnly() throws {
        let section = ConfigurationSection.empty
        #expect(section.string("a", default: "d") == "d")
        #expect(section.sections("b").isEmpty)
        try section.validate()
        section.require("type")
        #expect(complaints(of: section) == ["(no file): error: 'type' is missing"])
    }

    @Test func quotedTextCannotActOnATerminal() throws {
        let section = try section(of: "a: \"\\e[31m\\u202e\"\nb: \u{202E}x\n")
        _ = section.boolean("a")
        _ = section.boolean("b")
        let error = #expect(throws: ConfigurationError.self) { try section.validate() }
        let text = try #require(error?.description)
        #expect(text.contains("found the text \"\\u{1B}[31m\\u{202E}\""))
        #expect(!text.unicodeScalars.contains("\u{1B}") && !text.unicodeScalars.contains("\u{202E}"))
    }

    @Test func longLinesAreCutAroundTheCaret() throws {
        let section = try section(of: "{a: [\(String(repeating: "1, ", count: 5_000))], b: x, c: 2}")
        _ = section.strings("a")
        _ = section.boolean("b")
        _ = section.string("c")
        let error = #expect(throws: ConfigurationError.self) { try section.validate() }
        let lines = try #require(error?.description).split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[1].count < 130 && lines[2].count < 130)
        #expect(Array(lines[1])[lines[2].count - 1] == "x")
    }

    @Test func theCaretFollowsTabs() throws {
        let section = try section(of: "{\n\t\"a\":\t5\n}")
        _ = section.boolean("a")
        let error = #expect(throws: ConfigurationError.self) { try section.validate() }
        #expect(error?.description.hasSuffix("\n\t\"a\":\t5\n\t    \t^") == true)
    }
}

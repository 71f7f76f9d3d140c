// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

@Suite struct YAMLRobustnessTests {
    static let valid = Array(
        """
        # A file with a bit of everything.
        backends:
          - type: netlink
          - type: tcpProbe
            targets: ["203.0.113.7:443", '[2001:db8::7]:443', ex\u{E4}mple.net:443]
            interval: 1.5s   # comment
            text: |
              block
        merge: {policy: priority, "probes": advisory}
        empty:

        """.utf8
    )

    /// Reads a text to the end, sections included, and renders every error: nothing of it may trap.
    ///
    /// - Returns: Whether the text was accepted.
    static func readCompletely(_ bytes: [UInt8]) -> Bool {
        let source = ConfigurationSource(name: "t", bytes: bytes)
        do throws(ConfigurationError) {
            let section = ConfigurationSection(try YAMLReader.read(source), in: source)
            for backend in section.sections("backends") {
                _ = backend.string("type")
                _ = backend.strings("targets")
                _ = backend.duration("interval", in: .zero ... .seconds(10))
                _ = backend.string("text")
            }
            _ = section.section("merge")?.choice("policy", among: ["priority"])
            _ = section.section("merge")?.choice("probes", among: ["advisory"])
            try section.validate()
            return true
        } catch {
            #expect(!error.diagnostics.isEmpty && !error.description.isEmpty)
            for diagnostic in error.diagnostics {
                guard let position = diagnostic.position else { continue }
                #expect(position.line >= 1 && position.column >= 1)
            }
            return false
        }
    }

    @Test func everyPrefixIsReadOrRefused() {
        for length in 0...Self.valid.count {
            _ = Self.readCompletely(Array(Self.valid.prefix(length)))
        }
        let accepted = Self.readCompletely(Array(Self.valid.dropLast("empty:\n".utf8.count)))
        #expect(accepted)
        #expect(!Self.readCompletely(Self.valid))
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func randomMutationsAreReadOrRefused(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let syntax = Array("\t\n\r :-?[]{}&*!|>'\"%@`#,.~<0".utf8)
        for _ in 0..<400 {
            var bytes = Self.valid
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                let isSyntax = Bool.random(using: &generator)
                let byte =
                    isSyntax
                    ? syntax[Int.random(in: syntax.indices, using: &generator)]
                    : UInt8.random(in: 0...255, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = byte
                case 1: bytes.insert(byte, at: index)
                default: bytes.remove(at: index)
                }
            }
            _ = Self.readCompletely(bytes)
        }
    }

    @Test(arguments: ["[", "{a: ", "- ", "? ", "[{a: "]) func hostileNestingIsRefused(opening: String) throws {
        let text = Array(String(repeating: opening, count: 100_000).utf8)
        let error = try #require(YAMLRefusalTests.refusal(of: text))
        #expect(error.diagnostics.map(\.message) == ["lists and mappings are nested more than 32 deep"])
    }

    @Test func nestingToTheLimitIsAccepted() {
        let text = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(YAMLRefusalTests.refusal(of: Array(text.utf8)) == nil)
        #expect(YAMLRefusalTests.refusal(of: Array("[\(text)]".utf8)) != nil)
    }

    @Test func valuesAreCounted() throws {
        let enough = "a: [\(String(repeating: "1,", count: 49_000))]"
        #expect(YAMLRefusalTests.refusal(of: Array(enough.utf8)) == nil)
        let tooMany = "a: [\(String(repeating: "1,", count: 50_000))]"
        let error = try #require(YAMLRefusalTests.refusal(of: Array(tooMany.utf8)))
        #expect(error.diagnostics.map(\.message) == ["the file holds more than 50000 values"])
    }

    @Test func errorsAreLimited() throws {
        let text = (0..<5_000).map { _ in "key: 1\n" }.joined()
        let error = try #require(YAMLRefusalTests.refusal(of: Array(text.utf8)))
        #expect(error.diagnostics.count == 100)
        #expect(error.omittedCount == 4_899)
        #expect(error.description.hasSuffix("\nand 4899 more errors"))
    }
}

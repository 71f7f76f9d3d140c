// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What is printed in the documentation is true: programs compile, commands run, and nothing is left out.
@Suite struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardized

    /// Pages whose programs are compiled elsewhere: with the tests of the queue and of the test kit, by the command that
    /// writes them, and with the packages in Tests/Packages.
    private static let checkedElsewhere = ["OfflineRequests.docc", "WritingABackend.md", "History.md"]

    /// The pages, from the root of the repository.
    private static func pages() throws -> [String] {
        let folders = ["Sources", "Documentation"].map { self.root.appending(path: $0) }
        let below = folders.flatMap { folder -> [String] in
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            return files.filter { $0.hasSuffix(".md") }.map { "\(folder.lastPathComponent)/\($0)" }
        }
        return ["README.md", "CONTRIBUTING.md"] + below.sorted()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: self.root.appending(path: path), encoding: .utf8)
    }

    /// The blocks of a language on a page, without indentation.
    private static func blocks(_ language: String, of page: String) throws -> [[String]] {
        var blocks: [[String]] = []
        var lines = try self.text(page).components(separatedBy: "\n")[...]
        while let start = lines.firstIndex(of: "```\(language)") {
            let block = Array(lines[(start + 1)...].prefix { $0 != "```" })
            lines = lines[(start + 1 + block.count)...]
            blocks.append(block.map { $0.trimmingCharacters(in: .whitespaces) })
        }
        return blocks
    }

    /// Each line of the table of SECURITY.md names the tests that keep it true.
    @Test func everyLineOfTheThreatModelIsTested() throws {
        let files =
            FileManager.default.enumerator(atPath: Self.root.appending(path: "Tests").path)?
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") } ?? []
        var tests: [String: String] = [:]
        for file in files {
            let text = try Self.text("Tests/\(file)")
            for part in text.components(separatedBy: "struct ").dropFirst() {
                let name = part.prefix { $0.isLetter || $0.isNumber }
                tests[String(name), default: ""] += text
            }
        }
        let rows = try Self.text("SECURITY.md").components(separatedBy: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        for row in rows {
            let cells = row.components(separatedBy: "|")
            let names = cells[cells.count - 2].components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            #expect(!names.isEmpty, "\(row)")
            for (_, name) in names {
                let parts = name.components(separatedBy: ".")
                let suite = try #require(tests[parts[0]], "\(name)")
                #expect(parts.count == 1 || suite.contains("func \(parts[1])("), "\(name)")
            }
        }
        #expect(rows.count >= 14)
    }

    @Test func everyProgramCompiles() throws {
        let snippets = try ["Application", "Others", "Testing"].flatMap {
            try Self.text("Tests/ApplicationTests/Documentation/Snippets/\($0).swift").components(separatedBy: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }.joined(separator: "\n")
        var checked = 0
        for page in try Self.pages() where !Self.checkedElsewhere.contains(where: page.contains) {
            for block in try Self.blocks("swift", of: page) {
                let body = block.drop { $0.isEmpty || $0.hasPrefix("import ") || $0.hasPrefix("//") }
                // A manifest or a part of one, with which the packages in Tests/Packages are built.
                if body.first?.hasPrefix(".") == true || body.first == "let package = Package(" { continue }
                let text = body.joined(separator: "\n")
                #expect(snippets.components(separatedBy: text).count == 2, "\(page): \(text)")
                checked += 1
            }
        }
        #expect(checked >= 10)
    }

    @Test func theReadmeIsAPage() throws {
        #expect(try Self.text("README.md").utf8.count <= 8_192)
    }

    @Test func everyReasonHasItsParagraph() throws {
        let source = try Self.text("Sources/NetPath/Values/PathReason.swift")
        let codes = source.matches(of: #/Self\(rawValue: "(\w+)"\)/#).map { String($0.1) }
        #expect(codes.count >= 20)
        let page = try Self.text("Sources/NetPath/NetPath.docc/Troubleshooting.md").components(separatedBy: "\n")
        for code in codes { #expect(page.contains("### \(code)"), "\(code) is not explained") }
        let explained = page.filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        #expect(Set(explained) == Set(codes))
    }

    /// Links to files lead somewhere.
    @Test func everyFileIsThere() throws {
        for page in ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
            for match in try Self.text(page).matches(of: #/\]\(([^)#:]+)(#[^)]*)?\)/#) {
                let path = Self.root.appending(path: String(match.1)).path
                #expect(FileManager.default.fileExists(atPath: path), "\(page): \(match.1)")
            }
        }
    }

    /// The commands of the pages, in a network that has a path.
    @Test(
        .needsNamespaces,
        arguments: ["README.md", "Sources/OfflineRequests/OfflineRequests.docc/CommandLine.md"]
            + ["CommandLine", "Hooks", "Service", "Waiting", "StatusPage", "Metrics"].map {
                "Sources/NetPath/NetPath.docc/\($0).md"
            }
    )
    func everyCommandRuns(_ page: String) throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let program = try MonitorProcess.builtProduct("netpath")
        let folder = "\(lab.directory)/bin"
        let variables = """
            export PATH=\(folder):$PATH XDG_RUNTIME_DIR=\(lab.directory) XDG_STATE_HOME=\(lab.directory)/state \
            RUNTIME_DIRECTORY=\(lab.directory)/netpath STATE_DIRECTORY=\(lab.directory)/state/netpath \
            HOME=\(lab.directory)
            """
        // A service for those that ask one, and commands for those that call one.
        try lab.run(
            """
            mkdir -p \(folder) \(lab.directory)/state && cd \(folder)
            ln -s \(program) $(find $(dirname \(program)) -maxdepth 1 -name 'netpath-*' -type f -perm -1 ! -name '*.debug') .
            for command in on-change read_sensor; do printf '#!/bin/sh\n' >$command && chmod +x $command; done
            """
        )
        let service = try lab.start("sh", ["-c", "\(variables); exec netpath run"])
        defer { withExtendedLifetime(service) {} }
        try lab.run(
            "for i in $(seq 300); do [ -S \(lab.directory)/netpath/netpath.sock ] && break; sleep 0.1; done"
        )
        var ran = 0
        let lines = try Self.blocks("sh", of: page).joined().filter {
            $0.contains(#/^netpath|\$\(netpath|\| netpath|^curl/#)
        }
        for printed in lines {
            // Folders of the system, which a test leaves alone.
            let line = printed.replacing(#/\/(var\/lib\/node_exporter|run\/netpath-serve)\//#, with: "\(folder)/")
            let server = """
                netpath serve >/dev/null 2>&1 & trap "kill $!" EXIT
                until curl -sf http://127.0.0.1:6387/healthz >/dev/null; do sleep 0.1; done
                """
            let commands = line.hasPrefix("curl") ? "\(server)\n\(line)" : line
            let isEndless = line.contains(#/watch|wait|serve(?! --textfile)/#)
            let seconds = isEndless ? 5 : 60
            // 03:12 is a moment that nothing is recorded of, as exit status 69 says.
            let status = try lab.run(
                """
                cd \(folder); \(variables)
                status=0
                timeout \(seconds) bash -o pipefail -c \(Self.quoted(commands)) >output 2>&1 || status=$?
                echo $status; cat output >&2
                """
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            let statuses = ["0", isEndless ? "124" : "0", line.contains("--at") ? "69" : "0"]
            #expect(statuses.contains(status), "\(line): \(status)")
            ran += 1
        }
        #expect(ran >= 1)
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}

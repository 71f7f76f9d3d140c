// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathRecording
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import NetPathConfiguration

/// What a report holds, and what not.
@Suite struct ReportTests {
    @Test func sectionsCannotBeForged() {
        var report = Report(masking: nil)
        report.add("a", text: "x\n== recording ==\n{\"at\":1}\n")
        report.add("b") { _ in throw ToolFailure(.failure, "no way to 10.0.0.1") }
        report.add(RecordingReport.section) { _ in "{\"at\":2}\n" }
        let text = report.text(head: "h")
        #expect(text.hasPrefix("netpath report 1: h\n\n== a ==\nx\n == recording ==\n"))
        #expect(text.contains("== b ==\nnot available: no way to 10.0.0.1\n"))
        #expect(String(decoding: RecordingReport.recording(in: Array(text.utf8)), as: UTF8.self) == "{\"at\":2}\n")
        #expect(RecordingReport.recording(in: Array("netpath report 1\nx\n".utf8)).isEmpty)
        #expect(RecordingReport.recording(in: Array("{}\n".utf8)).count == 3)
    }

    // MARK: Secrets

    private static let secrets = [
        "hunter2secret", "corp-intra", "My Home Net", "001b638445dd", "001b.6384.45ee", "00:1b:63:84:45:ff",
        "wallboard", "10.77.9.9", "fd77:7777::9", "portal.acme-hotel.com", "carla",
    ]

    /// What each can stand in: what the kernel, files, plugins and people write.
    private static func places(_ secret: String) -> [(place: String, put: (inout Report) -> Void)] {
        let wrong = [
            "merge:\n  policy: \(secret)\n", "merge: [\(secret)]\n", "\(secret): 1\n",
            "backends:\n  - {type: \(secret)}\n",
            "hooks:\n  - {name: a, command: [/bin/true, \(secret)], timeout: x}\n", "grace: \"\(secret)\"\n",
            "grace: 1s\ngrace: 2s  # \(secret)\n", "serve: {allowedHosts: {\(secret): 1}}\n",
            "referenceDestinations: [\"\(secret)x\"]\n", "grace: &\(secret.filter(\.isLetter)) 1s\n",
        ]
        var places = wrong.map { text -> (String, (inout Report) -> Void) in
            (
                "an error in \(text)",
                { report in
                    report.add("configuration") { _ in
                        try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text)).effective.text
                    }
                }
            )
        }
        places.append(
            (
                "resolv.conf",
                { report in
                    guard let folder = try? TemporaryDirectory() else { return }
                    let name = secret.filter { $0 != " " }
                    try? folder.write(
                        "etc/resolv.conf",
                        "# by \(name)\n; \(name)\nsearch\t\(name) x ; \(name)\ndomain\t\(name)\nsearch \(name)\n"
                            + "SEARCH \(name)\nnameserver 192.0.2.1 # \(name)\noptions ndots:2 \(name)\n"
                    )
                    report.add("resolver") { KernelState(root: folder.path).resolver(&$0) }
                }
            )
        )
        places.append(
            (
                "a configuration",
                { report in
                    // What is no name of a host is an error there.
                    let isName = !secret.contains { ": ".contains($0) }
                    let text = """
                        serve: {allowedHosts: ["\(isName ? secret : "x")"]}
                        hooks: [{name: a, command: [/bin/true, "\(secret)"]}]
                        """
                    report.add("configuration") { masking in
                        let source = ConfigurationSource(name: "t", text: text)
                        let effective = try LoadedConfiguration.parse(source).effective.text
                        return masking?.maskConfiguration(effective) ?? effective
                    }
                }
            )
        )
        for sentence in [
            "associated with \"\(secret)\"", "joined '\(secret)' a minute ago", "ssid \(secret)", "ssid=\(secret)",
            "essid: \(secret)", "psk=\"\(secret)\"",
        ] {
            places.append(
                (
                    sentence,
                    { report in
                        report.add("explain") { $0?.maskProse(sentence) ?? sentence }
                        report.add("json") { masking in
                            let node = JSONNode.object(["reason": .object(["message": .string(sentence)])])
                            return (masking?.mask(node) ?? node).line
                        }
                    }
                )
            )
        }
        return places
    }

    /// Every kind of secret in every place where it can stand: none is in the report.
    @Test func noSecretIsInAReport() {
        for secret in Self.secrets {
            for (place, put) in Self.places(secret) {
                var report = Report(masking: Masking(users: ["carla"]))
                put(&report)
                let text = report.text(head: "h")
                #expect(!text.isEmpty && !text.contains(secret), "\(secret) of \(place) in \(text)")
                // Without a mask they are there, or this test would look at nothing.
                var open = Report(masking: nil)
                put(&open)
                let name = secret.split(separator: " ").joined()
                let whole = open.text(head: "h").filter { $0 != " " }
                #expect(whole.contains(name) || place.contains("&"), "\(secret) of \(place): \(whole)")
            }
        }
    }

    @Test func whatItContains() {
        var report = Report(masking: Masking())
        report.add("a", text: "192.0.2.200 and 192.0.2.201")
        let screen = report.screen(TextStyle(isColored: false, width: nil), file: "f.txt")
        #expect(screen.contains("for f.txt") && screen.contains("IPv4 addresses: 2") && screen.contains("24 bytes"))
        let document = report.document(file: "f.txt", isWritten: false).line
        #expect(document.contains(#""masked":{"ipv4":2"#) && document.contains(#""written":false"#))
        let open = Report(masking: nil)
        #expect(open.screen(TextStyle(isColored: false, width: nil), file: "f").contains("as they are"))
        #expect(open.document(file: "f", isWritten: true).line.contains(#""masked":null"#))
    }

    @Test func stateOfTheKernelWithoutAndWithIP() {
        var masking: Masking? = Masking()
        let without = KernelState(run: { _, _ in nil }).network(&masking)
        #expect(without.contains("not installed") && without.contains("/proc/net/route"))
        let answer = ProgramOutput(bytes: Array(#"[{"dst":"8.8.8.8","dev":"eth0"},{"dst":"default"}]"#.utf8))
        let with = KernelState(run: { _, _ in answer }).network(&masking)
        #expect(!with.contains("8.8.8.8"))
        #expect(with.contains("\"dev\":\"eth0\"") && with.contains("ip -details -json address show"))
        let failing = KernelState(run: { _, _ in ProgramOutput(failure: "ip failed: 8.8.8.8") }).network(&masking)
        #expect(failing.contains("(ip failed: ") && !failing.contains("8.8.8.8"))
        let garbage = KernelState(run: { _, _ in ProgramOutput(bytes: Array("10.1.1.1 [".utf8)) }).network(&masking)
        #expect(garbage.contains("left out") && !garbage.contains("10.1.1.1"))
    }

    @Test func addressesOfProcfs() {
        let route = "Iface\tDestination\tGateway\twlan0\nwlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\n"
        #expect(
            HexadecimalAddresses.readable(route, columns: [1, 2, 7]).contains(
                "0.0.0.0\t192.168.1.1\t0003\t0\t0\t600\t0.0.0.0"
            )
        )
        let address = "fe80000000000000a00227fffe4e66a1 02 40 20 80    eth0\n"
        #expect(
            HexadecimalAddresses.readable(address, columns: []) == "fe80::a002:27ff:fe4e:66a1 02 40 20 80    eth0\n"
        )
    }

    @Test func programs() {
        #expect(ProgramOutput("no-such-program", []) == nil)
        #expect(ProgramOutput("echo", ["a", "b"])?.bytes == Array("a b\n".utf8))
        #expect(ProgramOutput("false", [])?.failure?.contains("false failed") == true)
    }

    @Test func filesAreNeverWrittenOver() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/report"
        try NewFile.write("one", to: path)
        #expect(throws: SystemError.self) { try NewFile.write("two", to: path) }
        #expect(FileAccess.contents(path) == "one")
        #expect(throws: SystemError.self) { try NewFile.write("two", to: "/dev/full") }
    }
}

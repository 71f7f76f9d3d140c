// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathRecording
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathCLI

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

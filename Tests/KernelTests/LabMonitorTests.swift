// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The lab's way of running a monitor, tested with small scripts in its place.
@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct LabMonitorTests {
    /// A monitor of a few words: for every address event it prints the addresses of all interfaces.
    private static let addressMonitor = """
        show() {
            ip -o address show | awk '
                { list = list (NR > 1 ? "," : "") "{\\"name\\":\\"" $2 "\\",\\"addresses\\":[\\"" $4 "\\"]}" }
                END { print "{\\"status\\":null,\\"interfaces\\":[" list "]}"; fflush() }'
        }
        show
        ip monitor address | while read -r line; do show; done
        """

    @Test func programSeesEventsOfItsNamespace() throws {
        let lab = try NetworkNamespace()
        let monitor = try lab.start("ip", ["-o", "monitor", "link"])
        // The subscription has no sign of its own: whatever is made may come before it.
        try waitUntil { (try? lab.run("cat /proc/net/netlink").contains(" \(monitor.processIdentifier) ")) ?? false }
        try lab.addUplink("wan0")
        #expect(try monitor.nextText().contains("wan0"))
        #expect(monitor.isRunning)
        #expect(try monitor.stop() == 128 + 15)
        #expect(!monitor.isRunning)
    }

    @Test func linesUpToTheMark() throws {
        let lab = try NetworkNamespace()
        let uplink = try lab.addUplink("wan0")
        let monitor = try lab.start("sh", ["-c", Self.addressMonitor])
        try monitor.next { $0.interface(named: "lo") != nil }
        // Its subscription: a socket of a process, in a group.
        let subscription = #"awk '$3 > 0 && $4 ~ /[1-9a-f]/' /proc/net/netlink"#
        try waitUntil { (try? lab.run(subscription).isEmpty) == false }
        let first = try monitor.lines(markedOn: uplink)
        #expect(first.settled["status"] == .null)
        #expect(first.settled.interface(named: "wan0") != nil)

        let second = try monitor.lines(markedOn: uplink) { try uplink.addAddress("192.0.2.2/24") }
        #expect(second.settled.text.contains("192.0.2.2/24"))
        let mark = try lab.mark(on: uplink)
        #expect(!second.settled.shows(mark))
        #expect(try monitor.lines(until: mark).settled.shows(mark))
    }

    @Test func linesAreDecodedAndConditionsSkip() throws {
        let lab = try NetworkNamespace()
        let program =
            #"echo '{"a":{"b":[1,2.5,"x",null,true,0,false]}}'; echo '{"a":1}'; echo '{"a":2}'; echo no >&2; exit 7"#
        let monitor = try lab.start("sh", ["-c", program])
        let line = try monitor.next()
        #expect(line["a"]?["b"] == [1, 2.5, "x", JSONValue.null, true, 0, false])
        #expect(line["a"]?["c"] == nil)
        #expect(try monitor.next { $0["a"] == 2 }.text == #"{"a":2}"#)
        #expect(try monitor.waitForEnd() == 7)
        #expect(try monitor.waitForEnd() == 7)
        let error = try #require(throws: LabError.self) { try monitor.next() }
        guard case .programEnded = error else {
            Issue.record("unexpected error: \(error)")
            return
        }
        #expect(monitor.standardError == "no\n")
    }

    @Test func brokenAndMissingLinesAreErrors() throws {
        let lab = try NetworkNamespace()
        let monitor = try lab.start("sh", ["-c", "echo '{'; exec sleep 1000"])
        let malformed = #expect(throws: LabError.self) { try monitor.next() }
        #expect("\(malformed, default: "")".contains("not JSON"))
        let late = #expect(throws: LabError.self) { try monitor.next(timeout: .milliseconds(50)) }
        #expect("\(late, default: "")".contains("last line: {"))
        let missing = try lab.start("/no/such/program")
        let ended = #expect(throws: LabError.self) { try missing.next() }
        #expect("\(ended, default: "")".contains("/no/such/program"))
        #expect(try missing.waitForEnd() == 127)
    }

    @Test func signalsArriveAndStubbornProgramsAreKilled() throws {
        let lab = try NetworkNamespace()
        let polite = try lab.start(
            "sh",
            ["-c", #"trap 'echo "\"bye\""; exit 0' INT; echo 1; while :; do sleep 0.01; done"#]
        )
        #expect(try polite.next().value == 1)
        polite.sendSignal(.interrupt)
        #expect(try polite.next().value == "bye")
        #expect(try polite.waitForEnd() == 0)

        let stubborn = try lab.start("sh", ["-c", "trap '' TERM; echo 1; while :; do sleep 0.01; done"])
        try stubborn.next()
        #expect(throws: LabError.self) { try stubborn.stop(timeout: .milliseconds(50)) }
        try waitUntil { !stubborn.isRunning }
    }

    @Test func suspendedProgramStandsStillAtOnce() throws {
        let lab = try NetworkNamespace()
        let program = try lab.start("sh", ["-c", "echo 1; while :; do :; done"])
        try program.next()
        for _ in 0..<50 {
            program.sendSignal(.suspend)
            let status = try String(contentsOfFile: "/proc/\(program.processIdentifier)/status", encoding: .utf8)
            #expect(status.contains("State:\tT"))
            program.sendSignal(.resume)
        }
    }

    @Test func outputIsDrainedUnlessReadingIsSuspended() throws {
        let lab = try NetworkNamespace()
        // More than the pipe holds: without a reader the program cannot reach its last line.
        let program = "read -r go </proc/self/fd/3; seq 100000; echo done >&2"
        for isSuspended in [false, true] {
            let gate = "\(lab.directory)/gate"
            try lab.run("mkfifo \(gate)")
            let monitor = try lab.start("sh", ["-c", "exec 3<>\(gate); \(program)"])
            monitor.isReadingSuspended = isSuspended
            try lab.run("echo go >\(gate); rm \(gate)")
            if isSuspended {
                // Long enough for the program to end, if anybody read its output.
                usleep(100_000)
                #expect(monitor.isRunning)
                monitor.isReadingSuspended = false
            }
            #expect(try monitor.waitForEnd() == 0)
            #expect(monitor.standardError == "done\n")
            #expect(try monitor.next { $0.value == 100_000 }.text == "100000")
        }
    }

    @Test func costsAreMeasured() throws {
        let lab = try NetworkNamespace()
        let idle = try lab.start("sh", ["-c", "echo 1; exec sleep 1000"])
        try idle.next()
        let name = "/proc/\(idle.processIdentifier)/comm"
        try waitUntil { (try? String(contentsOfFile: name, encoding: .utf8)) == "sleep\n" }
        try idle.waitForRest()
        let switches = try idle.contextSwitches()
        usleep(100_000)
        #expect(switches > 0)
        #expect(try idle.contextSwitches() == switches)
        #expect(try idle.residentPeakKiB() > 100)
        #expect(try idle.cpuTime() < .seconds(1))

        let busy = try lab.start("sh", ["-c", "while :; do :; done"])
        try waitUntil { ((try? busy.cpuTime()) ?? .zero) > .milliseconds(20) }
    }

    @Test func environmentAndArgumentsArriveUnchanged() throws {
        let lab = try NetworkNamespace()
        let text = #"two words, 'quotes' "$HOME" \n"#
        let monitor = try lab.start(
            "sh",
            ["-c", #"printf '%s\n%s\n' "$1" "$TEXT""#, "sh", text],
            environment: ["TEXT": text]
        )
        #expect(try monitor.nextText() == text)
        #expect(try monitor.nextText() == text)
    }

    @Test func missingProductIsNamedWithItsPlace() throws {
        let error = #expect(throws: LabError.self) { try MonitorProcess.builtProduct("no-such-product") }
        #expect(
            "\(error, default: "")".contains("/debug/no-such-product") || "\(error, default: "")".contains("/release/")
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The live view on a real terminal, which `script` makes.
@Suite(.needsNamespaces)
struct LiveViewTests {
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"

    private let lab: NetworkNamespace
    private let terminal: MonitorProcess

    init() throws {
        self.lab = try NetworkNamespace()
        // With job control the view is a job of its own, as in a person's shell.
        let commands = """
            set -m; ulimit -c 0; stty rows 24 cols 80; echo "before $(stty -g)."
            sh -c 'echo $$ >\(self.lab.directory)/pid; exec \(try Watched.program) watch --color never'
            s=$?; while [ $s -gt 140 ] && [ $s -lt 150 ]; do echo "stopped $(stty -g)."; fg >/dev/null; s=$?; done
            echo "ended $s"; echo "after $(stty -g)."
            """
        try self.lab.run("mkfifo \(self.lab.directory)/keys")
        self.terminal = try self.lab.start(
            "sh",
            ["-c", "exec script -qfec \"$0\" /dev/null 0<>\"$1\"", commands, "\(self.lab.directory)/keys"],
            environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"]
        )
    }

    /// Returns everything up to the first line that contains a text.
    @discardableResult
    private func text(until end: String) throws -> String {
        var text = ""
        while !text.contains(end) { text += try self.terminal.nextText() + "\n" }
        return text
    }

    /// The settings of the terminal that a line of the shell tells.
    private func settings(after word: String) throws -> Substring {
        let line = try self.text(until: word + " ")
        let start = try #require(line.firstRange(of: word + " "))
        return line[start.upperBound...].prefix { $0 != "." }
    }

    private func signal(_ name: String) throws {
        try self.lab.run("kill -\(name) $(cat \(self.lab.directory)/pid)")
    }

    @Test(arguments: [("INT", 0), ("TERM", 0), ("SEGV", 139), ("ABRT", 134), ("QUIT", 131)])
    func everyEndRestoresTheTerminal(_ name: String, _ status: Int) throws {
        let before = try self.settings(after: "before")
        #expect(try self.text(until: "no network interface besides loopback").contains(Self.entering))
        try self.signal(name)
        let end = try self.text(until: "ended")
        #expect(end.contains("ended \(status)"))
        #expect(end.contains(Self.leaving))
        #expect(!end.contains(Self.entering))
        #expect(try self.settings(after: "after") == before)
        try self.terminal.waitForEnd()
    }

    /// Presses a key: what `script` reads is the terminal's keyboard.
    private func press(_ key: String) throws {
        try self.lab.run("printf '\(key)' >\(self.lab.directory)/keys")
    }

    @Test func keysQuitAndDrawAnew() throws {
        let before = try self.settings(after: "before")
        try self.text(until: "no network interface besides loopback")
        try self.press("\\f")
        try self.text(until: Self.entering)
        try self.press("q")
        let end = try self.text(until: "ended")
        #expect(end.contains("ended 0"))
        #expect(end.contains(Self.leaving))
        #expect(try self.settings(after: "after") == before)
    }

    @Test func anotherSizeIsAnotherPicture() throws {
        try self.text(until: "no network interface besides loopback")
        // So small that the status is a word, and no banner; the kernel sends SIGWINCH.
        try self.lab.run("stty -F /proc/$(cat \(self.lab.directory)/pid)/fd/1 cols 30 rows 10")
        try self.text(until: "UNSATISFIED")
        try self.press("q")
        try self.text(until: "ended 0")
    }

    @Test func hangUpOfALivingTerminalReadsTheConfigurationAgain() throws {
        try self.text(until: "no network interface besides loopback")
        try self.signal("HUP")
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try self.text(until: "carries the path")
        try self.signal("TERM")
        try self.text(until: "ended 0")
    }

    @Test func theEndOfTheTerminalEndsTheView() throws {
        try self.text(until: "no network interface besides loopback")
        let pid = try self.lab.run("cat \(self.lab.directory)/pid").filter(\.isNumber)
        self.terminal.sendSignal(.kill)
        let isThere = "[ -d /proc/\(pid) ]"
        let end = "for i in $(seq 100); do \(isThere) || break; sleep 0.1; done; \(isThere) && echo left; :"
        #expect(try self.lab.run(end) == "")
    }

    @Test func backendThatFailsIsShownAndTheTerminalRestored() throws {
        let folder = "/nowhere"
        let path = try Watched.write(
            "backends: [{type: netlink}, {type: sysfs, sysfs: \(folder), procfs: \(folder)}]\n",
            in: self.lab
        )
        let watch = "\(try Watched.program) watch --color never --config \(path)"
        let start = "echo $$ >\(self.lab.directory)/other; exec \(watch)"
        let view = try self.lab.start(
            "script",
            ["-qfec", "sh -c '\(start)'; echo \"ended $?\"", "/dev/null"],
            environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"]
        )
        var output = ""
        while !output.contains("unhealthy: neither \(folder)") { output += try view.nextText() + "\n" }
        #expect(!output.contains(Self.leaving))
        try self.lab.run("kill -TERM $(cat \(self.lab.directory)/other)")
        while !output.contains("ended") { output += try view.nextText() + "\n" }
        #expect(output.contains("ended 0"))
        #expect(output.contains(Self.leaving))
    }

    @Test func suspensionGivesTheTerminalBackAndContinuationTakesIt() throws {
        let before = try self.settings(after: "before")
        try self.text(until: "no network interface besides loopback")
        try self.signal("TSTP")
        let stop = try self.text(until: Self.leaving)
        #expect(stop.contains("stopped \(before)."))
        #expect(try (stop + self.text(until: "no network interface besides loopback")).contains(Self.entering))
        try self.signal("TERM")
        #expect(try self.text(until: "ended 0").contains(Self.leaving))
        #expect(try self.settings(after: "after") == before)
    }

    @Test func changesAreShownInPlace() throws {
        try self.text(until: "no network interface besides loopback")
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let frame = try self.text(until: "carries the path")
        #expect(!frame.contains(Self.entering))
        try self.text(until: "IPv4 through wan0; ")
        try self.signal("TERM")
        try self.text(until: "ended 0")
    }

    @Test func aStalledTerminalGetsTheNewestFrameNext() throws {
        try self.text(until: "no network interface besides loopback")
        try self.lab.addUplink("wan0", addresses: ["192.0.2.1/24"], gateway: "192.0.2.254")
        try self.text(until: "carries the path")
        self.terminal.isReadingSuspended = true
        // Many times what the pipe and the terminal take.
        try self.lab.ipBatch((2...250).map { "addr add 192.0.2.\($0)/24 dev wan0" })
        try self.lab.ip("route del default")
        self.terminal.isReadingSuspended = false
        try self.text(until: "wan0 has an address but no route")
        try self.signal("TERM")
        #expect(try self.text(until: "ended 0").contains(Self.leaving))
    }

    @Test func anIdleViewSleeps() throws {
        try self.text(until: "no network interface besides loopback")
        let tasks = "/proc/$(cat \(self.lab.directory)/pid)/task/*/status"
        let count = "cat \(tasks) | awk '/ctxt/ { n += $2 } END { print n }'"
        // The measured quantity is what happens while time passes, once the start is over.
        let counts = try self.lab.run("sleep 3; \(count); sleep 5; \(count)").split(separator: "\n")
        #expect(counts.count == 2 && counts.first == counts.last, "\(counts)")
    }

    @Test(arguments: [("xterm", "--plain"), ("dumb", "")])
    func logWhereAViewIsNotWantedOrPossible(_ type: String, _ option: String) throws {
        let log = try self.lab.start(
            "script",
            ["-qfec", "\(Watched.program) watch \(option)", "/dev/null"],
            environment: ["TERM": type]
        )
        var output = ""
        while !output.contains("unsatisfied") { output += try log.nextText() + "\n" }
        #expect(!output.contains("\u{1B}[?"))
    }
}

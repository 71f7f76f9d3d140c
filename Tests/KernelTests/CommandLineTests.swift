// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The program as scripts use it: exit codes, signals, pipes.
@Suite(.needsNamespaces)
struct CommandLineTests {
    private func exit(_ words: String, in lab: NetworkNamespace) throws -> Int? {
        let output = try lab.run("\(Watched.program) \(words) >/dev/null 2>&1; echo $?")
        return Int(output.trimmingPrefix { $0 == "\n" }.split(separator: "\n").last ?? "")
    }

    @Test func exitCodesSayTheVerdict() throws {
        let lab = try NetworkNamespace()
        #expect(try self.exit("", in: lab) == 1)
        #expect(try self.exit("status", in: lab) == 1)
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        #expect(try self.exit("status", in: lab) == 0)
        #expect(try self.exit("status --json", in: lab) == 0)
        #expect(try self.exit("explain", in: lab) == 0)
        #expect(try self.exit("backends", in: lab) == 0)
        #expect(try self.exit("config default", in: lab) == 0)
        #expect(try self.exit("--version", in: lab) == 0)
        #expect(try self.exit("--help", in: lab) == 0)
        #expect(try self.exit("--nonsense", in: lab) == 64)
        #expect(try self.exit("status --timeout soon", in: lab) == 64)
        try wan.delete()
        let slow = try lab.addUplink("wan1")
        try lab.setParameter("net/ipv6/conf/wan1/dad_transmits", to: 60)
        try slow.addTentativeAddress("2001:db8::2/64")
        try lab.addDefaultRoute(via: "2001:db8::1", through: slow)
        #expect(try self.exit("status", in: lab) == 2)
    }

    /// A folder that a service of long ago left behind, and nothing in it.
    @Test func anEmptyFolderIsNoRecording() throws {
        let lab = try NetworkNamespace()
        let folder = "\(lab.directory)/state"
        try lab.run("mkdir \(folder)")
        let ask = "RUNTIME_DIRECTORY=\(folder) STATE_DIRECTORY=\(folder) \(try Watched.program) history 2>&1"
        let answer = try lab.run("\(ask) || echo status $?")
        #expect(answer.contains("there is no recording: looked for "), "\(answer)")
        #expect(answer.hasSuffix("status 69\n"), "\(answer)")
    }

    @Test func whatIsMistypedIsNamed() throws {
        let lab = try NetworkNamespace()
        let program = try Watched.program
        let limit = try lab.run("\(program) wait --timeout 1x 2>&1 || true")
        #expect(limit.contains("'1x' is invalid for '--timeout <duration>': give a number and a unit (ms, s, "))
        let command = try lab.run("\(program) queue lst 2>&1 || true")
        #expect(command.contains("there is no command 'queue lst' (did you mean 'list'?)"))
    }

    @Test func oneValueOrNone() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let program = try Watched.program
        #expect(try lab.run("\(program) status --field interfaces.0.name") == "wan0\n")
        #expect(try lab.run("\(program) status --json --field gateways.0.address") == "\"192.0.2.1\"\n")
        #expect(try lab.run("\(program) status --quiet 2>&1") == "")
        #expect(try self.exit("--quiet", in: lab) == 0)
        #expect(try self.exit("--field status", in: lab) == 0)
    }

    /// Who only asks does without what tells of changes; to close that takes longer than to ask.
    @Test func whoeverAsksOnceWatchesNoFiles() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        // Outside a user namespace of its own the limit would be the machine's.
        guard try lab.run("awk '{ print $3 }' /proc/self/uid_map") == "1\n" else { return }
        try lab.setParameter("user/max_inotify_instances", to: 0)
        let program = try Watched.program
        #expect(try lab.run("\(program) backends --json").contains("the system grants no file watcher"))
        for command in ["status", "explain", "reach 192.0.2.9", "compare"] {
            let output = try lab.run("\(program) \(command) --json 2>&1")
            #expect(output.contains(#""schema":1"#))
            #expect(!output.contains("file watcher"), "\(command)")
        }
    }

    @Test func limitsEndTheWatch() throws {
        let lab = try NetworkNamespace()
        #expect(try self.exit("watch --count 1", in: lab) == 0)
        #expect(try self.exit("watch --timeout 100ms", in: lab) == 0)
        #expect(try self.exit("watch --count 2 --timeout 100ms", in: lab) == 3)
        #expect(try self.exit("watch --count 0", in: lab) == 64)
        // Options of a command that is not there would be ignored.
        #expect(try self.exit("watch --retries 3", in: lab) == 64)
        #expect(try lab.run("\(Watched.program) wach 2>&1; true").contains("did you mean 'watch'?"))
        #expect(try lab.run("\(Watched.program) watch --changes-only --timeout 300ms") == "")
    }

    /// The path at the start is not written; the changes go on until one came after it.
    @Test func changesOnly() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        let output = try lab.run(
            """
            \(Watched.program) watch --json --changes-only --count 1 >\(lab.directory)/lines & watch=$!
            while kill -0 $watch 2>/dev/null; do ip route replace default via 192.0.2.1; ip route del default; done
            wait $watch; echo $?; cat \(lab.directory)/lines
            """
        )
        let lines = output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first == "0")
        #expect(lines.last?.contains(#""sequence":1,"#) == false)
    }

    @Test func environmentNamesTheConfiguration() throws {
        let lab = try NetworkNamespace()
        let path = try Watched.write("nonsense: 1\n", in: lab)
        #expect(try lab.run("NETPATH_CONFIG=\(path) \(Watched.program) status 2>&1; echo $?").contains("78"))
        try lab.run("mkdir -p \(lab.directory)/xdg/netpath && cp \(path) \(lab.directory)/xdg/netpath/netpath.yaml")
        let output = try lab.run("XDG_CONFIG_HOME=\(lab.directory)/xdg \(Watched.program) status 2>&1; echo $?")
        #expect(output.contains("78"))
    }

    @Test func embeddedDefaultIsAGoodConfiguration() throws {
        let lab = try NetworkNamespace()
        let program = try Watched.program
        try lab.run("\(program) config default > \(lab.directory)/default.yaml")
        #expect(try lab.run("\(program) config check \(lab.directory)/default.yaml").contains("ok"))
    }

    @Test(arguments: [MonitorProcess.Signal.interrupt, .terminate])
    func signalsEndTheWatchCleanly(_ signal: MonitorProcess.Signal) throws {
        let lab = try NetworkNamespace()
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noInterface")
        #expect(try watched.monitor.stop(signal: signal) == 0)
        #expect(watched.monitor.standardError == "")
    }

    @Test func goneReaderEndsTheWatchQuietly() throws {
        let lab = try NetworkNamespace()
        // `head` takes one line and leaves; nothing changes afterwards, and the program must end all the same.
        let output = try lab.run(
            "{ \(Watched.program) watch; echo $? >\(lab.directory)/status; } 2>\(lab.directory)/errors | head -n 1"
        )
        #expect(output.contains("unsatisfied"))
        #expect(try lab.run("cat \(lab.directory)/status \(lab.directory)/errors") == "0\n")
    }

    @Test func explainNamesRuleEvidenceAndRemedy() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        try wan.setDown()
        let output = try lab.run("\(Watched.program) explain; true")
        #expect(output.contains("wan0"))
        #expect(output.contains("ip link set"))
        try wan.setUp()
        #expect(try lab.run("\(Watched.program) explain; true").contains("route"))
    }
}

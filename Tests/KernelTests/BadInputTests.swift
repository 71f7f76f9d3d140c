// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What the monitor says and does when the system refuses something.
@Suite(.needsNamespaces)
struct BadInputTests {
    /// Runs a program under a seccomp filter that answers EPERM to one system call with the given arguments.
    ///
    /// perl is part of every Debian; the filter checks the call's number and the low halves of its arguments.
    private func sandboxed(call: Int, arguments: [Int: Int], program: String, _ words: String) -> String {
        let checks = arguments.sorted { $0.key < $1.key }.map { index, value in
            // Load argument, compare, jump over the rest to "allow" when it differs.
            "push @f, [0x20,0,0,\(16 + 8 * index)], [0x15,0,'allow',\(value)];"
        }.joined()
        return """
            perl -e 'my @f = ([0x20,0,0,0], [0x15,0,"allow",\(call)]);\(checks.replacing("'", with: "\""))\
            push @f, [0x06,0,0,0x00050001], [0x06,0,0,0x7fff0000];\
            my $b = ""; for my $i (0..$#f) { my @i = @{$f[$i]}; $i[2] = $#f - $i - 1 if $i[2] eq "allow"; \
            $b .= pack("SCCL", @i); }\
            syscall(157, 38, 1, 0, 0, 0) == 0 or die; my $p = pack("Sx6P", scalar(@f), $b);\
            syscall(157, 22, 2, $p) == 0 or die "seccomp: $!"; exec @ARGV;' \(program) \(words)
            """
    }

    #if arch(x86_64)
    @Test func withoutNetlinkNobodyIsOffline() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        // socket(AF_NETLINK, …)
        let netpath = { words in
            try lab.run(
                self.sandboxed(call: 41, arguments: [0: 16], program: Watched.program, words) + " 2>&1; echo exit $?"
            )
        }
        let alone = try netpath("status --json --set backends.sysfs.mode=off")
        #expect(alone.contains("exit 69"))
        #expect(alone.contains("\"status\":null"))
        #expect(alone.contains("netlink socket"))
        #expect(!alone.contains("unsatisfied"))
        // By default sysfs steps in, and what failed is said.
        let standby = try netpath("status --json")
        #expect(standby.contains("exit 0"))
        #expect(standby.contains("\"status\":\"satisfied\""))
        #expect(standby.contains("netlink socket"))
    }

    @Test func refusedGroupIsSaidAndMadeUpFor() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        // setsockopt(…, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, …)
        let command = try self.sandboxed(
            call: 54,
            arguments: [1: 270, 2: 1],
            program: Watched.program,
            "watch --json"
        )
        let monitor = try lab.start("sh", ["-c", "exec \(command)"])
        let line = try monitor.next { $0["status"] == "satisfied" }
        let limitations = line["backends"]?[0]?["limitations"]?.elements.compactMap(\.string) ?? []
        #expect(limitations.contains { $0.contains("IPv4 routes") })
        // No event arrives, so it has to look for itself.
        try lab.removeDefaultRoute(through: wan)
        try monitor.next { $0["status"] == "unsatisfied" && $0.reason == "noRoute" }
    }
    #endif

    @Test func processWithoutDescriptorsSaysSo() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let outputs = try (5...8).map { limit in
            try lab.run("(ulimit -n \(limit); exec \(Watched.program) status) 2>&1; echo exit $?")
        }
        let refused = outputs.filter { $0.contains("exit 69") }
        #expect(refused.contains { $0.contains("cannot open a netlink socket") }, "the limits are others now")
        for output in refused {
            #expect(output.contains("Too many open files; allow this process more of them (ulimit -n"))
            #expect(!output.contains("sandbox"))
            #expect(output.matches(of: /unhealthy/).count == output.matches(of: /Too many open files/).count)
        }
    }

    @Test func withoutSysfsThePathIsTheSame() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab, configuration: "backends: [{type: netlink, sysfs: /nonexistent}]")
        let line = try watched.expect("satisfied", "routed")
        let limitations = line["backends"]?[0]?["limitations"]?.elements.compactMap(\.string) ?? []
        #expect(limitations.contains { $0.contains("/nonexistent") })
    }

    @Test(arguments: [
        ("backends:\n  - type: netlink\n    receiveBufer: 4096\n", "5"),
        ("backends: []\n", "no backend"),
        ("grace: 5s\nflapping:true\n", "2:1: error: not valid YAML: a key needs a ':' and a blank"),
        ("backends:\n\t- type: netlink\n", "indent"),
        ("a: &a [x, x]\nb: [*a, *a]\n", "anchors"),
        ("backends: [{type: netlink}]\n---\nbackends: []\n", "document"),
        ("backends: [{type: netlink}]\nbackends: []\n", "backends"),
        ("backends: [{type: carrierPigeon}]\n", "carrierPigeon"),
        ("backends: [{type: netlink, receiveBuffer: lots}]\n", "lots"),
    ])
    func badConfigurationStartsNothing(_ text: String, _ expected: String) throws {
        let lab = try NetworkNamespace()
        let path = try Watched.write(text, in: lab)
        for command in ["status", "watch --json", "explain", "backends", "config check"] {
            let option = command == "config check" ? path : "--config \(path)"
            let output = try lab.run("\(Watched.program) \(command) \(option) 2>&1; echo exit $?")
            #expect(output.contains("exit 78"), "\(command): \(output)")
            #expect(output.contains(expected), "\(command): \(output)")
            #expect(!output.contains("satisfied"))
        }
    }

    /// The runtime reads the arguments from procfs: without it every command line was that of `netpath`.
    @Test func argumentsThatCannotBeReadAreNoOtherCommand() throws {
        let lab = try NetworkNamespace()
        let output = try lab.run(
            "unshare --mount sh -c 'mount -t tmpfs none /proc; \(Watched.program) run --bogus' 2>&1; echo exit $?"
        )
        #expect(output.contains("mount /proc") && output.hasSuffix("exit 70\n"), "\(output)")
    }

    @Test func filesThatAreNoConfiguration() throws {
        let lab = try NetworkNamespace()
        try lab.run("truncate -s 100M \(lab.directory)/huge; mkfifo \(lab.directory)/fifo")
        try lab.run("printf 'backends: \\377\\376\\n' > \(lab.directory)/binary")
        for path in ["huge", "fifo", "binary", "missing", "."].map({ "\(lab.directory)/\($0)" }) + ["/dev/zero"] {
            let output = try lab.run("\(Watched.program) status --config \(path) 2>&1; echo exit $?")
            #expect(output.contains("exit 78"), "\(path): \(output)")
            #expect(output.contains(path), "\(path): \(output)")
        }
    }
}

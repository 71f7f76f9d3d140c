// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A program that breaks a promise, and what `netpath plugin check` tells its author to do.
struct BrokenPlugin: Sendable, CustomTestStringConvertible {
    let name: String
    let command: [String]
    /// The rule that it breaks.
    let rule: String
    /// What the finding says.
    let advice: String

    var testDescription: String { self.name }

    /// How many times the usual time it has: little where it is caught only once that is over.
    var patience: Int {
        switch (self.name, self.rule) {
        case ("is silent", _), ("does not flush", _), ("says hello only", _): 1
        case ("has nothing to go by", _): 5
        case (_, "refresh"), (_, "shutdown"): 10
        default: 20
        }
    }

    /// A plugin in the language of the shell.
    private init(_ name: String, _ script: String, _ rule: String, _ advice: String) {
        self.init(name, command: ["/bin/sh", "-c", script], rule, advice)
    }

    private init(_ name: String, command: [String], _ rule: String, _ advice: String) {
        self.name = name
        self.command = command
        self.rule = rule
        self.advice = advice
    }

    /// A plugin in Perl, which takes requests: what it does before its first report, and for each request to look.
    private init(_ name: String, perl start: String, look: String, _ rule: String, _ advice: String) {
        let script = """
            $| = 1; print qq({"netpath":1,"requests":["refresh"]}\\n); \(start)
            sub say_no { print qq({"conclusion":{"status":"unsatisfied"}}\\n) } say_no();
            while (<STDIN>) { if (/refresh/) { \(look); say_no() } elsif (/shutdown/) { exit 0 } }
            """
        self.init(name, command: ["/usr/bin/perl", "-e", script], rule, advice)
    }

    private static let hello = #"echo '{"netpath":1}'; "#
    private static let taking = #"echo '{"netpath":1,"requests":["refresh"]}'; "#
    private static let no = #"echo '{"conclusion":{"status":"unsatisfied"}}'; "#
    private static let yes = #"echo '{"conclusion":{"status":"satisfied"}}'; "#
    private static let wait = "exec sleep 1000"
    /// Answers requests, and ends as asked.
    private static let serve =
        "while read -r line; do case $line in *refresh*) \(no) ;; *shutdown*) exit 0 ;; esac; done"

    /// Leaves a daemon, and goes on once it is one.
    private static let daemon =
        "setsid -f sh -c 'echo there; exec sleep 1000 </dev/null >/dev/null 2>&1' | head -n 1 >/dev/null; "

    private static func join(_ parts: String...) -> String { parts.joined() }

    private static func says(_ line: String) -> String { "echo '\(line)'; " }

    /// Does not start, or does not get as far as a report.
    static let starting: [BrokenPlugin] = [
        .init("has no interpreter", "exec /usr/bin/no-such-interpreter", "firstReport", "it wrote: "),
        .init("ends at once", "exit 0", "firstReport", "run until shutdown is read"),
        .init("fails at once", "echo no luck >&2; exit 3", "firstReport", "exit status 3; it wrote: no luck"),
        .init("crashes", "kill -SEGV $$", "firstReport", "signal 11 (Segmentation fault); have it write why"),
        .init(
            "takes all memory",
            command: ["/usr/bin/perl", "-e", "my $n = 1 << 32; my $x = 'x' x $n"],
            "firstReport",
            "emory"
        ),
        .init("is silent", wait, "firstReport", "flush after each line"),
        .init(
            "does not flush",
            command: ["/usr/bin/perl", "-e", #"print qq({"netpath":1}\n); sleep 1000"#],
            "firstReport",
            "flush after each line"
        ),
        .init("says hello only", join(hello, wait), "firstReport", "write a conclusion, evidence or unavailable"),
        .init(
            "has nothing to go by",
            join(hello, says(#"{"unavailable":"no modem"}"#), wait),
            "firstReport",
            "(no modem)"
        ),
        .init("says no hello", join(no, wait), "firstReport", "has to be a hello such as"),
        .init("says hello twice", join(hello, hello, wait), "firstReport", "write it once, as the first line"),
        .init(
            "speaks another version",
            join(says(#"{"netpath":99}"#), wait),
            "firstReport",
            "unsupported version of the protocol"
        ),
        .init("speaks for people", join("echo starting; ", wait), "firstReport", "all else to standard error"),
        .init("writes a list", says("[]") + wait, "firstReport", "has to be an object"),
        .init(
            "writes what is not UTF-8",
            join(hello, #"printf '{"log":"\377"}\n'; "#, wait),
            "firstReport",
            "not UTF-8"
        ),
        .init("writes NULs", join(#"printf '\0\0\n'; "#, wait), "firstReport", "one JSON object a line"),
        .init(
            "ends within a line",
            join(hello, "printf '{\"conclusion\":{\"sta'"),
            "firstReport",
            "run until shutdown"
        ),
        .init(
            "writes endless lines",
            join(hello, "head -c 1000000 /dev/zero; ", wait),
            "firstReport",
            "tell only what"
        ),
        .init(
            "nests too deep",
            command: ["/usr/bin/perl", "-e", "$| = 1; print '[' x 1000, qq(\\n); sleep 1000"],
            "firstReport",
            "levels deep"
        ),
        .init("closes its output", join(hello, "exec >&-; ", wait), "firstReport", "keep it open, and exit to end"),
        .init(
            "sends unknown messages",
            join(hello, says(#"{"status":"up"}"#), wait),
            "firstReport",
            "those are evidence,"
        ),
    ]

    /// Says what nothing can be made of.
    static let words: [BrokenPlugin] = [
        ("invents a status", #"{"conclusion":{"status":"online"}}"#, "allowed: unsatisfied"),
        ("has no status", #"{"conclusion":{"reason":"yes"}}"#, "has no status"),
        ("mistakes a type", #"{"conclusion":{"status":"satisfied","interface":3}}"#, "not as text"),
        ("names a member twice", #"{"conclusion":{"status":"satisfied","status":"satisfied"}}"#, "two members"),
        ("writes a huge number", #"{"conclusion":{"status":"satisfied","ageMilliseconds":1e999}}"#, "too large"),
        ("invents an address", #"{"evidence":{"interfaces":[{"name":"lo","addresses":["1.2.3"]}]}}"#, "192.0.2.2/24"),
        ("lists a name twice", #"{"evidence":{"interfaces":[{"name":"lo"},{"name":"lo"}]}}"#, "two interfaces"),
        ("invents an outcome", #"{"evidence":{"probes":[{"target":"a","outcome":"ok"}]}}"#, "allowed: connected"),
        ("routes through nothing", #"{"evidence":{"routes":[{"destination":"9.0.0.1","interface":"x"}]}}"#, "none of"),
    ].map { .init($0, join(hello, says($1), wait), "firstReport", $2) }

    /// Says what is not so.
    static let claims: [BrokenPlugin] = [
        .init(
            "names an index that does not exist",
            join(hello, says(#"{"evidence":{"interfaces":[{"name":"ghost0","index":4000000}]}}"#), wait),
            "realInterfaces",
            "name what the kernel lists"
        ),
        .init(
            "concludes of an interface that does not exist",
            join(hello, says(#"{"conclusion":{"status":"satisfied","interface":"ghost0"}}"#), wait),
            "realInterfaces",
            "name what the kernel lists"
        ),
        .init(
            "knows nothing and says no",
            join(hello, says(#"{"evidence":{"probes":[]}}"#), wait),
            "unknownIsNotNo",
            "leave `probes` out"
        ),
        .init(
            "tells changes only",
            join(
                taking,
                says(#"{"evidence":{"interfaces":[],"dnsServers":[]}}"#),
                // The first answer may come together with the first report, and replaces it then.
                #"n=0; while read -r line; do n=$((n+1)); if [ $n -le 2 ]; then "#
                    + #"echo '{"evidence":{"interfaces":[],"dnsServers":[]}}'; "#
                    + #"else echo '{"evidence":{"dnsServers":[]}}'; fi; done"#
            ),
            "completeSnapshots",
            "so tell it all"
        ),
    ]

    /// Does not answer, or not as it has to.
    static let answers: [BrokenPlugin] = [
        .init(
            "promises to answer",
            join(taking, no, "while read -r line; do :; done"),
            "refresh",
            #"answer with a report or {"heartbeat":true}"#
        ),
        .init(
            "answers with what is old",
            join(
                taking,
                no,
                #"while read -r l; do echo '{"conclusion":{"status":"unsatisfied","ageMilliseconds":60000}}'; done"#
            ),
            "refresh",
            "look again, then answer"
        ),
        .init("does not read", join(taking, no, wait), "refresh", "read input while waiting"),
        .init("closes its input", join("exec <&-; ", taking, no, wait), "refresh", "hello names requests"),
    ]

    /// Does wrong when nothing happens.
    static let resting: [BrokenPlugin] = [
        .init(
            "misses its heartbeat",
            join(#"echo '{"netpath":1,"heartbeat":2}'; "#, no, wait),
            "rest",
            #"write {"heartbeat":true} in time"#
        ),
        .init("ends after a while", join(hello, no, "sleep 1"), "rest", "run until shutdown is read"),
        .init(
            "speaks for people later",
            join(hello, no, "sleep 1; echo bye; ", wait),
            "rest",
            "all else to standard error"
        ),
        .init(
            "floods",
            join(hello, #"yes '{"conclusion":{"status":"unsatisfied"}}'"#),
            "rest",
            "write what is news, then wait"
        ),
        .init("floods the log", join(hello, no, #"yes '{"log":"hello"}'"#), "rest", "write what is news, then wait"),
        .init("floods standard error", join(hello, no, "yes trouble >&2"), "rest", "what an operator has to know"),
        .init(
            "alternates",
            join(hello, "while :; do \(yes) sleep 0.5; \(no) sleep 0.5; done"),
            "rest",
            "wait for it to settle"
        ),
        .init(
            "alternates with its heartbeat",
            join(#"echo '{"netpath":1,"heartbeat":10}'; "#, "while :; do \(yes) sleep 3; \(no) sleep 3; done"),
            "rest",
            "wait for it to settle"
        ),
        .init(
            "alternates whenever it looks",
            join(taking, no, serve.replacing(no, with: "if [ $n ]; then n=; \(no) else n=1; \(yes) fi")),
            "rest",
            "wait for it to settle"
        ),
    ]

    /// Does not end as it has to.
    static let ending: [BrokenPlugin] = [
        .init(
            "does not hear of shutdown",
            join(taking, no, "while read -r l; do \(no) done; ", wait),
            "shutdown",
            "exit 0 after shutdown"
        ),
        .init(
            "hears neither shutdown nor SIGTERM",
            join("trap '' TERM; ", taking, no, "while :; do sleep 1000; done"),
            "shutdown",
            "exit 0 after shutdown"
        ),
        .init("ignores SIGTERM", join("trap '' TERM; ", hello, no, wait), "shutdown", "had to be killed"),
        .init(
            "fails when it is asked to end",
            join(taking, no, serve.replacing("exit 0", with: "exit 7")),
            "shutdown",
            "it ended with exit status 7; exit 0 after shutdown"
        ),
    ]

    /// Keeps what it does not need, or leaves it behind.
    static let leaking: [BrokenPlugin] = [
        .init(
            "opens a file at each look",
            perl: "",
            look: "open(my $f, '<', '/etc/passwd'); push @f, $f",
            "holdings",
            "close what"
        ),
        .init("remembers each look", perl: "", look: "push @m, 'x' x 20000", "holdings", "forget what it has said"),
        .init(
            "starts a process at each look",
            join(taking, no, serve.replacing(no, with: "sleep 1000 & \(no)")),
            "holdings",
            "wait for what it starts"
        ),
        .init("leaves zombies", perl: "", look: "exit 0 unless fork()", "holdings", "wait for what it starts"),
        .init(
            "opens files and takes no requests",
            command: [
                "/usr/bin/perl", "-e",
                join(
                    // A heartbeat has it watched for longer.
                    #"$| = 1; print qq({"netpath":1,"heartbeat":10}\n); "#,
                    #"while (1) { open(my $f, '<', '/etc/passwd'); push @f, $f; "#,
                    #"print qq({"conclusion":{"status":"unsatisfied"}}\n); select(undef, undef, undef, 0.2) }"#
                ),
            ],
            "holdings",
            "close what it opens"
        ),
        .init(
            "leaves a daemon",
            join(daemon, taking, no, serve),
            "leaks",
            "end what it starts"
        ),
        .init(
            "leaves a daemon, and takes no requests",
            join(daemon, hello, no, wait),
            "leaks",
            "end what it starts"
        ),
        .init("leaves a file", join("mktemp >/dev/null; ", taking, no, serve), "leaks", "remove what it makes"),
    ]
}

/// Every class of program that is broken is caught, with a sentence that says what to do.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrokenPluginTests {
    private static let rules = [
        "completeSnapshots", "unknownIsNotNo", "realInterfaces", "refresh", "watchedAddresses", "asksOnce", "rest",
        "cancellation", "shutdown", "silence", "restart", "missingSource", "holdings", "leaks",
    ]

    private func check(
        _ command: [String],
        options: [String],
        patience: Int = 20
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: try MonitorProcess.builtProduct("netpath-plugin"))
        let limits = ["--patience-factor", "\(patience)"]
        process.arguments = ["plugin", "check"] + limits + options + ["--"] + command
        let output = Pipe()
        process.standardOutput = output
        if options.isEmpty { process.standardError = output }
        try process.run()
        let written = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, written)
    }

    @Test(
        arguments: BrokenPlugin.starting + BrokenPlugin.words + BrokenPlugin.claims + BrokenPlugin.answers
            + BrokenPlugin.resting + BrokenPlugin.ending + BrokenPlugin.leaking
    )
    func isCaught(_ plugin: BrokenPlugin) throws {
        let others = Self.rules.filter { $0 != plugin.rule }.flatMap { ["--except", $0] }
        // The suites beside this one may leave a few files themselves.
        let cycles = plugin.name == "leaves a file" ? "150" : "50"
        let options = ["--json", "--cycles", cycles] + others
        let (status, output) = try self.check(plugin.command, options: options, patience: plugin.patience)
        #expect(status == 1, "\(output)")
        let findings = try JSONValue(json: output)["findings"]?.elements ?? []
        let broken = findings.filter { $0["outcome"] == "broken" }
        #expect(broken.map { $0["rule"]?.string } == [plugin.rule], "\(output)")
        let message = broken.first?["message"]?.string ?? ""
        #expect(message.contains(plugin.advice), "\(message)")
        // Words of another language, and of another trade.
        for word in ["run(_:)", "CancellationError", "ulimit", "throw", "threw"] {
            #expect(!message.contains(word), "\(message)")
        }
    }

    /// No rule is broken by what never ran.
    @Test(
        arguments: [
            ("/nothere/plugin", "; check the path"), ("./nothere", "cannot find ./nothere"),
            ("/etc/passwd", "is not executable; chmod +x it"), ("/usr/bin", "is a folder, not a program"),
        ]
    )
    func whatCannotBeRunIsNotChecked(program: String, why: String) throws {
        for options in [["--once"], ["--json"]] {
            let (status, output) = try self.check([program], options: options)
            #expect(status == 69)
            #expect(output == "")
        }
        let (status, message) = try self.check([program], options: [])
        #expect(status == 69)
        #expect(message.hasPrefix("netpath-plugin: error: this program cannot be run: "), "\(message)")
        #expect(message.contains(why), "\(message)")
    }

    /// A daemon that some runs leave is found in few runs, too.
    @Test func aDaemonNowAndThenIsFoundInFewRuns() throws {
        let folder = try TemporaryDirectory()
        let script = """
            echo >>\(folder["runs"])
            [ -p \(folder["left"]) ] || mkfifo \(folder["left"])
            # One that has not left the group yet would end with it.
            [ $(($(wc -l <\(folder["runs"])) % 3)) = 0 ] || {
                setsid -f sh -c 'echo >\(folder["left"]); exec sleep 1000' </dev/null >/dev/null 2>&1
                read _ <\(folder["left"])
            }
            echo '{"netpath":1}'; echo '{"conclusion":{"status":"unsatisfied"}}'; exec sleep 1000
            """
        let others = Self.rules.filter { $0 != "leaks" }.flatMap { ["--except", $0] }
        let (status, output) = try self.check(["/bin/sh", "-c", script], options: ["--cycles", "3"] + others)
        #expect(status == 1 && output.contains("processes that have a group of their own, in 4 runs"), "\(output)")
    }

    /// One that keeps every promise is not accused, whatever it is asked.
    @Test func anHonestOneIsNot() throws {
        let script = """
            echo '{"netpath":1,"requests":["refresh"],"heartbeat":10}'
            look() { echo '{"conclusion":{"status":"unsatisfied","reason":"no"}}'; }
            look
            while sleep 1; do echo '{"heartbeat":true}'; done &
            trap 'kill $!' EXIT
            while read -r line; do case $line in *refresh*) look ;; *shutdown*) exit 0 ;; esac; done
            """
        let (status, output) = try self.check(["/bin/sh", "-c", script], options: ["--cycles", "20"])
        #expect(status == 0, "\(output)")
    }

    /// What other processes make is not the program's.
    @Test func filesOfOthersAreNotItsOwn() throws {
        let name = "netpath-test-\(UUID().uuidString)"
        let other = Process()
        other.executableURL = URL(filePath: "/bin/sh")
        other.arguments = ["-c", "n=0; while sleep 0.01; do n=$((n+1)); : >/tmp/\(name)-$n; done"]
        try other.run()
        defer {
            other.terminate()
            other.waitUntilExit()
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
            for file in files where file.hasPrefix(name) {
                try? FileManager.default.removeItem(atPath: "/tmp/\(file)")
            }
        }
        let script = #"echo '{"netpath":1}'; echo '{"conclusion":{"status":"unsatisfied"}}'; exec sleep 1000"#
        let others = Self.rules.filter { $0 != "leaks" }.flatMap { ["--except", $0] }
        let options = ["--json", "--cycles", "100"] + others
        let (status, output) = try self.check(["/bin/sh", "-c", script], options: options)
        #expect(status == 0, "\(output)")
        let leaks = try JSONValue(json: output)["findings"]?.elements.first { $0["rule"] == "leaks" }
        #expect(leaks?["outcome"] != "broken", "\(output)")
    }

    /// Numbers that are not exported are told to their author.
    @Test func oneRunTellsOfNumbersThatAreLeftOut() throws {
        let script = #"""
            echo '{"netpath":1}'; echo '{"metrics":[{"name":"Signal","value":1},{"name":"roams","value":2}]}'
            echo '{"conclusion":{"status":"unsatisfied"}}'; exec sleep 1000
            """#
        let (status, output) = try self.check(["/bin/sh", "-c", script], options: ["--once"])
        #expect(status == 0 && output.contains("numbers: roams; the metric 'Signal' has no name"), "\(output)")
    }

    @Test func oneRunShowsEachLine() throws {
        let good = #"echo '{"netpath":1,"name":"mine"}'; echo '{"conclusion":{"status":"satisfied"}}'; exec sleep 1000"#
        let (status, output) = try self.check(["/bin/sh", "-c", good], options: ["--once"])
        #expect(status == 0, "\(output)")
        for text in [
            #"1  {"netpath":1,"name":"mine"}"#, "hello of 'mine', takes no requests",
            "a conclusion, satisfied", "verdict    satisfied: it says satisfied",
        ] { #expect(output.contains(text), "\(text): \(output)") }
        let bad = #"echo '{"netpath":1}'; echo oops; exec sleep 1000"#
        let (failed, complaint) = try self.check(["/bin/sh", "-c", bad], options: ["--once"])
        #expect(failed == 1 && complaint.contains("2  oops\n   BROKEN: this line is not JSON"), "\(complaint)")
        let (_, json) = try self.check(["/bin/sh", "-c", bad], options: ["--once", "--json"])
        let document = try JSONValue(json: json)
        #expect(document["lines"]?[1]?["reading"] == "fault" && document["error"]?.string != nil, "\(json)")
    }
}

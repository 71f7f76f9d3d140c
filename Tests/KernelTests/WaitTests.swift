// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// `netpath wait` against the real kernel: what comes late, what never comes, and who is to be told.
@Suite(.needsNamespaces)
struct WaitTests {
    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
    }

    /// Runs the command to its end; returns what it wrote and its exit status.
    private func wait(_ arguments: String) throws -> String {
        try self.lab.run("\(Watched.program) wait \(arguments) 2>&1; echo $?")
    }

    /// Runs the command again until its answer is as wanted: one that has hardly any time may end before the first look does.
    @discardableResult
    private func wait(_ arguments: String, until isWanted: (String) -> Bool) throws -> String {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let answer = try self.wait(arguments)
            if isWanted(answer) { return answer }
            try #require(ContinuousClock.now < deadline, "\(arguments): \(answer)")
        }
    }

    /// Starts the command, and waits until it listens: nothing but the first look makes it miss what follows.
    private func start(_ arguments: String...) throws -> MonitorProcess {
        let wait = try self.lab.start(Watched.program, ["wait"] + arguments)
        let threads = "/proc/\(wait.processIdentifier)/task"
        // Who listens does so on a thread of its own, and sleeps there.
        try self.lab.run(
            """
            for i in $(seq 3000); do set -- \(threads)/*; [ $# -gt 1 ] || ! [ -d \(threads) ] && break; sleep 0.01; done
            [ $# -gt 1 ]
            """
        )
        return wait
    }

    private func addUplink() throws -> LabInterface {
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    // MARK: What is so

    @Test func whatIsSoEndsAtOnce() throws {
        try self.wait("--timeout 0") {
            $0.hasSuffix("timed out after 0s: there is no network interface besides loopback\n3\n")
        }
        _ = try self.addUplink()
        let output = try self.wait("")
        #expect(output.wholeMatch(of: #/met after \d+m?s: satisfied, IPv4 through wan0\n0\n/#) != nil, "\(output)")
        #expect(try self.wait("--quiet") == "0\n")
        #expect(try self.wait("--quiet --timeout 0 --family ipv6") == "3\n")
        let words = "--status satisfied --family ipv4 --interface 'w*' --type wired --dns --host 192.0.2.9 --timeout 9"
        #expect(try self.wait("\(words) --quiet") == "0\n")
        #expect(try self.wait("--any --family ipv6 --interface eth9 --timeout 0 --quiet") == "3\n")
        #expect(try self.wait("--any --family ipv6 --interface wan0 --quiet") == "0\n")
        #expect(try self.wait("--not --family ipv6 --quiet") == "0\n")
    }

    @Test func theDocument() throws {
        _ = try self.addUplink()
        let output = try self.wait("--json --timeout 0 --family ipv6 --interface wan0 2>/dev/null") {
            $0.contains("no path for IPv6; wan0: no path for IPv6")
        }
        let line = try JSONValue(json: String(output.split(separator: "\n")[0]))
        #expect(line["met"]?.bool == false)
        #expect(line["outcome"]?.string == "timedOut")
        #expect(line["missing"]?.string == "no path for IPv6; wan0: no path for IPv6")
        #expect(line["conditions"]?.elements.map { $0["met"]?.bool } == [false, false])
        #expect(line["path"]?["status"]?.string == "satisfied")
        #expect(line["path"]?["dnsServers"]?.elements.first?.string == "192.0.2.53")
        #expect(output.hasSuffix("\n3\n"))
    }

    // MARK: What comes late

    @Test func aPathComesLate() throws {
        // Neither the interface nor anything else is there.
        let waits = [
            try self.start(), try self.start("--family", "ipv4"), try self.start("--interface", "wan*"),
            try self.start("--type", "wired"), try self.start("--dns"), try self.start("--host", "203.0.113.9"),
            try self.start("--not", "--status", "unsatisfied"),
            try self.start("--any", "--family", "ipv6", "--interface", "wan0"),
        ]
        let both = try self.start("--family", "ipv4", "--family", "ipv6", "--interface", "wan0")
        let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        for wait in waits + [both] { #expect(wait.isRunning, "\(wait.standardError)") }
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        for wait in waits { #expect(try wait.waitForEnd() == 0) }
        #expect(both.isRunning)
        try self.lab.ip("addr add 2001:db8::2/64 dev wan0 nodad")
        try self.lab.ip("-6 route add default via 2001:db8::1")
        #expect(try both.waitForEnd() == 0)
    }

    /// The evidence that a document holds is what its path comes of.
    @Test func theDocumentOfWhatComesLateIsOfOneMoment() throws {
        let wait = try self.start("--json")
        _ = try self.addUplink()
        let path = try wait.next { $0["met"] != nil }["path"]
        #expect(path?["status"] == "satisfied")
        #expect(path?["backends"]?.elements.first?["status"] == "satisfied", "\(String(describing: path))")
        #expect(try wait.waitForEnd() == 0)
    }

    @Test func theEndOfAPath() throws {
        let wan = try self.addUplink()
        let waits = [
            try self.start("--not"), try self.start("--status", "unsatisfied"),
            try self.start("--not", "--interface", "wan0"), try self.start("--not", "--host", "203.0.113.9"),
        ]
        for wait in waits { #expect(wait.isRunning) }
        try wan.setDown()
        for wait in waits { #expect(try wait.waitForEnd() == 0) }
    }

    @Test func aNameServerComesLate() throws {
        _ = try self.addUplink()
        try self.lab.run("echo >/etc/resolv.conf")
        let wait = try self.start("--dns")
        #expect(wait.isRunning)
        try self.lab.run("echo 'nameserver 192.0.2.53' >/etc/resolv.conf")
        #expect(try wait.waitForEnd() == 0)
    }

    @Test func aServerComesLate() throws {
        let wan = try self.addUplink()
        try self.lab.addFarAddress("192.0.2.1/24", behind: wan)
        let wait = try self.start("--host", "192.0.2.1:8080")
        try self.lab.serve("hello", on: 8080)
        #expect(try wait.waitForEnd() == 0)
        #expect(try self.wait("--host 192.0.2.1:8081 --timeout 5s").contains("port 8081 refuses connections"))
    }

    @Test func theInternetComesLate() throws {
        let wan = try self.addUplink()
        try self.lab.addFarAddress("192.0.2.1/24", behind: wan)
        let path = try Watched.write(
            "backends: [{type: netlink}, {type: tcpProbe, interval: 1s, targets: [\"192.0.2.1:8080\"]}]\n",
            in: self.lab
        )
        try self.lab.ip("route add unreachable 192.0.2.1/32")
        let wait = try self.start("--internet", "--config", path)
        #expect(wait.isRunning)
        try self.lab.ip("route del unreachable 192.0.2.1/32")
        // A refusal is an answer, too.
        #expect(try wait.waitForEnd() == 0)
        #expect(try self.wait("--config \(path) --quiet") == "0\n", "nobody has to be asked for a path")
    }

    /// From before `ip` is started, so that the figure is an upper bound; what is reached is in Benchmarks/Wait.
    @Test func theEndFollowsTheChange() throws {
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        let times = try self.lab.run(
            """
            perl -MTime::HiRes=time,sleep -e '
                for (1..9) {
                    my $pid = fork // die;
                    if (!$pid) { exec "\(Watched.program)", "wait", "-q" or die }
                    for (my $i = 0; $i < 3000 && (() = glob "/proc/$pid/task/*") < 2; $i++) { sleep 0.01 }
                    sleep 0.05;
                    my $start = time;
                    system("ip route add default via 192.0.2.1") == 0 or die;
                    waitpid($pid, 0);
                    printf "%.1f\\n", (time - $start) * 1000;
                    die if $?;
                    system("ip route del default") == 0 or die;
                }'
            """
        )
        let milliseconds = times.split(separator: "\n").compactMap { Double($0) }.sorted()
        try #require(milliseconds.count == 9)
        print("a default route until netpath wait has ended, ip included: \(milliseconds[4]) ms")
        // Beside other tests; whoever polls takes longer.
        #expect(milliseconds[4] < 500)
    }

    /// As by `status`: an answer that could be given at once must not wait for a program to start.
    @Test func pluginsVoteWhereTheyAreAsked() throws {
        _ = try self.addUplink()
        let hello = #"echo "{\"netpath\":1,\"name\":\"mine\"}""#
        let word = #"echo "{\"conclusion\":{\"status\":\"unsatisfied\",\"reason\":\"the modem sleeps\"}}""#
        let path = try Watched.write(
            """
            backends:
              - {type: exec, command: [/bin/sh, -c, '\(hello); \(word); exec sleep 1000']}
              - {type: netlink}

            """,
            in: self.lab
        )
        #expect(try self.wait("--config \(path) --quiet") == "0\n")
        // The plugin may still be starting when netlink has its say.
        try self.wait("--config \(path) --probe --timeout 5s") { $0.contains("the modem sleeps\n3\n") }
        let output = try self.wait("--config \(path) --probe --not --quiet")
        #expect(output == "0\n")
    }

    // MARK: Stable

    @Test func aFlapBeginsItAnew() throws {
        _ = try self.addUplink()
        let (wait, screen) = try self.startOnTerminal("--stable 10s")
        try self.look(for: "met for [0-9]* s of 10s", on: screen)
        try self.lab.ip("route replace unreachable default")
        try self.look(for: "an unreachable route or rule refuses packets", on: screen)
        let restored = ContinuousClock.now
        try self.lab.ip("route replace default via 192.0.2.1")
        #expect(try self.rest(of: wait).contains("ended 0"))
        #expect(ContinuousClock.now - restored >= .seconds(10))
    }

    // MARK: What never comes

    @Test func timeIsUp() throws {
        let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        try self.wait("--timeout 300ms") {
            $0 == "netpath: timed out after 300ms: wan0 has an address but no route to the internet\n3\n"
        }
        try wan.setPeerCarrier(false)
        try self.wait("--timeout 0") { $0 == "netpath: timed out after 0s: wan0: no carrier\n3\n" }
        try self.wait("--timeout 0 --interface eth9") { $0.contains("there is no interface eth9") }
    }

    @Test func nothingThatIsThereCanComeUp() throws {
        #expect(
            try self.wait("--fail-fast").hasPrefix(
                "netpath: nothing that is there now can come up: there is no network interface besides loopback\n"
            )
        )
        let wan = try self.addUplink()
        #expect(try self.wait("--fail-fast --interface eth9 --quiet") == "1\n")
        try wan.setDown()
        let output = try self.wait("--fail-fast")
        #expect(output.hasPrefix("netpath: nothing that is there now can come up: wan0 is administratively down\n"))
        #expect(output.contains("`ip link set wan0 up`"), "\(output)")
        #expect(output.hasSuffix("\n1\n"))
        // What helps wan0 does not help another one.
        #expect(try self.wait("--fail-fast --interface eth9").hasSuffix("there is no interface eth9\n1\n"))
        try self.lab.ip("addr del 192.0.2.2/24 dev wan0")
        try wan.setUp()
        // An address may still come for as long as the configuration grants.
        #expect(try self.wait("--fail-fast --set grace=1s").contains("wan0 has no address"))
        #expect(try self.wait("--fail-fast --set grace=1h --timeout 1500ms --quiet") == "3\n")
    }

    @Test func whatTheConfigurationNeverMeets() throws {
        _ = try self.addUplink()
        let output = try self.wait("--internet")
        #expect(output.contains("--internet can never be met"))
        #expect(output.contains("tcpProbe"))
        #expect(output.hasSuffix("\n78\n"))
        #expect(try self.wait("--config /nowhere --quiet").hasSuffix("\n78\n"))
    }

    @Test(arguments: [
        "--interface ''", "--interface 'a['", "--type loopback", "--host 'a b'", "--stable soon",
        "--status satisfied --status unsatisfied", "--all --any", "--family ipv5",
    ])
    func wrongUsage(_ words: String) throws {
        #expect(try self.wait(words).hasSuffix("\n64\n"))
    }

    // MARK: Signals, and who looks

    @Test(arguments: [MonitorProcess.Signal.interrupt, .terminate])
    func aSignalIsNoAnswer(_ signal: MonitorProcess.Signal) throws {
        let wait = try self.start()
        #expect(try wait.stop(signal: signal) == 128 + signal.rawValue)
        #expect(wait.standardError == "")
    }

    @Test func hangUpReadsTheConfigurationAgain() throws {
        _ = try self.addUplink()
        let path = try Watched.write("interfaces: [{match: {name: wan0}, ignore: true}]\n", in: self.lab)
        let wait = try self.start("--config", path)
        #expect(wait.isRunning)
        try self.lab.run("echo 'grace: 1s' >\(path)")
        wait.sendSignal(.hangUp)
        #expect(try wait.waitForEnd() == 0)
    }

    /// To close what watches files takes longer than everything else at the end.
    @Test func filesAreWatchedOnlyWhereTheyMatter() throws {
        // Outside a user namespace of its own the limit would be the machine's.
        guard try self.lab.run("awk '{ print $3 }' /proc/self/uid_map") == "1\n" else { return }
        try self.lab.setParameter("user/max_inotify_instances", to: 0)
        #expect(try !self.wait("--timeout 300ms").contains("file watcher"))
        #expect(try !self.wait("--timeout 300ms --host 192.0.2.9").contains("file watcher"))
        #expect(try self.wait("--timeout 2s --dns").contains("the system grants no file watcher"))
    }

    /// Nobody looks, so nothing happens while nothing happens.
    @Test func patienceSleeps() throws {
        let wait = try self.start(
            "--timeout",
            "1h",
            "--stable",
            "1s",
            "--fail-fast",
            "--not",
            "--status",
            "unsatisfied"
        )
        #expect(try wait.contextSwitches(in: .seconds(2)) == 0)
    }

    @Test func aTerminalSaysWhatIsMissing() throws {
        try self.lab.addUplink("wan0", addresses: [])
        try self.lab.ip("link set wan0 down")
        let (wait, screen) = try self.startOnTerminal("")
        try self.look(for: "every network interface is administratively down, [1-9]", on: screen)
        try self.lab.ip("link set wan0 up")
        try self.look(for: "wan0: no address, [1-9]", on: screen)
        try self.lab.ip("addr add 192.0.2.2/24 dev wan0")
        try self.lab.ip("route add default via 192.0.2.1")
        let output = try self.rest(of: wait)
        #expect(output.contains("\r\u{1B}[Kmet after "), "the line is gone")
        #expect(output.contains("ended 0"))
    }

    /// Starts the command on a terminal; what that is sent is in the file it returns, too.
    private func startOnTerminal(_ arguments: String) throws -> (MonitorProcess, screen: String) {
        let screen = "\(self.lab.directory)/screen"
        let wait = try self.lab.start(
            "script",
            ["-qfec", "\(Watched.program) wait \(arguments); echo ended $?", screen],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"]
        )
        return (wait, screen)
    }

    /// Waits until a terminal was sent a text; the line has no end, so it is looked for in all that was sent.
    private func look(for text: String, on screen: String) throws {
        try self.lab.run(
            "for i in $(seq 300); do grep -q '\(text)' \(screen) && break; sleep 0.1; done; grep -q '\(text)' \(screen)"
        )
    }

    private func rest(of wait: MonitorProcess) throws -> String {
        var output = ""
        while !output.contains("ended") { output += try wait.nextText() + "\n" }
        return output
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What a probe asks of the network in a minute, counted where it arrives, whatever happens to the process; prints its
/// figures.
@Suite(.needsNamespaces, .serialized)
struct ProbeBudgetTests {
    private static let limit = 6

    /// A machine with an uplink, a server behind it, and a name server of its own that knows no name.
    private struct World {
        let lab: NetworkNamespace
        let server: LabServer
        private let queries: String

        init() throws {
            self.lab = try NetworkNamespace(resolverConfiguration: "nameserver 127.0.0.1\n")
            let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
            try self.lab.addFarAddress("192.0.2.1/24", behind: wan)
            self.server = try self.lab.startServer(ports: [80])
            self.queries = "\(self.lab.directory)/queries"
            try self.lab.serveNoNames(writingTo: self.queries)
        }

        /// How many connections were accepted, and how many lookups were made.
        func attempts() throws -> (connections: Int, lookups: Int) {
            let queries = try String(contentsOfFile: self.queries, encoding: .utf8).split(separator: "\n")
            // A lookup asks for the addresses of both families.
            return (try self.lab.connectionsToFarSide(), queries.count { $0 == "gone.example A" })
        }

        /// Counts what a storm leads to; no longer than a minute each time the limit applies.
        func expectBudget(_ storm: String, since start: ContinuousClock.Instant) throws {
            let elapsed = ContinuousClock.now - start
            let (connections, lookups) = try self.attempts()
            print("\(storm) in \(elapsed): \(connections) connections, \(lookups) lookups")
            #expect(connections + lookups <= ProbeBudgetTests.limit * (1 + Int(elapsed / .seconds(60))))
            #expect(connections + lookups > 1, "nothing was probed, so nothing was tested")
        }
    }

    private static func configuration(_ target: String, timeout: Int = 500) -> String {
        """
        backends: [{type: netlink}, {type: tcpProbe, targets: ["\(target):80"], maxPerMinute: \(Self.limit), \
        timeout: \(timeout)ms}]
        logging: {level: info}
        """
    }

    /// What pauses in a black hole are computed with: the kernel sends no more than three packets in one attempt.
    @Test func anAttemptThatNothingAnswersCostsThreePackets() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.addFarAddress("192.0.2.1/24", behind: wan)
        _ = try lab.runOnFarSide("ip route add blackhole 203.0.113.0/24")
        let outcome = try lab.run("\(Watched.program) reach 203.0.113.7:443 --connect 2>&1; true")
        #expect(outcome.contains("nothing came back in time"), "\(outcome)")
        let repeated = try lab.run(
            """
            awk '/^TcpExt:/ { if (n) print $n; else for (i = 1; i <= NF; i++) if ($i == "TCPSynRetrans") n = i }' \
                /proc/net/netstat
            """
        )
        let count = try #require(Int(repeated.filter(\.isNumber)))
        #expect((1...2).contains(count))
    }

    @Test func aHundredReloadsStartNoNewBudget() throws {
        let world = try World()
        let start = ContinuousClock.now
        let path = try Watched.write(Self.configuration("192.0.2.1"), in: world.lab)
        let monitor = try world.lab.start(Watched.program, ["watch", "--json", "--config", path])
        try monitor.next { $0["internet"] == "reachable" }
        for reload in 1...100 {
            let text = Self.configuration("192.0.2.1", timeout: 500 + reload)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            try monitor.waitForMessages(reload, "restarted: tcpProbe")
        }
        try world.expectBudget("100 reloads", since: start)
        // What was known is told by every new run; a run that has not spoken is the only gap.
        var lines = try monitor.drain()
        let deadline = ContinuousClock.now + .seconds(60)
        while lines.last?["internet"] != "reachable" {
            try #require(ContinuousClock.now < deadline, "\(lines)")
            usleep(5_000)
            lines += try monitor.drain()
        }
        #expect(lines.allSatisfy { $0["internet"] != "unreachable" && $0["status"] == "satisfied" })
    }

    @Test func aNameThatDoesNotResolveIsLookedUpWithinTheBudget() throws {
        let world = try World()
        let start = ContinuousClock.now
        let watched = try Watched(world.lab, configuration: Self.configuration("gone.example"))
        try watched.monitor.next { $0["internet"] == "unreachable" }
        for step in 1...200 {
            try world.lab.ipBatch(
                ["address add 198.51.100.\(step)/32 dev wan0", "address del 198.51.100.\(step)/32 dev wan0"]
            )
            // The changes are to be spread over the time; what is measured is what happens meanwhile.
            let next = start + .milliseconds(50 * step)
            if next > .now { Thread.sleep(forTimeInterval: (next - .now) / .seconds(1)) }
        }
        try world.expectBudget("200 changes of addresses", since: start)
    }
}

extension MonitorProcess {
    /// Waits until the program has written a text to its standard error so many times.
    fileprivate func waitForMessages(_ count: Int, _ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while self.standardError.split(separator: "\n").count(where: { $0.contains(text) }) < count {
            try #require(ContinuousClock.now < deadline, "not \(count) times '\(text)' in: \(self.standardError)")
            usleep(10_000)
        }
    }
}

extension NetworkNamespace {
    /// Answers at 127.0.0.1 that there is no such name, whatever is asked for, and writes every question to a file.
    fileprivate func serveNoNames(writingTo file: String) throws {
        try self.run(
            """
            perl -MIO::Socket::INET -e '
                $s = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1", LocalPort => 53) or die;
                open F, ">", "\(file)"; select F; $| = 1; print "ready\\n";
                while ($from = $s->recv($q, 512)) {
                    ($name, $type) = substr($q, 12) =~ /^(.*?)\\0(..)/s or next;
                    print join(".", unpack("(C/a)*", $name)), $type eq "\\0\\1" ? " A\\n" : " other\\n";
                    ($end) = substr($q, 12) =~ /^(.*?\\0....)/s;
                    $s->send(substr($q, 0, 2) . pack("n5", 0x8583, 1, 0, 0, 0) . $end, 0, $from);
                }' >/dev/null 2>&1 &
            for i in $(seq 100); do grep -q ready \(file) 2>/dev/null && break; sleep 0.1; done
            grep -q ready \(file)
            """
        )
    }
}

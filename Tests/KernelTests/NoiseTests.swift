// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What must not look like a change, and storms that must not make the monitor deaf.
@Suite(.needsNamespaces)
struct NoiseTests {
    private func online(_ configuration: String? = nil) throws -> (Watched, LabInterface) {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab, configuration: configuration)
        try watched.expect("satisfied", "routed")
        return (watched, wan)
    }

    @Test func twentyContainersPublishNothing() throws {
        let (watched, wan) = try self.online()
        let lab = watched.lab
        let lines = try watched.monitor.lines(markedOn: wan) {
            let bridge = try lab.addBridge("docker0")
            try bridge.addAddress("172.17.0.1/16")
            for number in 0..<20 {
                let container = try lab.addUplink("veth\(number)", isUp: false)
                try lab.ip("link set veth\(number) master docker0 up")
                try container.setPeerCarrier(false)
                try container.delete()
            }
            try bridge.delete()
        }
        #expect(lines.before.map(\.text) == [])
        #expect(lines.settled["status"] == "satisfied")
        #expect(lines.settled.interfaceNames == ["wan0"])
    }

    @Test func flagsThatMeanNothingPublishNothing() throws {
        let (watched, wan) = try self.online()
        let lines = try watched.monitor.lines(markedOn: wan) {
            for _ in 0..<5 {
                try watched.lab.ip("link set wan0 promisc on allmulticast on mtu 1400")
                try watched.lab.ip("link set wan0 promisc off allmulticast off mtu 1500")
            }
            try watched.lab.ip("link set wan0 alias something")
        }
        #expect(lines.before.map(\.text) == [])
    }

    @Test func thousandsOfAddressesThatGoAreOneChange() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let addresses = (0..<2000).map { "10.\($0 / 200).\($0 % 200).1/32 dev \(wan.name)" }
        try lab.ipBatch(addresses.map { "address add \($0)" })
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try lab.ipBatch(addresses.map { "address del \($0)" })
        var lines = 1
        try watched.monitor.next { line in
            let left = line.interface(named: "wan0")?["addresses"]?.elements.count
            lines += left == 1 ? 0 : 1
            return left == 1
        }
        // The first at once, the others when no more come; a busy machine lets `ip` delete them in many pieces.
        // Each told for itself, they are hundreds.
        #expect(lines <= 100)
    }

    @Test func fiveThousandInterfaces() throws {
        let lab = try NetworkNamespace()
        try lab.addInterfaces(5000, prefix: "if")
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let line = try watched.expect("satisfied", "routed")
        #expect(line.interfaceNames == ["wan0"])
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
        let again = try watched.expect("satisfied", "routed") {
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        }
        #expect(again["backends"]?[0]?["resynchronizations"] == 0)
    }

    @Test func hundredThousandUnrelatedRoutes() throws {
        let (watched, wan) = try self.online()
        let lines = try watched.monitor.lines(markedOn: wan) {
            try watched.lab.addUnrelatedRoutes(100_000, through: wan)
        }
        #expect(lines.before.isEmpty)
        #expect(lines.settled["backends"]?[0]?["resynchronizations"] == 0, "the kernel filtered none of them away")
        try watched.expect("unsatisfied", "noRoute") { try watched.lab.removeDefaultRoute() }
    }

    @Test func lostEventsAreMadeGood() throws {
        let (watched, wan) = try self.online(
            """
            backends:
              - type: netlink
                receiveBuffer: 2048
            """
        )
        let lab = watched.lab
        // A stopped process does not read, and this much no buffer of that size holds.
        watched.monitor.sendSignal(.suspend)
        try lab.ipBatch((0..<2000).map { "address add 198.19.\($0 / 250).\($0 % 250)/32 dev wan0" })
        try lab.removeDefaultRoute()
        try lab.ip("link set wan0 name wan9")
        watched.monitor.sendSignal(.resume)
        let line = try watched.monitor.next { $0.interfaceNames.contains("wan9") && $0.reason == "noRoute" }
        #expect(line["status"] == "unsatisfied")
        let resynchronizations = line["backends"]?[0]?["resynchronizations"]?.number ?? 0
        #expect(resynchronizations > 0, "nothing was lost, so nothing was tested")
        // And it is not deaf afterwards.
        let renamed = LabInterface("wan9", in: lab)
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: "192.0.2.1", through: renamed) }
        _ = wan
    }

    @Test func onlyTheKernelIsBelieved() throws {
        let (watched, wan) = try self.online()
        let index = try wan.index()
        // Any process may write to the port of another one's netlink socket; this one claims that the uplink is gone.
        let forgery = """
            perl -MSocket -e 'open(F, "<", "/proc/\(watched.monitor.processIdentifier)/net/netlink") or die; \
            my $sent = 0; while (<F>) { my @c = split; next unless $c[1] eq "0" && $c[2] > 0 && hex($c[3]) != 0; \
            socket(S, 16, 3, 0) or die; my $m = pack("LSSLL CxSlLL", 32, 17, 0, 0, 0, 0, 1, \(index), 0, 0); \
            defined(send(S, $m, 0, pack("SSLL", 16, 0, $c[2], 0))) or die "send: $!"; $sent++; } print $sent;'
            """
        let lines = try watched.monitor.lines(markedOn: wan) {
            let forged = try watched.lab.run(forgery)
            #expect(forged == "1", "nothing was forged, so nothing was tested")
        }
        #expect(lines.before.map(\.text) == [])
        #expect(lines.settled["status"] == "satisfied")
    }

    @Test func slowReaderDoesNotDeafenTheMonitor() throws {
        let (watched, wan) = try self.online()
        watched.monitor.isReadingSuspended = true
        // Far more lines than a pipe holds.
        for _ in 0..<300 {
            try watched.lab.removeDefaultRoute()
            try watched.lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        }
        try watched.lab.removeDefaultRoute()
        let mark = try watched.lab.mark(on: wan)
        watched.monitor.isReadingSuspended = false
        let lines = try watched.monitor.lines(until: mark)
        #expect(lines.settled["status"] == "unsatisfied")
        #expect(lines.settled["backends"]?[0]?["resynchronizations"] == 0)
    }
}

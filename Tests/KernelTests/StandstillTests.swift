// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A monitor that stands still while the world goes on, as in a container that is frozen: what it says when it goes on.
///
/// The sleep of the whole machine, which no namespace has, is tried in a machine of its own (Tests/Lab, Tests/Systemd).
@Suite(.needsNamespaces, .serialized)
struct StandstillTests {
    private static let target = "198.51.100.7"

    /// An uplink, behind whose gateway a host answers.
    private func answerBeyond(_ lab: NetworkNamespace) throws -> LabServer {
        try lab.runOnFarSide("ip address add 192.0.2.1/24 dev $(ls /sys/class/net | grep peer) 2>/dev/null || true")
        return try lab.startServer(.listening, ports: [80])
    }

    /// What changed meanwhile is told within 100 ms, and nothing else is before it.
    @Test(arguments: Standstill.available)
    func rightAtOnce(_ standstill: Standstill) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let stander = try Stander(watched.monitor, by: standstill)
        var times: [Duration] = []
        for round in 0..<6 {
            let isLost = round % 2 == 0
            let begin = try stander.standing {
                // As much as would be told one by one, had it not stood still.
                for number in 0..<50 { try lab.ip("address add 198.18.7.\(number)/32 dev wan0") }
                for number in 0..<50 { try lab.ip("address del 198.18.7.\(number)/32 dev wan0") }
                if isLost {
                    try lab.removeDefaultRoute()
                } else {
                    try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
                }
            }
            let expected = isLost ? "unsatisfied" : "satisfied"
            let line = try watched.monitor.next { line in
                #expect(line["status"]?.string == "satisfied" || line["status"]?.string == "unsatisfied")
                return line["status"]?.string == expected
            }
            times.append(line.receivedAt - begin)
        }
        print("right after \(standstill.rawValue): \(times)")
        #expect(times.min() ?? .seconds(9) < .milliseconds(100), "\(times)")
        #expect(try watched.monitor.drain().isEmpty)
        #expect(try watched.monitor.stop() == 0)
    }

    /// Everything is read again that may have changed: another interface of the same name, with other addresses.
    @Test(arguments: Standstill.available)
    func whatWasReplacedIsReadAnew(_ standstill: Standstill) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let stander = try Stander(watched.monitor, by: standstill)
        try stander.standing {
            try wan.delete()
            try lab.addUplink("wan0", addresses: ["203.0.113.9/24"], gateway: "203.0.113.1")
        }
        let line = try watched.monitor.next {
            $0.interface(named: "wan0")?["addresses"]?.elements == ["203.0.113.9/24"]
        }
        #expect(line["status"] == "satisfied")
        #expect(line.gateways == ["203.0.113.1"])
        #expect(try watched.monitor.stop() == 0)
    }

    /// A service with all that has deadlines: a probe, a plugin with a heartbeat, hooks, and a backend that looks again and again.
    @Test(arguments: Standstill.available)
    func longerThanAllDeadlines(_ standstill: Standstill) throws {
        let place = try ServiceLab()
        let lab = place.lab
        let folder = lab.directory
        try lab.ip("address add \(Self.target)/32 dev lo")
        let plugin =
            #"echo "{\"netpath\":1,\"heartbeat\":3}"; "#
            + #"while :; do echo "{\"unavailable\":\"nothing\"}"; sleep 0.3; done"#
        let hook = "[/bin/sh, -c, 'echo $NETPATH_PREVIOUS_STATUS-$NETPATH_STATUS >>\(folder)/told']"
        let configuration = try Watched.write(
            """
            backends:
              - {type: netlink}
              - {type: sysfs, mode: active, interval: 200ms}
              - {type: tcpProbe, targets: ["\(Self.target):80"], interval: 1s, timeout: 500ms}
              - {type: exec, name: plugin, command: [/bin/sh, -c, '\(plugin)']}
            hooks:
              - {name: told, command: \(hook)}
              - {name: later, for: 700ms, command: \(hook)}
            """,
            in: lab
        )
        let service = try place.start([:], "--config", configuration)
        let client = try SocketClient(place.socket)
        try client.write(#"{"request":"watch"}"# + "\n")
        try client.await(#""internet":"reachable""#)
        let told = { try lab.run("cat \(folder)/told 2>/dev/null || true").split(separator: "\n").map(String.init) }
        try self.wait { try told().count == 2 }
        let stander = try Stander(service, by: standstill)
        // The passing of time is what is tested: of more than a heartbeat and what a late timer is granted.
        try stander.standing { Thread.sleep(forTimeInterval: 4) }
        // Longer than everything may take that is due then, and a heartbeat.
        Thread.sleep(forTimeInterval: 4)
        let status = try JSONValue(json: place.ask("status --service --json").components(separatedBy: "status 0")[0])
        #expect(status["status"] == "satisfied" && status["internet"] == "reachable")
        #expect(status["stale"] == false)
        for backend in status["backends"]?.elements ?? [] {
            #expect(backend["restarts"] == 0, "\(backend)")
            #expect(backend["name"] == "plugin" || backend["health"] == "healthy", "\(backend)")
        }
        #expect(!service.standardError.contains("unsatisfied"), "\(service.standardError)")
        #expect(!service.standardError.contains("wrote no line"), "\(service.standardError)")
        #expect(try told() == ["-satisfied", "-satisfied"])

        // What changes meanwhile is told once, and what came back is not.
        try stander.standing {
            try lab.removeDefaultRoute()
            Thread.sleep(forTimeInterval: 1)
        }
        try self.wait { try told().count == 4 }
        #expect(try told().suffix(2) == ["satisfied-unsatisfied", "satisfied-unsatisfied"])
        try stander.standing {
            try lab.addDefaultRoute(via: "192.0.2.1", through: LabInterface("wan0", in: lab))
            try lab.removeDefaultRoute()
            Thread.sleep(forTimeInterval: 1)
        }
        Thread.sleep(forTimeInterval: 1)
        #expect(try told().count == 4)
        #expect(try service.stop() == 0)
    }

    private func wait(for condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            try #require(ContinuousClock.now < deadline)
            usleep(20_000)
        }
    }

    /// A machine that has slept for nine days before: that is no sleep of the service's.
    @Test func aBootClockThatIsAhead() throws {
        let place = try ServiceLab()
        let service = try place.lab.start(
            "unshare",
            [
                "--time", "--monotonic", "86400", "--boottime", "864000", "--fork", "--kill-child", Watched.program,
                "run",
            ],
            environment: place.environment
        )
        try place.message("satisfied", in: service)
        try place.lab.removeDefaultRoute()
        try place.message("unsatisfied", in: service)
        try place.history("there was none once")
        #expect(try !place.ask("history").contains("slept"))
        let status = try place.ask("status --service --json")
        #expect(status.contains(#""reason":{"code":"noRoute""#), "\(status)")
        service.sendSignal(.kill)
    }
}

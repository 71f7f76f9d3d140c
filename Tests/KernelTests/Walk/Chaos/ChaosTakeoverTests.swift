// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// One takeover at a time, with the times it takes and what is shown of it.
@Suite(.needsNamespaces)
struct ChaosTakeoverTests {
    private static func backends(_ options: String, sysfs mode: String) -> String {
        "backends: [{type: netlink, \(options)}, {type: sysfs, mode: \(mode), \(options)}]\n"
    }

    /// Two uplinks with a default route each; the kernel fails over from one to the other.
    private static var twoUplinks: Walk.Step {
        var start = NetworkModel()
        start.ignoresRoutesWithoutCarrier = true
        var step = Walk.Step(in: start)
        for number in 0...1 {
            step.extend(by: .addInterface(.uplink, name: "wan\(number)", isUp: true, isPlugged: true))
            let interface = step.model.interfaces[number]
            let subnet = "10.\(interface.id).0."
            step.extend(
                by: .addAddress(
                    NetworkModel.Address(family: .ipv4, text: "\(subnet)2/24", gateway: "\(subnet)1"),
                    interface
                )
            )
            let route = NetworkModel.Route(
                family: .ipv4,
                table: NetworkModel.mainTable,
                destination: .everything,
                metric: interface.id * 100,
                target: .nextHops([NetworkModel.Leg(interface: interface.id, gateway: "\(subnet)1")])
            )
            step.extend(by: .addRoute(route))
        }
        return step
    }

    private static func step(_ lab: ChaosLab, _ operation: (NetworkModel) -> NetworkOperation) -> Walk.Step {
        var step = Walk.Step(in: lab.model)
        step.extend(by: operation(lab.model))
        return step
    }

    @Test func standbyTakesOverWithinASecondFollowsAndHandsBack() throws {
        var lab = try ChaosLab(Self.twoUplinks) { Self.backends($0, sysfs: "standby") }
        var times: [Duration] = []
        // What else the machine does only adds to it.
        repeat {
            if !times.isEmpty { lab.order("netlink work") }
            try lab.settle()
            let broken = ContinuousClock.now
            lab.order("netlink fail")
            let takeover = try lab.next("a takeover") { $0.health(of: "sysfs") == "healthy" && $0["stale"] == false }
            times.append(takeover.receivedAt - broken)
            #expect(ExpectedVerdict(takeover.value) == lab.model.verdict)
            #expect(takeover.health(of: "netlink") == "unhealthy")
            #expect(takeover.backend("netlink")?["error"] == "killed on purpose")
        } while times.count < 3 && times.min() ?? .zero >= .seconds(1)
        print("takeover after \(times)")
        #expect(times.min() ?? .seconds(9) < .seconds(1), "\(times)")

        // What happens meanwhile is seen, by polling.
        try lab.take(Self.step(lab) { .setPlugged($0.interfaces[0], false) })
        #expect(lab.model.verdict.egress == ["wan1"])
        let verdict = lab.model.verdict
        try lab.next(within: .seconds(60), "the failover") { ExpectedVerdict($0.value) == verdict }

        lab.order("netlink work")
        let back = try lab.next("the hand-back") { $0.health(of: "netlink") == "healthy" }
        #expect(ExpectedVerdict(back.value) == verdict)
        #expect(back.backend("netlink")?["error"] == .null)
        #expect((back.backend("netlink")?["restarts"]?.number ?? 0) > 0)
        try lab.settle()
        let after = try lab.network.lab.run("\(WalkEnvironment.program) status --json --config \(lab.configuration)")
        #expect(try ExpectedVerdict(JSONValue(json: after)) == verdict)
    }

    @Test func wedgeIsFoundByWhatAnotherBackendSees() throws {
        var lab = try ChaosLab(Self.twoUplinks) { Self.backends($0, sysfs: "active") }
        try lab.settle()
        var times: [Duration] = []
        // What else the machine does only adds to it.
        repeat {
            if !times.isEmpty {
                try lab.take(Self.step(lab) { .setPlugged($0.interfaces[0], true) })
                try lab.settle()
            }
            lab.order("netlink wedge")
            try lab.take(Self.step(lab) { .setPlugged($0.interfaces[0], false) })
            let changed = ContinuousClock.now
            let verdict = lab.model.verdict
            let line = try lab.next(within: .seconds(60), "the wedge") { $0.health(of: "netlink") == "unhealthy" }
            times.append(line.receivedAt - changed)
            #expect(line.backend("netlink")?["error"]?.string?.contains("refresh") == true)
            try lab.next(within: .seconds(60), "the failover") { ExpectedVerdict($0.value) == verdict }
            lab.order("netlink work")
            try lab.settle()
        } while times.count < 3 && times.min() ?? .zero >= .seconds(4)
        // Sysfs looks every 2 s when all is quiet, and a refresh may take a second to be answered.
        print("wedge noticed after \(times)")
        #expect(times.min() ?? .seconds(9) < .seconds(4), "\(times)")
    }

    /// The path stays, marked stale, when nobody is left to ask.
    @Test func everybodyBrokenIsNotOffline() throws {
        var lab = try ChaosLab(Self.twoUplinks) { Self.backends($0, sysfs: "active") }
        try lab.settle()
        for backend in ["netlink", "sysfs"] { lab.order("\(backend) fail") }
        let line = try lab.next("a stale path") { $0["stale"] == true && $0.health(of: "sysfs") == "unhealthy" }
        #expect(ExpectedVerdict(line.value) == lab.model.verdict)
        for backend in ["sysfs", "netlink"] { lab.order("\(backend) work") }
        try lab.settle()
    }

    /// The test of the test: a false word is found.
    @Test func aLieIsFoundOut() throws {
        var lab = try ChaosLab(Self.twoUplinks) { Self.backends($0, sysfs: "standby") }
        try lab.settle()
        lab.order("netlink lie")
        let error = #expect(throws: WalkFailure.self) {
            try lab.next(within: .seconds(60), "a word") { $0["status"] == "unsatisfied" }
        }
        #expect(error?.description.contains("never true") == true)
    }
}

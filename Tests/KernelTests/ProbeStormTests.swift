// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What a probe costs while the network never comes to rest; prints its figures.
@Suite(.needsNamespaces, .serialized)
struct ProbeStormTests {
    private struct Cost {
        var cpuTime: Duration
        var elapsed: Duration
        var connections: Int

        var percent: Double { (self.cpuTime / self.elapsed * 1000).rounded() / 10 }
    }

    /// Lets the default route go and come 10,000 times in all within 10 s.
    private func storm(probes: Bool) throws -> Cost {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.runOnFarSide("ip address add 192.0.2.1/24 dev \(wan.peerName ?? "")")
        let server = try lab.startServer(ports: [80])
        let probe = probes ? ", {type: tcpProbe, targets: [\"192.0.2.1:80\"], maxPerMinute: 60}" : ""
        let watched = try Watched(lab, configuration: "backends: [{type: netlink}\(probe)]")
        try watched.expect("satisfied", "routed")
        if probes { try server.nextConnection(to: 80) }
        let (before, start) = (try watched.monitor.cpuTime(), ContinuousClock.now)
        for step in 1...100 {
            try lab.ipBatch(
                (0..<50).flatMap { _ in
                    ["route del default", "route add default via 192.0.2.1 dev wan0"]
                }
            )
            // The events are to be spread over the time; what is measured is what happens meanwhile.
            let next = start + .milliseconds(100 * step)
            if next > .now { Thread.sleep(forTimeInterval: (next - .now) / .seconds(1)) }
        }
        let cost = Cost(
            cpuTime: try watched.monitor.cpuTime() - before,
            elapsed: .now - start,
            connections: try lab.connectionsToFarSide()
        )
        _ = server
        return cost
    }

    @Test func aStormCostsTheProbeNextToNothing() throws {
        let without = try self.storm(probes: false)
        let with = try self.storm(probes: true)
        let extra = ((with.percent - without.percent) * 10).rounded() / 10
        print(
            """
            10,000 path events: \(without.percent) % of a core in \(without.elapsed) without a probe, \
            \(with.percent) % in \(with.elapsed) with one (\(extra) % more), \(with.connections) probes
            """
        )
        // 30 at once, one every 2 s, and a moment more.
        #expect(with.connections <= 30 + Int(with.elapsed / .seconds(2)) + 2)
        #expect(with.connections > 1, "nothing was probed, so nothing was tested")
        #expect(extra < 5)
    }
}

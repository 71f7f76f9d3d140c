// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import Reachability

extension Fixtures {
    /// A host that is reached through a gateway.
    static func host(_ text: String = "example.net:443") throws -> HostSnapshot {
        let verdict = DestinationVerdict(
            isRouted: true,
            reason: PathReason(.routed, ""),
            interfaceIndex: 2,
            interface: .wired("wan0", 2).with("192.0.2.2/24"),
            gateway: .fixture("192.0.2.1"),
            source: .fixture("192.0.2.2")
        )
        let status = HostStatus([(.fixture("203.0.113.9"), verdict)])
        return HostSnapshot(target: try HostTarget(text), status: status, takenAt: Self.clock)
    }
}

@Suite struct HostSnapshotTests {
    private let plain = TextStyle(isColored: false, width: nil)

    @Test func text() throws {
        var snapshot = try Fixtures.host()
        let headline = "REACHABLE  example.net: 203.0.113.9 through wan0 via 192.0.2.1\n"
        #expect(try Fixtures.host("example.net").screen(self.plain) == headline)
        let untried = "  Port 443        not tried: --connect makes a TCP connection\n"
        #expect(snapshot.screen(self.plain) == headline + untried)
        snapshot.connection = ProbeOutcome(target: "", result: .connected, roundTrip: .milliseconds(12))
        #expect(snapshot.screen(self.plain).hasPrefix("CONNECTED  example.net"))
        #expect(snapshot.screen(self.plain).hasSuffix("\n  TCP port 443    made after 12 ms\n"))
        snapshot.connection = ProbeOutcome(target: "", result: .refused)
        #expect(snapshot.screen(self.plain).hasPrefix("NOT CONNECTED  example.net"))
        snapshot.connection = nil
        snapshot.status = .unknown(PathReason(.notResolved, "no \u{1B}[2J such name"))
        #expect(snapshot.screen(self.plain).hasPrefix("UNKNOWN  no "))
        #expect(!snapshot.screen(self.plain).contains("\u{1B}"))
        let line = snapshot.line { CivilTime($0, offsetSeconds: 0) }
        #expect(line.hasSuffix("such name\n") && line.contains(" unknown: no "))
    }

    @Test func exitStatus() throws {
        var snapshot = try Fixtures.host()
        #expect(ToolStatus(snapshot) == .satisfied)
        for (result, status) in [
            (.connected, .satisfied), (.refused, .unsatisfied), (.timedOut, .unsatisfied), (.notResolved, .unavailable),
        ] as [(ProbeOutcome.Result, ToolStatus)] {
            snapshot.connection = ProbeOutcome(target: "", result: result)
            #expect(ToolStatus(snapshot) == status)
        }
        snapshot.connection = nil
        snapshot.status = .unreachable(PathReason(.noRoute, ""))
        #expect(ToolStatus(snapshot) == .unsatisfied)
        snapshot.status = .unknown(PathReason(.resolving, ""))
        #expect(ToolStatus(snapshot) == .unavailable)
    }
}

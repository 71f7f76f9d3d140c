// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

/// The monitor against sockets of this process: nothing leaves the loopback interface.
struct LoopbackTests {
    @Test(.timeLimit(.minutes(5))) func connected() async throws {
        let listener = try Listener()
        let path = try await RunningProbe(.to(listener.target)).path()
        #expect(path.status == .satisfied)
        #expect(path.reason.code == .probeAnswered)
        #expect(path.probes == [ProbeOutcome(target: listener.target, result: .connected)])
        let roundTrip = try #require(path.probes.first?.roundTrip)
        #expect(roundTrip > .zero && roundTrip < .seconds(10))
        #expect(path.internet == .reachable)
    }

    @Test(.timeLimit(.minutes(5))) func refused() async throws {
        let bound = try Listener(backlog: -1)
        let path = try await RunningProbe(.to(bound.target)).path()
        #expect(path.probes == [ProbeOutcome(target: bound.target, result: .refused)])
        #expect(path.status == .satisfied)
    }

    @Test(.timeLimit(.minutes(5))) func aNameIsResolvedElsewhere() async throws {
        let listener = try Listener()
        let target = "host.example:\(listener.port)"
        let names = NameService { name in
            name == "host.example" ? .addresses([InternetAddress(ipv4: 0x7F00_0001)]) : .failed("no such name")
        }
        let path = try await RunningProbe(.to("other.example:1", target), names: names).path()
        #expect(path.probes.contains(ProbeOutcome(target: target, result: .connected)))
    }

    @Test(.timeLimit(.minutes(5))) func aNameWithoutAddressIsNotResolved() async throws {
        let names = NameService { _ in .failed("no such name") }
        let path = try await RunningProbe(.to("other.example:1"), names: names).path()
        #expect(path.probes == [ProbeOutcome(target: "other.example:1", result: .notResolved)])
        #expect(path.status == .unsatisfied)
        #expect(path.internet == .unreachable)
    }
}

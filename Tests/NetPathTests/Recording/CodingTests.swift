// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// What a recording holds is what was there: members that comparisons pass over, too.
@Suite struct CodingTests {
    /// Encodes, writes, reads and decodes; equal text means that nothing at all is lost, as nothing is left out of it.
    private func check<Value: Codable & Equatable>(_ value: Value) throws {
        let line = try CodedLine.bytes(of: value)
        let copy = try CodedLine.value(Value.self, from: line)
        #expect(copy == value)
        #expect(try CodedLine.bytes(of: copy) == line)
        // Synthesized descriptions show every member, those of property wrappers included.
        #expect("\(String(reflecting: copy))" == "\(String(reflecting: value))")
    }

    @Test func evidence() throws {
        let wired = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").with("2001:db8::7/64", state: .tentative)
        let portal = Evidence.probing(
            ProbeOutcome(target: "[::1]:80", result: .unreachable(errno: 113), roundTrip: .nanoseconds(7))
        )
        .changed { $0.probes?.portalURL = "https://portal.example/\u{7F}\"\\ü\n" }
        let remote = Evidence.stating(Conclusion(.requiresConnection, PathReason(.captivePortal, ""))).changed {
            $0.conclusion?.families = [.ipv6]
            $0.conclusion?.host = "router"
        }
        for evidence in [Evidence.noLink, .online(wired, gateway: "192.0.2.1"), portal, remote] {
            try self.check(evidence)
        }
        try self.check(
            Evidence.online(wired).changed { evidence in
                evidence.resynchronizations = 3
                evidence.suspensions = 2
                evidence.dnsServers = [DNSServer(.fixture("fe80::1"), zone: "eth0", isReachable: false)]
                evidence.dnsRoutes = [.rejected(.prohibit), .noRoute, .unknown]
                evidence.interfaces?[1].hardwareAddress = [2, 0, 0, 0, 0, 255]
                evidence.interfaces?[1].carrierSince = MonotonicTime(nanoseconds: MonotonicTime.codedLimit - 1)
                evidence.interfaces?[1].addresses[0].dynamicSince = MonotonicTime(nanoseconds: -1)
                evidence.interfaces?[1].foundation = .tunnels
                evidence.interfaces?[1].tunnelEvidence = TunnelEvidence(
                    routes: [OuterRoute(.mark, to: .fixture("203.0.113.1"), through: 4, .noRoute)],
                    gatewayedInterfaces: [1, 2],
                    formerCarriers: [3],
                    isSocketElsewhere: true
                )
            }
        )
    }

    @Test func randomEvidence() throws {
        for seed in UInt64(1)...100 {
            var generator = SeededGenerator(seed: seed)
            try self.check(EvidenceGenerator.evidence(using: &generator))
        }
    }

    /// The state of a whole machine, in the middle of its life.
    @Test func checkpoints() throws {
        for seed in UInt64(1)...12 {
            var walk = MachineWalk(seed: seed)
            _ = walk.journal(of: 60)
            let line = try CodedLine.bytes(of: walk.checkpoint)
            let copy = try CodedLine.value(CoordinatorCheckpoint.self, from: line)
            #expect(try CodedLine.bytes(of: copy) == line, "seed \(seed)")
            #expect(copy.machine.path == walk.machine.path, "seed \(seed)")
        }
    }

    @Test func numbersAtTheirLimits() throws {
        try self.check([UInt64.max, 0])
        try self.check([Int64.min, .max])
        try self.check([0.1, -0.0, 1e300, .leastNonzeroMagnitude])
        try self.check([Duration(secondsComponent: 1 << 31, attosecondsComponent: 999_999_999_999_999_999), .zero])
        // What nothing can be added to is refused: counters, moments and durations of centuries.
        for bytes in try [CodedLine.bytes(of: Int.max), CodedLine.bytes(of: Int.min)] {
            #expect(throws: DecodingError.self) { try CodedLine.value(Int.self, from: bytes) }
            #expect(throws: DecodingError.self) { try CodedLine.value(MonotonicTime.self, from: bytes) }
        }
        for duration in [Duration.seconds(1 << 33), .seconds(-1 << 33), .seconds(Int64.max)] {
            let bytes = try CodedLine.bytes(of: duration)
            #expect(throws: DecodingError.self) { try CodedLine.value(Duration.self, from: bytes) }
        }
        #expect(throws: DecodingError.self) { try CodedLine.value(UInt8.self, from: Array("256\n".utf8)) }
        #expect(throws: DecodingError.self) { try CodedLine.value([Int].self, from: Array("{}\n".utf8)) }
        #expect(throws: DecodingError.self) { try CodedLine.value(Evidence.self, from: Array("{}\n".utf8)) }
        #expect(throws: JSONFault.self) { try CodedLine.value(Int.self, from: Array("12\n]".utf8)) }
    }

    // MARK: Patches

    private func random(_ generator: inout SeededGenerator, depth: Int) -> JSONNode {
        let keys = ["a", "b", "#", "0", "1"]
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &generator) {
        case 0: return .bool(Bool.random(using: &generator))
        case 1: return .integer(Int.random(in: -2...2, using: &generator))
        case 2: return .string(keys.randomElement(using: &generator) ?? "")
        case 3: return .number(0.5)
        // Members that are null are left out of what is encoded; elements are not.
        case 4: return .object([:])
        case 5, 6:
            return .array(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    Int.random(in: 0..<6, using: &generator) == 0 ? .null : self.random(&generator, depth: depth - 1)
                }
            )
        default:
            var members: JSONObject = [:]
            for key in keys where Bool.random(using: &generator) {
                members[key] = self.random(&generator, depth: depth - 1)
            }
            return .object(members)
        }
    }

    @Test func patches() {
        for seed in UInt64(1)...3_000 {
            var generator = SeededGenerator(seed: seed)
            let old = self.random(&generator, depth: 4)
            let new = self.random(&generator, depth: 4)
            let patch = new.patch(from: old)
            #expect((patch == nil) == (old == new), "seed \(seed)")
            #expect(
                patch.map { old.patched(by: $0) } ?? old == new,
                "seed \(seed): \(old) to \(new) by \(String(describing: patch))"
            )
        }
    }

    /// A patch of somebody else's must neither crash nor take all memory.
    @Test func patchesFromElsewhere() {
        for seed in UInt64(1)...3_000 {
            var generator = SeededGenerator(seed: seed)
            _ = self.random(&generator, depth: 4).patched(by: self.random(&generator, depth: 4))
        }
        let long = JSONNode.array([.null]).patched(by: .object(["#": .integer(.max)]))
        if case .array(let elements) = long { #expect(elements.count <= 2) } else { Issue.record("\(long)") }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import NetPath

/// What the machine comes to does not depend on the order, the timing or the luck of its inputs.
@Suite struct CoordinatorOrderTests {
    /// NETPATH_ORDER_WALKS (8) random walks of each kind.
    private static let walks =
        ProcessInfo.processInfo.environment["NETPATH_ORDER_WALKS"].flatMap(UInt64.init) ?? 8
    private static let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))
    private static let moved = Evidence.online(.wired("eth1", 3).with("2001:db8::7/64"))
    private static let step = Evidence.seeing(NetworkInterface.wifi("wlan0", 3).withoutCarrier())
    private static let unknown = Self.online.unanswered(.ipv4)
    private static let answered = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected))
    private static let failed = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut))

    @Test(arguments: MergePolicy.allCases)
    func everyOrderEndsInTheSamePath(policy: MergePolicy) throws {
        typealias Event = (inout CoordinatorHarness) -> Void
        let events: [Event] = [
            { $0.report(0, Self.step) },
            { $0.report(1, .noLink) },
            { $0.report(2, Self.online) },
            { $0.report(3, Self.failed) },
            { $0.end(4) },
        ]
        let paths = permutations(Array(events.indices)).map { order in
            var harness = CoordinatorHarness(.active, .active, .active, .active, .active, merge: policy)
            harness.start()
            for position in order {
                events[position](&harness)
                harness.advance(by: .milliseconds(30))
            }
            return harness.path
        }
        #expect(paths.count == 120)
        let path = try #require(paths.first ?? nil)
        #expect(paths.allSatisfy { $0 == path })
        #expect(path.internet == .unreachable)
        #expect(path.backends.map(\.health) == [.healthy, .healthy, .healthy, .healthy, .unhealthy])
    }

    /// Two that see the same change at different times make one change of the status, whoever sees it first.
    @Test(arguments: MergePolicy.allCases)
    func theSameChangeSeenTwiceIsNoFlap(policy: MergePolicy) {
        var generator = SeededGenerator(seed: 7)
        var harness = CoordinatorHarness(.active, .active, .active, merge: policy)
        harness.start()
        for backend in 0..<3 { harness.report(backend, Self.online) }
        var truth = Self.online
        for _ in 0..<300 {
            let next = [Self.online, Self.moved, Self.step, Evidence.noLink].filter { $0 != truth }
            truth = next[Int.random(in: 0..<3, using: &generator)]
            let before = harness.published.count
            for backend in [0, 1, 2].shuffled(using: &generator) {
                harness.advance(by: .milliseconds(Int.random(in: 0..<300, using: &generator)))
                harness.report(backend, truth)
                let count = harness.published.count
                for _ in 0..<3 { harness.report(backend, truth) }
                #expect(harness.published.count == count, "the same again is nothing new")
            }
            for backend in 0..<3 { harness.report(backend, truth) }
            let statuses = harness.published[(before - 1)...].map(\.status)
            let changes = zip(statuses, statuses.dropFirst()).count { $0 != $1 }
            let status = harness.path?.status
            #expect(changes <= 1, "\(policy): \(statuses)")
            #expect(status == truth.verdict(policy: EvaluationPolicy(), now: harness.now)?.status)
        }
    }

    /// Whatever happens to them, backends that never see an outage never cause one.
    @Test(arguments: 0..<Self.walks)
    func aBrokenBackendNeverMeansOffline(seed: UInt64) {
        let seen = [Self.online, Self.moved, Self.step, Self.unknown]
        let policy = MergePolicy.allCases[Int(seed) % MergePolicy.allCases.count]
        // The last backend probes, and its probes fail: that is advice only.
        let harness = Self.walk(seed: seed, policy: policy, seeing: seen, probing: [Self.failed]) { harness in
            harness.path?.status != .unsatisfied
        }
        #expect(harness.published.count > 10)
    }

    @Test(arguments: 100..<100 + Self.walks)
    func aRandomWalkKeepsTheInvariants(seed: UInt64) {
        let seen = [Self.online, Self.moved, Self.step, Self.unknown, Evidence.noLink]
        let policy = MergePolicy.allCases[Int(seed) % MergePolicy.allCases.count]
        let harness = Self.walk(seed: seed, policy: policy, seeing: seen, probing: [Self.failed, Self.answered])
        #expect(harness.published.count > 10)
    }

    /// Two backends that see and one that probes; the harness checks every step.
    private static func walk(
        seed: UInt64,
        policy: MergePolicy,
        seeing: [Evidence],
        probing: [Evidence],
        holds: (CoordinatorHarness) -> Bool = { _ in true }
    ) -> CoordinatorHarness {
        var generator = SeededGenerator(seed: seed)
        var harness = CoordinatorHarness(.active, .active, .active, merge: policy)
        harness.start()
        harness.report(0, seeing[0])
        for step in 0..<1_000 {
            let backend = Int.random(in: 0..<3, using: &generator)
            let words = backend == 2 ? probing : seeing
            let evidence = words[Int.random(in: 0..<words.count, using: &generator)]
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...4: harness.report(backend, evidence)
            case 5: harness.report(backend, evidence, generation: max(1, harness.generations[backend] - 1))
            case 6: harness.end(backend, jitter: .random(in: 0..<1, using: &generator))
            case 7: harness.refresh()
            case 8: harness.wake()
            case 9: harness.advance(by: .seconds(Int.random(in: 0..<40, using: &generator)))
            default: harness.advance(by: .milliseconds(Int.random(in: 0..<600, using: &generator)))
            }
            guard holds(harness) else {
                Issue.record("step \(step) of seed \(seed) published \(String(describing: harness.path))")
                break
            }
        }
        return harness
    }
}

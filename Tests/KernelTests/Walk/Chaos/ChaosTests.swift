// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Synchronization
import Testing

/// Backends that break: a broken backend never means offline.
@Suite(.needsNamespaces, .serialized)
struct ChaosTests {
    /// NETPATH_CHAOS_CYCLES (200) random kill/restore cycles, five in a namespace.
    @Test func standbyTakesOverAndHandsBackWithoutAFalseTransition() {
        self.takeAll(
            ChaosRun(
                victims: ["netlink"],
                backends: { "backends: [{type: netlink, \($0)}, {type: sysfs, mode: standby, \($0)}]\n" },
                cycles: 5
            ),
            share: 1
        )
    }

    /// Half as many in which any backend may break, both at once included.
    @Test(arguments: ["active", "standby"])
    func anyBackendMayBreakAtAnyMoment(mode: String) {
        self.takeAll(
            ChaosRun(
                victims: ["netlink", "sysfs"],
                backends: { "backends: [{type: netlink, \($0)}, {type: sysfs, mode: \(mode), \($0)}]\n" },
                cycles: 5
            ),
            share: 4
        )
    }

    /// Takes runs on threads of their own, because they mostly wait.
    private func takeAll(_ run: ChaosRun, share: Int, function: String = #function) {
        let seeds = WalkEnvironment.chaosSeeds(cyclesPerRun: run.cycles * share)
        let next = Mutex(seeds.lowerBound)
        let failures = Mutex<[String]>([])
        let takeovers = Mutex(0)
        let finished = DispatchSemaphore(value: 0)
        let threads = min(10, seeds.count)
        for _ in 0..<threads {
            Thread {
                while true {
                    let seed = next.withLock { seed in
                        defer { seed += 1 }
                        return seed
                    }
                    guard seeds.contains(seed), failures.withLock({ $0.count < 3 }) else { break }
                    do {
                        let count = try run.take(seed: seed)
                        takeovers.withLock { $0 += count }
                    } catch {
                        failures.withLock {
                            $0.append("seed \(seed), repeat with NETPATH_WALK_SEED=\(seed): \(error)")
                        }
                    }
                }
                finished.signal()
            }.start()
        }
        for _ in 0..<threads { finished.wait() }
        for failure in failures.withLock({ $0 }) { Issue.record("\(failure)") }
        let count = takeovers.withLock { $0 }
        // Some harm is mended before anybody notices; with few runs it may be all of it.
        if seeds.count >= 10 { #expect(count > seeds.count / 4, "hardly anybody took over, so little was tested") }
        print(
            "\(function): \(seeds.count * run.cycles) cycles, \(count) takeovers, "
                + "\(failures.withLock(\.count)) failures"
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Synchronization
import Testing

/// Random walks decided by datagrams: the program says *satisfied* exactly if one comes back.
@Suite(.needsNamespaces, .needsTunDevices)
struct DatagramWalkTests {
    @Test(.serialized, arguments: DatagramWalk.Kind.allCases)
    func verdictIsWhatDatagramsSay(kind: DatagramWalk.Kind) async {
        let clock = ContinuousClock()
        let start = clock.now
        let results = Mutex<[(walk: DatagramWalk, outcome: DatagramWalkRunner.Outcome)]>([])
        await withCheckedContinuation { continuation in
            // Most of a walk is waiting for the kernel: more of them than there are processors.
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 6
            for seed in WalkEnvironment.datagramSeeds {
                queue.addOperation {
                    let walk = DatagramWalk(seed: seed, kind: kind)
                    var outcome = DatagramWalkRunner.Outcome()
                    do {
                        outcome = try DatagramWalkRunner.take(walk)
                    } catch {
                        outcome.failures.append("\(error)")
                    }
                    results.withLock { $0.append((walk, outcome)) }
                }
            }
            queue.addBarrierBlock { continuation.resume() }
        }
        let outcomes = results.withLock { $0 }
        var sum = DatagramWalkRunner.Outcome()
        for (walk, outcome) in outcomes {
            sum.comparisons += outcome.comparisons
            sum.answered += outcome.answered
            sum.remembered += outcome.remembered
            sum.exempt.merge(outcome.exempt, uniquingKeysWith: +)
            sum.failures += outcome.failures
            if !outcome.failures.isEmpty {
                Issue.record("\(outcome.failures.joined(separator: "\n"))\n\(walk)")
            }
        }
        let exempt = sum.exempt.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", ")
        print(
            """
            \(outcomes.count) walks with datagrams, \(kind.rawValue), in \(clock.now - start): \
            \(sum.failures.count) of \(sum.comparisons) verdicts wrong, besides those nobody could know to be \
            (\(exempt.isEmpty ? "none" : exempt)); datagrams came back \(sum.answered) times; a fresh \
            look doubted what the program knew \(sum.remembered) times
            """
        )
    }

    @Test func walkIsAFunctionOfItsSeed() {
        for kind in DatagramWalk.Kind.allCases {
            #expect(DatagramWalk(seed: 7, kind: kind).description == DatagramWalk(seed: 7, kind: kind).description)
            #expect(DatagramWalk(seed: 7, kind: kind).description != DatagramWalk(seed: 8, kind: kind).description)
        }
    }
}

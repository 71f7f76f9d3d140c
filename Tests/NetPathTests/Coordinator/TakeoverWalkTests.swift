// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import NetPath

/// Backends that are killed, wedged, slow, ignorant, held up by subscribers, starved, stopped and configured anew at
/// random in a world that is known.
@Suite struct TakeoverWalkTests {
    /// NETPATH_TAKEOVER_WALKS (80) walks of 200 steps, or the one of NETPATH_WALK_SEED; a failure prints the seed.
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["NETPATH_WALK_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...max(1, environment["NETPATH_TAKEOVER_WALKS"].flatMap(UInt64.init) ?? 80)
    }()

    /// So many parts are taken side by side.
    private static let parts: UInt64 = 10

    @Test(arguments: 0..<Self.parts)
    func noFalseTransition(part: UInt64) {
        for seed in Self.seeds where seed % Self.parts == part {
            var walk = TakeoverWalk(seed: seed)
            guard let failure = self.failure(of: &walk) else { continue }
            walk = TakeoverWalk(seed: seed, isTold: true)
            _ = self.failure(of: &walk)
            let history = walk.history.suffix(30).joined(separator: "\n")
            Issue.record("seed \(seed), repeat with NETPATH_WALK_SEED=\(seed): \(failure)\n\(history)")
            return
        }
    }

    private func failure(of walk: inout TakeoverWalk) -> String? {
        for step in 0..<200 {
            walk.step()
            if let lie = walk.lies.first { return "step \(step): \(lie)" }
        }
        walk.settle()
        if let lie = walk.lies.first { return "at the end: \(lie)" }
        guard let path = walk.harness.path, !path.isStale, path.status == walk.world.status else {
            return "everybody is well, and the path is not the world's: \(walk.summary)"
        }
        let standbys = walk.harness.machine.snapshots.filter { $0.report.mode == .standby }
        return standbys.allSatisfy { $0.report.health == .standby } ? nil : "nobody needs those on standby"
    }
}

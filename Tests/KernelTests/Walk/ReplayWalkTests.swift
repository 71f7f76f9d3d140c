// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Random walks that are recorded: the recording replays to what was shown.
@Suite(.needsNamespaces)
struct ReplayWalkTests {
    /// A tenth of the walks in CI, all of `make test-long`.
    private static var seeds: [UInt64] {
        let seeds = WalkEnvironment.seeds
        return seeds.count > 100 || seeds.count == 1 ? Array(seeds) : seeds.filter { $0 % 10 == 0 }
    }

    @Test func recordingsReplayToWhatWasShown() {
        var paths = 0
        var failures = 0
        for seed in Self.seeds where failures < 5 {
            let walk = Walk(seed: seed)
            do {
                paths += try self.take(walk)
            } catch {
                failures += 1
                Issue.record("\(error)\n\(walk)")
            }
        }
        print("\(Self.seeds.count) recorded walks, \(paths) paths, \(failures) mismatches")
    }

    /// Takes a walk; returns how many paths were published.
    private func take(_ walk: Walk) throws -> Int {
        var network = try WalkedNetwork(
            ignoresRoutesWithoutCarrier: walk.preparation.model.ignoresRoutesWithoutCarrier
        )
        defer { network.lab.close() }
        try network.take(walk.preparation)
        let configuration = "\(network.lab.directory)/netpath.yaml"
        let recording = "\(network.lab.directory)/recording.jsonl"
        let options = "resolvConf: \(network.resolverFile)"
        try ("backends: [{type: netlink, \(options)}, {type: sysfs, \(options)}]\n" + WalkedNetwork.rules)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let program = try WalkEnvironment.program
        let monitor = try network.lab.start(
            program,
            ["watch", "--json", "--config", configuration, "--record", recording]
        )
        var shown: [JSONValue] = []
        for (number, step) in ([walk.preparation] + walk.steps).enumerated() {
            if number > 0 { try network.take(step) }
            for _ in 0..<2 {
                let server = try network.mark()
                try monitor.next(timeout: WalkEnvironment.patience) { line in
                    shown.append(ReplayedPaths.stable(line.value))
                    return line["dnsServers"] == [.string(server)]
                }
            }
        }
        shown += try monitor.drain().map { ReplayedPaths.stable($0.value) }
        let status = try monitor.stop()
        guard status == 0 else { throw WalkFailure(description: "ended with \(status): \(monitor.standardError)") }
        let replayed = try ReplayedPaths(of: recording, by: program, in: network.lab)
        try replayed.contain(shown)
        return replayed.paths.count
    }
}

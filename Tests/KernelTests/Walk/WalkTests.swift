// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Random walks through the states of a network: after every step the merged verdict is the model's.
@Suite(.needsNamespaces)
struct WalkTests {
    /// The ways to configure backends that all have to tell the same truth.
    enum Column: String, CaseIterable, Sendable {
        case netlink
        case sysfsActive
        case sysfsStandby

        func backends(options: String) -> String {
            switch self {
            case .netlink: "backends: [{type: netlink, \(options)}]\n"
            case .sysfsActive: "backends: [{type: netlink, \(options)}, {type: sysfs, \(options)}]\n"
            case .sysfsStandby: "backends: [{type: netlink, \(options)}, {type: sysfs, mode: standby, \(options)}]\n"
            }
        }
    }

    @Test(arguments: Column.allCases)
    func mergedVerdictIsTheModels(column: Column) {
        let runner = WalkRunner { column.backends(options: $0) }
        let clock = ContinuousClock()
        let start = clock.now
        var statuses: [String: Int] = [:]
        var failures = 0
        // Each column takes its own share of the walks.
        let share = Column.allCases.firstIndex(of: column) ?? 0
        let seeds = WalkEnvironment.seeds.filter {
            WalkEnvironment.seeds.count == 1 || Int($0) % Column.allCases.count == share
        }
        for seed in seeds where failures < 5 {
            let walk = Walk(seed: seed)
            for step in walk.steps {
                statuses[step.model.verdict.status + " " + step.model.verdict.reason, default: 0] += 1
            }
            do {
                try runner.take(walk)
            } catch {
                failures += 1
                Issue.record("\(column.rawValue): \(error)\n\(walk)")
            }
        }
        let duration = clock.now - start
        // 100 walks have to fit into CI; a program built for debugging or with a sanitizer may take its time.
        if WalkEnvironment.isReleaseProgram, WalkEnvironment.seeds.count <= 100 { #expect(duration < .seconds(600)) }
        print(
            "\(seeds.count) walks with \(column.rawValue) in \(duration): \(failures) mismatches, \(statuses)"
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The service in a network that walks, with everything that can go wrong at random: `make soak`.
///
/// NETPATH_SOAK_MINUTES (0.3) minutes with the seed NETPATH_SOAK_SEED (1). Memory is compared in runs of an hour or more:
/// a heap takes some minutes until it has met all that it will ever hold at once.
@Suite(.needsNamespaces, .serialized)
struct SoakTests {
    private static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    @Test func nothingIsWrongAndNothingGrows() throws {
        let minutes = Self.value("NETPATH_SOAK_MINUTES").flatMap(Double.init) ?? 0.3
        let seed = Self.value("NETPATH_SOAK_SEED").flatMap(UInt64.init) ?? 1
        var soak = try Soak(seed: seed, length: .seconds(minutes * 60))
        do { try soak.run() } catch {
            Issue.record("\(error)")
            return
        }
        let counts = soak.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("soaked for \(minutes) minutes with seed \(seed): \(counts); KiB at rest \(soak.trend.summary)")
        for (name, program) in [("service", \SoakHoldings.service), ("server", \.server)] {
            guard let growth = soak.trend.growth(program) else { continue }
            print("memory of the \(name) grew by \((growth * 10_000).rounded() / 100) %")
            if minutes >= 60 { #expect(growth < 0.01, "the \(name) grows: \(soak.trend.summary)") }
        }
    }
}

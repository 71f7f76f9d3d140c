// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The service in a network that walks, with everything that can go wrong at random: `make soak`.
///
/// NETPATH_SOAK_MINUTES (0.3) minutes with the seed NETPATH_SOAK_SEED (1). The least memory at rest in the last quarter of the
/// time is compared with that in the quarter after the first ten minutes (the first quarter, in short runs), in runs of eight minutes
/// or more, and closely in those of an hour: a heap takes some minutes until it has met all that it will ever hold at once.
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
        // An answer of the server takes megabytes at once, which its heap keeps.
        for (name, program, limit) in [("service", \SoakHoldings.service, 0.1), ("server", \.server, 1)] {
            guard let growth = soak.trend.growth(program, after: soak.firstPart) else {
                #expect(minutes < 8, "too few quiet moments to tell whether the \(name) grows: \(soak.trend.summary)")
                continue
            }
            print("memory of the \(name) grew by \((growth * 10_000).rounded() / 100) %")
            guard minutes >= 8 else { continue }
            #expect(growth < (minutes >= 60 ? limit / 10 : limit), "the \(name) grows: \(soak.trend.summary)")
        }
    }
}

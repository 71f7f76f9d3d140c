// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The history beside the log of the one who broke the network, the service, the disk and the clock.
@Suite(.needsNamespaces)
struct BrokenServiceTests {
    /// How many seconds: one round, unless said otherwise.
    private static let length = Self.number("SECONDS") ?? 0
    private static let seed = Self.number("SEED") ?? .random(in: 0..<1_000_000)

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["NETPATH_BREAKAGE_\(name)"].flatMap { UInt64($0) }
    }

    @Test func theHistoryIsWhatHappened() throws {
        let words = "repeat with NETPATH_BREAKAGE_SEED=\(Self.seed)"
        let begin = BrokenService.now()
        let broken = try BrokenService(seed: Self.seed)
        repeat {
            try broken.round()
            let faults = try broken.faults()
            try #require(faults.isEmpty, "\(words): \(faults.joined(separator: "; "))")
        } while BrokenService.now() < begin + Double(Self.length)
        let outages = broken.log.outages
        let faults = try broken.finish()
        #expect(faults.isEmpty, "\(words): \(faults.joined(separator: "; "))")
        if Self.length > 0 {
            // A history that knows nothing is not right either.
            #expect(broken.told * 3 > outages.count, "\(broken.told) of \(outages.count)")
            let done = broken.done.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
            let length = Int(BrokenService.now() - begin)
            let told = "\(outages.count) outages of 1 s and more, \(broken.told) of them told"
            print("\(length) s, \(told), seed \(Self.seed): \(done)")
        }
    }
}

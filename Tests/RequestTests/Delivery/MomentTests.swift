// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import OfflineRequests

struct MomentTests {
    @Test func theMachineTellsItsBoot() throws {
        let first = Moment.now()
        let second = Moment.now()
        #expect(try #require(first.bootID).count == 36)
        #expect(first.bootID == second.bootID)
        #expect(second.bootNanoseconds >= first.bootNanoseconds)
        #expect(abs(first.wall.timeIntervalSinceNow) < 60)
    }

    /// CLOCK_BOOTTIME, as the kernel tells it elsewhere too.
    @Test func itIsTheTimeSinceTheStart() throws {
        let before = Moment.now()
        let text = try String(contentsOfFile: "/proc/uptime", encoding: .ascii)
        let uptime = try #require(text.split(separator: " ").first.flatMap { Double($0) })
        let after = Moment.now()
        // The kernel tells hundredths of a second.
        #expect(uptime > Double(before.bootNanoseconds) / 1e9 - 0.02)
        #expect(uptime <= Double(after.bootNanoseconds) / 1e9)
    }
}

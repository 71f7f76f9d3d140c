// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import Testing

@testable import OfflineRequests

struct AgingTests {
    private static let wall = 1_800_000_000.0

    private func stamp(_ wall: Double, boot: String? = "a", at seconds: Int64) -> ClockStamp {
        ClockStamp(
            wall: Date(timeIntervalSince1970: wall),
            bootID: boot,
            bootNanoseconds: seconds * 1_000_000_000
        )
    }

    /// Within one boot the wall clock may show anything.
    @Test(arguments: [wall + 60, wall + 3e8, wall - 3e8, 0, -1e9])
    func aJumpOfTheClockMakesNothingOlder(_ wall: Double) {
        let enqueued = self.stamp(Self.wall, at: 1_000)
        let now = self.stamp(wall, at: 1_060)
        #expect(Aging.age(of: enqueued, at: now) == .seconds(60))
        let expiresAt = Date(timeIntervalSince1970: Self.wall + 61)
        #expect(!Aging.isExpired(enqueued, expiresAt: expiresAt, maxAge: .seconds(100), at: now))
        let later = self.stamp(wall, at: 1_061)
        #expect(Aging.isExpired(enqueued, expiresAt: expiresAt, maxAge: .seconds(100), at: later))
    }

    @Test func acrossBootsTheWallClockTells() {
        let enqueued = self.stamp(Self.wall, at: 1_000)
        #expect(Aging.age(of: enqueued, at: self.stamp(Self.wall + 500, boot: "b", at: 20)) == .seconds(500))
        #expect(Aging.age(of: enqueued, at: self.stamp(Self.wall - 500, boot: "b", at: 20)) == .zero)
    }

    /// A machine without a clock of its own: it starts in 1970, or in the year of its firmware.
    @Test func aClockThatWasNotSetTellsNothing() {
        let before = self.stamp(100, at: 100)
        // Set since, in the same boot.
        #expect(Aging.age(of: before, at: self.stamp(Self.wall, at: 160)) == .seconds(60))
        // Another boot: it is at least as old as that.
        #expect(Aging.age(of: before, at: self.stamp(Self.wall, boot: "b", at: 30)) == .seconds(30))
        #expect(Aging.age(of: self.stamp(Self.wall, at: 9), at: self.stamp(50, boot: "b", at: 40)) == .seconds(40))
    }

    @Test func withoutABootThereIsOnlyTheWallClock() {
        let enqueued = self.stamp(Self.wall, boot: nil, at: 0)
        #expect(Aging.age(of: enqueued, at: self.stamp(Self.wall + 5, boot: nil, at: 0)) == .seconds(5))
        #expect(Aging.age(of: enqueued, at: self.stamp(Self.wall - 5, boot: nil, at: 0)) == .zero)
    }

    /// A time namespace, or a container that was restored, may show less time since the same boot.
    @Test func timeSinceBootThatWentBackIsNotBelieved() {
        let enqueued = self.stamp(Self.wall, at: 1_000)
        #expect(Aging.age(of: enqueued, at: self.stamp(Self.wall + 7, at: 10)) == .seconds(7))
    }

    @Test func ageEndsWithoutAnExpiry() {
        let enqueued = self.stamp(Self.wall, at: 1_000)
        let now = self.stamp(Self.wall, at: 1_100)
        #expect(Aging.isExpired(enqueued, expiresAt: nil, maxAge: .seconds(100), at: now))
        #expect(!Aging.isExpired(enqueued, expiresAt: nil, maxAge: .seconds(101), at: now))
    }

    @Test func anExpiryInThePastEndsAtOnce() {
        let enqueued = self.stamp(Self.wall, at: 1_000)
        let past = Date(timeIntervalSince1970: Self.wall - 1)
        #expect(Aging.isExpired(enqueued, expiresAt: past, maxAge: .seconds(100), at: enqueued))
    }

    /// Enqueued in 1970 with an expiry from a server, which knows the date.
    @Test func aRealDateCountsWhereTheClockWasNotSet() {
        let enqueued = self.stamp(100, at: 100)
        let expiresAt = Date(timeIntervalSince1970: Self.wall)
        let week = Duration.seconds(604_800)
        #expect(!Aging.isExpired(enqueued, expiresAt: expiresAt, maxAge: week, at: self.stamp(200, at: 200)))
        #expect(!Aging.isExpired(enqueued, expiresAt: expiresAt, maxAge: week, at: self.stamp(Self.wall - 1, at: 200)))
        #expect(Aging.isExpired(enqueued, expiresAt: expiresAt, maxAge: week, at: self.stamp(Self.wall, at: 200)))
        // And one that was reckoned from the clock that was not set is a lifetime.
        let soon = Date(timeIntervalSince1970: 160)
        #expect(!Aging.isExpired(enqueued, expiresAt: soon, maxAge: week, at: self.stamp(Self.wall, at: 159)))
        #expect(Aging.isExpired(enqueued, expiresAt: soon, maxAge: week, at: self.stamp(Self.wall, at: 160)))
    }

    @Test func theMachineTellsItsBoot() throws {
        let first = ClockStamp.now()
        let second = ClockStamp.now()
        #expect(try #require(first.bootID).count == 36)
        #expect(first.bootID == second.bootID)
        #expect(first.bootNanoseconds > 0 && second.bootNanoseconds >= first.bootNanoseconds)
        #expect(abs(first.wall.timeIntervalSinceNow) < 60)
        let decoded = try JSONDecoder().decode(ClockStamp.self, from: JSONEncoder().encode(first))
        #expect(decoded.bootNanoseconds == first.bootNanoseconds)
    }
}

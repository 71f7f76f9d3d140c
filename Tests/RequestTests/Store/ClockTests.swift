// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

@Suite struct ClockTests {
    private let bench: StoreBench

    init() throws { self.bench = try StoreBench() }

    private func expire(_ store: RequestStore, maxAge: Duration = .seconds(1_000_000_000)) throws -> [UUID] {
        try store.transaction(durable: false) { transaction in
            try (transaction.giveUpLate().requests + transaction.giveUpOld(maxAge: maxAge).requests).map(\.id)
        }
    }

    @Test func whatIsOfNoUseIsGivenUp() throws {
        let store = try self.bench.open()
        let soon = try store.insert(sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(10) }).id
        let later = try store.insert(sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(100) }).id
        let never = try store.insert(sample()).id
        #expect(try self.expire(store).isEmpty)
        self.bench.pass(.seconds(10))
        #expect(try store.all().map(\.waiting) == [.expired, nil, nil])
        #expect(try self.expire(store) == [soon])
        #expect(try store.all().map(\.state) == [.dead, .ready, .ready])
        #expect(try store.record(soon)?.lastError == "it expired")
        #expect(try store.readyIDs() == [later, never])
    }

    @Test func whatIsRetriedAfterItExpiredGoes() throws {
        let store = try self.bench.open()
        let soon = sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(10) }
        let (ready, held) = (try store.insert(soon).id, try store.insert(sample { $0.expiresAt = soon.expiresAt }).id)
        try store.run(held, .hold(.unauthorized))
        self.bench.pass(.seconds(10))
        #expect(try store.all().map(\.waiting) == [.expired, .expired])
        for id in [ready, held] { _ = try store.transaction(durable: false) { try $0.release(id) } }
        #expect(try store.all().map(\.waiting) == [nil, nil])
        #expect(try store.all().map(\.request.expiresAt) == [nil, nil])
        #expect(try self.expire(store).isEmpty)
    }

    @Test(arguments: LanePolicy.allCases)
    func theLaneOfWhatExpiresGoesByItsPolicy(_ policy: LanePolicy) throws {
        let store = try self.bench.open()
        let ids = try (0..<3).map { number in
            try store.insert(
                sample(number) {
                    $0.orderingKey = "lane"
                    $0.onFailure = policy
                    $0.expiresAt = number == 0 ? self.bench.stamp.wall.addingTimeInterval(10) : nil
                }
            ).id
        }
        let rest = { try store.transaction(durable: false) { try $0.nextDeadline() } }
        #expect(try rest() == .seconds(10))
        self.bench.pass(.seconds(10))
        #expect(try self.expire(store) == [ids[0]])
        let states: [RequestState] =
            switch policy {
            case .hold: [.held, .blocked, .blocked]
            case .skip: [.dead, .ready, .blocked]
            case .dropLane: [.dead, .dead, .dead]
            }
        #expect(try store.all().map(\.state) == states)
        // Once.
        #expect(try rest() == nil)
        #expect(try self.expire(store).isEmpty)
        self.bench.pass(.seconds(100))
        #expect(try self.expire(store, maxAge: .seconds(100)).count == (policy == .dropLane ? 0 : 2))
        #expect(try self.expire(store, maxAge: .seconds(100)).isEmpty)
    }

    /// More than one transaction gives up, and others that go with them.
    @Test func whetherAllAreGivenUpIsKnown() throws {
        let store = try self.bench.open()
        for number in 0..<1100 {
            try store.insert(
                sample(number) {
                    ($0.orderingKey, $0.onFailure) = ("\(number / 2)", .dropLane)
                    $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(10)
                }
            )
        }
        self.bench.pass(.seconds(10))
        let late = { try store.transaction(durable: false) { try $0.giveUpLate() } }
        let first = try late()
        #expect(first.requests.count == 500 && !first.isAll)
        let second = try late()
        #expect(second.requests.count == 50 && second.isAll)
        #expect(try store.transaction(durable: false) { try $0.nextDeadline() } == nil)
    }

    /// Also where they are let go all at once.
    @Test func whatHoldsItsLaneForItsAgeBeginsAnew() throws {
        let store = try self.bench.open()
        for number in 0..<2 {
            try store.insert(sample(number) { ($0.orderingKey, $0.onFailure) = ("lane", .hold) })
        }
        self.bench.pass(.seconds(100))
        #expect(try self.expire(store, maxAge: .seconds(100)).count == 2)
        #expect(try store.transaction(durable: false) { try $0.resumeHeld() } == 2)
        #expect(try self.expire(store, maxAge: .seconds(100)).isEmpty)
        #expect(try store.all().map(\.state) == [.ready, .blocked])
    }

    @Test func responsesThatNobodyTakesAreKeptForSoLong() throws {
        let store = try self.bench.open(.with { $0.maxResponseAge = .seconds(60) })
        let id = try store.insert(sample { $0.keepsResponse = true }).id
        try store.run(id, .succeeded, response: TransportResponse(status: 200))
        self.bench.pass(.seconds(59))
        try store.transaction(durable: false) { try $0.removeOldResponses() }
        #expect(try store.record(id)?.state == .succeeded)
        self.bench.pass(.seconds(1))
        try store.transaction(durable: false) { try $0.removeOldResponses() }
        #expect(try store.record(id) == nil)
    }

    @Test func theOldAreGivenUpButNotWhatIsBeingSent() throws {
        let store = try self.bench.open()
        let ids = try (0..<100).map { try store.insert(sample($0)).id }
        _ = try store.transaction(durable: false) { try $0.markRunning(ids[5]) }
        self.bench.pass(.seconds(100))
        let young = try store.insert(sample(100)).id
        #expect(try self.expire(store, maxAge: .seconds(101)).isEmpty)
        #expect(try self.expire(store, maxAge: .seconds(100)).count == 99)
        #expect(try store.all([.ready, .running]).map(\.id) == [ids[5], young])
    }

    /// What was replaced has its place still, and is not old.
    @Test func theOldAreFoundBehindWhatWasReplaced() throws {
        let store = try self.bench.open()
        func replaced(_ number: Int) -> RetryableRequest {
            sample(number) { ($0.uniqueKey, $0.ifExists) = ("\(number)", .replace) }
        }
        for number in 0..<40 { try store.insert(replaced(number)) }
        let old = try store.insert(sample(40)).id
        self.bench.pass(.seconds(100))
        for number in 0..<40 { try store.insert(replaced(number)) }
        let rest = { try store.transaction(durable: false) { try $0.nextAge(maxAge: .seconds(86_400)) } }
        #expect(try rest() == .seconds(86_300))
        #expect(try self.expire(store, maxAge: .seconds(100)) == [old])
        #expect(try rest() == .seconds(86_400))
        // What is being sent is not given up, and is looked at again later.
        let sent = try store.insert(sample(41)).id
        _ = try store.transaction(durable: false) { try $0.markRunning(sent) }
        self.bench.pass(.seconds(90_000))
        #expect(try self.expire(store, maxAge: .seconds(86_400)).count == 40)
        #expect(try rest() == .seconds(60))
        _ = try store.transaction(durable: false) { try $0.cancel() }
        #expect(try rest() == nil)
    }

    /// A clock that would be before the moment at which it was looked at, or began before the system did.
    @Test(arguments: [-7_200_000, 17_179_869_184] as [Int64])
    func anOffsetThatCannotBeMakesNothingOld(_ change: Int64) throws {
        let store = try self.bench.open()
        try store.insert(sample())
        store.close()
        try DatabaseQueue(path: self.bench.path).write { db in
            try db.execute(sql: "UPDATE queue SET offset = offset + ?", arguments: [change])
        }
        self.bench.pass(.seconds(10))
        let again = try self.bench.open()
        #expect(try self.expire(again, maxAge: .seconds(60)).isEmpty)
        self.bench.pass(.seconds(60))
        #expect(try self.expire(again, maxAge: .seconds(60)).count == 1)
    }

    @Test(arguments: [-86_400.0 * 400, 86_400.0 * 400] as [TimeInterval])
    func aWallClockThatJumpsChangesNothing(_ jump: TimeInterval) throws {
        let store = try self.bench.open()
        let id = try store.insert(sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(100) }).id
        let tried = try store.insert(sample()).id
        try store.run(tried, .retry(after: .seconds(30), countsAttempt: true))
        self.bench.setWall(jump)
        #expect(try self.expire(store, maxAge: .seconds(101)).isEmpty)
        #expect(try store.transaction(durable: false) { try $0.nextDue() } == .seconds(30))
        #expect(try store.record(tried)?.notBefore == self.bench.stamp.wall.addingTimeInterval(30))
        self.bench.pass(.seconds(99))
        #expect(try self.expire(store, maxAge: .seconds(101)).isEmpty)
        self.bench.pass(.seconds(1))
        #expect(try self.expire(store) == [id])
    }

    @Test func timeGoesOnOverARestartOfTheSystem() throws {
        let store = try self.bench.open()
        let id = try store.insert(sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(100) }).id
        store.close()
        self.bench.reboot(after: .seconds(60))
        let again = try self.bench.open()
        #expect(try self.expire(again, maxAge: .seconds(61)).isEmpty)
        self.bench.pass(.seconds(40))
        #expect(try self.expire(again) == [id])
    }

    @Test func aClockThatWasNeverSetMakesNothingOld() throws {
        let store = try self.bench.open()
        try store.insert(sample())
        store.close()
        // Without a battery: 1970 until the network says otherwise.
        self.bench.reboot()
        self.bench.setWall(-1_750_000_000)
        let again = try self.bench.open()
        #expect(try self.expire(again, maxAge: .seconds(10)).isEmpty)
        self.bench.setWall(1_750_000_000 + 500)
        #expect(try self.expire(again, maxAge: .seconds(10)).isEmpty)
        try again.insert(sample())
        again.close()
        self.bench.reboot(after: .seconds(5))
        let third = try self.bench.open()
        #expect(try self.expire(third, maxAge: .seconds(10)).isEmpty)
        self.bench.pass(.seconds(5))
        #expect(try self.expire(third, maxAge: .seconds(10)).count == 2)
    }

    /// A clock without the network may say anything until that has set it.
    @Test func aClockThatIsWrongAtBootMakesNothingOld() throws {
        let store = try self.bench.open()
        let id = try store.insert(sample { $0.expiresAt = self.bench.stamp.wall.addingTimeInterval(100) }).id
        store.close()
        let years: TimeInterval = 14 * 366 * 86_400
        self.bench.reboot(after: .seconds(5))
        self.bench.setWall(years)
        let again = try self.bench.open()
        #expect(try self.expire(again, maxAge: .seconds(7 * 86_400)).isEmpty)
        self.bench.pass(.seconds(60))
        self.bench.setWall(-years)
        #expect(try self.expire(again, maxAge: .seconds(7 * 86_400)).isEmpty)
        // What has passed since then counts.
        self.bench.pass(.seconds(39))
        #expect(try self.expire(again).isEmpty)
        self.bench.pass(.seconds(1))
        #expect(try self.expire(again) == [id])
    }

    @Test func datesBeyondAnyCalendarDoNotTrap() throws {
        let store = try self.bench.open()
        for date in [Date.distantFuture, .distantPast, Date(timeIntervalSince1970: 1e300)] {
            try store.insert(sample { $0.expiresAt = date })
        }
        #expect(try self.expire(store, maxAge: .seconds(Int64.max)).count == 1)
    }
}

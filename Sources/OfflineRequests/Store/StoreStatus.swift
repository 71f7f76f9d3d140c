// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPath

/// What the queue knows of itself without looking at requests: the one row of the table `queue`.
struct StoreStatus: Hashable, Sendable, Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "queue"

    private var one = 1
    /// Whether nothing is to be sent; stays over restarts.
    var isPaused = false
    /// How often a process that does not send wanted that which waits to go now.
    var forces: Int64 = 0
    /// The host that was meant the last time; nil for all.
    var forced: String?
    /// The run of the system that the offset belongs to.
    var boot: String
    /// What is added to the time since the start of the system, in milliseconds.
    var offset: Int64
    /// What the wall clock showed at ``anchor``, in milliseconds since 1970.
    var anchorWall: Int64
    /// The time of the clock of the queue at which the wall clock was looked at.
    var anchor: Int64

    init(at stamp: Moment) {
        let wall = stamp.wall.inMilliseconds
        self.boot = stamp.bootID ?? ""
        self.offset = wall - stamp.bootNanoseconds / 1_000_000
        (self.anchorWall, self.anchor) = (wall, wall)
    }

    static func read(_ db: Database) throws -> StoreStatus {
        let status = try Self.fetchOne(db.cachedStatement(sql: "SELECT * FROM queue"))
        guard let status else { throw StoreDamage(message: "the table queue is empty") }
        return status
    }
}

extension QueueCounts {
    /// Reads what the triggers have counted.
    ///
    /// Column by column: as Codable records these few rows take a fifth of the time of an enqueuing.
    init(_ db: Database) throws {
        self.init()
        // So that nothing overflows with what a damaged file says.
        let possible = 0...(1 << 56)
        let totals = try Row.fetchCursor(db.cachedStatement(sql: "SELECT state, count, bytes FROM total"))
        while let total = try totals.next() {
            guard let state = String.fromDatabaseValue(total[0]).flatMap(RequestState.init(rawValue:)),
                let count = Int.fromDatabaseValue(total[1]), let bytes = Int.fromDatabaseValue(total[2]),
                possible.contains(count), possible.contains(bytes)
            else { throw StoreDamage(message: "the table total has no numbers") }
            self[state] = count
            self.bytes += bytes
        }
    }
}

/// The clock that deadlines in the queue are kept in: milliseconds that never go backwards or jump.
///
/// Within one run of the system it follows the time since the start; from one run to the next it goes on by what the
/// wall clock says has passed, and stands still where that clock says nothing of use. So a wall clock that jumps
/// neither expires a request nor keeps it waiting.
extension StoreStatus {
    /// 2024: a wall clock before it was never set.
    private static let earliestWall: Int64 = 1_704_067_200_000
    /// A year: a wall clock that has gone on by more while the system was off was wrong then, or is wrong now, as one that
    /// the network has not set yet may be.
    private static let longestOff: Int64 = 366 * 86_400_000
    /// How far the wall clock may drift before it is looked at anew.
    private static let tolerance: Int64 = 60_000

    func now(_ stamp: Moment) -> Int64 { self.offset &+ stamp.bootNanoseconds / 1_000_000 }

    /// Whether the offset is one of this run of the system, during which the wall clock was looked at last.
    func isCurrent(_ stamp: Moment) -> Bool {
        let possible = -Self.tolerance...(stamp.bootNanoseconds / 1_000_000 + Self.tolerance)
        return stamp.bootID ?? "" == self.boot && possible.contains(self.now(stamp) &- self.anchor)
    }

    /// Goes on after the system was started anew or the wall clock was set.
    mutating func advance(to stamp: Moment, latest: Int64) {
        let wall = stamp.wall.inMilliseconds
        if !self.isCurrent(stamp) {
            let isKnown = wall >= Self.earliestWall && self.anchorWall >= Self.earliestWall
            let off = isKnown ? wall &- self.anchorWall : 0
            let passed = 0...Self.longestOff ~= off ? off : 0
            let now = max(latest, self.anchor &+ passed)
            self.boot = stamp.bootID ?? ""
            self.offset = now &- stamp.bootNanoseconds / 1_000_000
        } else if abs((wall &- self.anchorWall) &- (self.now(stamp) &- self.anchor)) <= Self.tolerance {
            return
        }
        self.anchor = self.now(stamp)
        self.anchorWall = wall
    }

    func wall(_ time: Int64, at stamp: Moment) -> Date {
        stamp.wall.addingTimeInterval(Double(time &- self.now(stamp)) / 1000)
    }
}

extension Date {
    /// Milliseconds since 1970; beyond any calendar a conversion would trap.
    var inMilliseconds: Int64 { Int64(max(-1e15, min(1e15, self.timeIntervalSince1970 * 1000))) }
}

extension Duration {
    /// Whole milliseconds; saturates at 146 years.
    var inMilliseconds: Int64 { self.inNanoseconds / 1_000_000 }
}

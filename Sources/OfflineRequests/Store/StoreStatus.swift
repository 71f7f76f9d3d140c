// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

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

    /// The status of a new queue.
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
        let totals = try Row.fetchCursor(db.cachedStatement(sql: "SELECT state, count, bytes FROM total"))
        while let total = try totals.next() {
            guard let state = String.fromDatabaseValue(total[0]).flatMap(RequestState.init(rawValue:)),
                let count = Int.fromDatabaseValue(total[1]), let bytes = Int.fromDatabaseValue(total[2])
            else { throw StoreDamage(message: "the table total has no numbers") }
            self[state] = count
            self.bytes += bytes
        }
    }
}

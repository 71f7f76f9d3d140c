// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What the queue knows of itself without looking at requests: the one row of the table `queue`, and the totals.
struct StoreStatus: Hashable, Sendable, Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "queue"

    private var one = 1
    /// Whether nothing is to be sent; stays over restarts.
    var isPaused = false
    /// How many requests have left that were not delivered; the last of them are in the table `ended`.
    var ends: Int64
    /// How often a process that does not send wanted that which waits to go now.
    var forces: Int64 = 0
    /// The host that was meant the last time; nil for all.
    var forced: String?
    /// The clock of the queue.
    var clock: QueueClock
    /// How many requests there are, where that was read, too.
    var counts = QueueCounts()

    private enum CodingKeys: String, CodingKey { case one, isPaused, ends, forces, forced }

    /// The status of a new queue.
    init(at stamp: ClockStamp) {
        self.clock = QueueClock(at: stamp)
        // So that in a file that took the place of another nobody takes up the count of that.
        self.ends = max(0, QueueClock.milliseconds(stamp.wall))
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.isPaused = try values.decode(Bool.self, forKey: .isPaused)
        self.ends = try values.decode(Int64.self, forKey: .ends)
        self.forces = try values.decode(Int64.self, forKey: .forces)
        self.forced = try values.decodeIfPresent(String.self, forKey: .forced)
        self.clock = try QueueClock(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.one, forKey: .one)
        try values.encode(self.isPaused, forKey: .isPaused)
        try values.encode(self.ends, forKey: .ends)
        try values.encode(self.forces, forKey: .forces)
        try values.encode(self.forced, forKey: .forced)
        try self.clock.encode(to: encoder)
    }

    static func read(_ db: Database) throws -> StoreStatus {
        let status = try Self.fetchOne(db.cachedStatement(sql: "SELECT * FROM queue"))
        guard let status else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table queue is empty") }
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
            else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table total has no numbers") }
            self[state] = count
            self.bytes += bytes
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What the queue knows of itself without looking at requests: the one row of the table `queue`.
struct StoreTally: Hashable, Sendable {
    /// The number of the last request that was enqueued; numbers are never given twice.
    var sequence: Int64
    /// How many there are.
    var counts: QueueCounts
    /// How many octets of all the finished ones have.
    var finishedBytes: Int
    /// Whether nothing is to be sent.
    var isPaused: Bool
    /// The clock of the queue.
    var clock: QueueClock

    static func read(_ db: Database) throws -> StoreTally {
        let statement = try db.cachedStatement(sql: "SELECT * FROM queue WHERE one = 1")
        guard let row = try Row.fetchOne(statement) else { throw Damage(reason: "the table queue is empty") }
        return try StoreTally(Columns(row))
    }

    init(_ columns: Columns) throws {
        func count(_ index: Int) throws -> Int {
            // What is beyond any queue would overflow further on.
            let count = try columns.number(index)
            guard 0..<(1 << 53) ~= count else { throw Damage(reason: "a count of the table queue is none") }
            return Int(count)
        }
        self.sequence = Int64(try count(1))
        self.counts = QueueCounts(
            ready: try count(2),
            blocked: try count(3),
            backoff: try count(4),
            running: try count(5),
            held: try count(6),
            dead: try count(7),
            succeeded: try count(8),
            bytes: try count(9)
        )
        self.finishedBytes = try count(10)
        self.isPaused = try columns.number(11) != 0
        self.clock = QueueClock(
            boot: try columns.text(12),
            offset: try columns.number(13),
            anchorWall: try columns.number(14),
            anchor: try columns.number(15)
        )
    }

    /// The same with a clock that goes on after the system was started anew.
    func advanced(to stamp: ClockStamp, _ db: Database) throws -> StoreTally {
        var tally = self
        var latest = tally.clock.anchor
        if tally.clock.boot != stamp.bootID ?? "" {
            let last = try Row.fetchOne(db, sql: "SELECT enqueued FROM request ORDER BY sequence DESC LIMIT 1")
            latest = max(latest, last.flatMap { Columns($0).optionalNumber(0) } ?? latest)
        }
        tally.clock.advance(to: stamp, latest: latest)
        return tally
    }

    /// A request came.
    mutating func add(_ state: RequestState, size: Int) {
        self.counts[state] += 1
        self.counts.bytes += size
        if state.isFinal { self.finishedBytes += size }
    }

    /// A request went.
    mutating func remove(_ state: RequestState, size: Int) {
        self.counts[state] -= 1
        self.counts.bytes -= size
        if state.isFinal { self.finishedBytes -= size }
    }

    func write(_ db: Database) throws {
        let counts = self.counts
        let statement = try db.cachedStatement(
            sql: """
                UPDATE queue SET sequence = ?, ready = ?, blocked = ?, backoff = ?, running = ?, held = ?, dead = ?,
                  succeeded = ?, bytes = ?,
                  finishedBytes = ?, paused = ?, boot = ?, offset = ?, anchorWall = ?, anchor = ? WHERE one = 1
                """
        )
        try statement.execute(arguments: [
            self.sequence, counts.ready, counts.blocked, counts.backoff, counts.running, counts.held, counts.dead,
            counts.succeeded, counts.bytes, self.finishedBytes, self.isPaused ? 1 : 0, self.clock.boot,
            self.clock.offset,
            self.clock.anchorWall, self.clock.anchor,
        ])
    }
}

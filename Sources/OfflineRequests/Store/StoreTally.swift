// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What the queue knows of itself without looking at all requests: the one row of the table `queue`.
///
/// A commit costs what its pages cost. So the last few requests that came, and to which nothing else happened, are not
/// counted in that row yet: they are those with numbers beyond the one it has.
struct StoreTally: Hashable, Sendable {
    /// How many requests may be missing from the row.
    static let slack: Int64 = 16

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
    /// How many requests have left that were not delivered; the last of them are in the table `ended`.
    var ends: Int64
    /// How often a process that does not send wanted that which waits to go now.
    var forces: Int64
    /// The host that was meant the last time; nil for all.
    var forced: String?
    /// Up to which number requests are counted in the row.
    var counted: Int64
    /// What came behind all others, and says so itself.
    private var appended = QueueCounts()

    static func read(_ db: Database) throws -> StoreTally {
        let tally = try SQLStatement(db, "SELECT * FROM queue WHERE one = 1").first { try StoreTally($0) }
        guard var tally else { throw Damage(reason: "the table queue is empty") }
        try SQLStatement(db, "SELECT sequence, state, size FROM request WHERE sequence > ?").each(
            .number(tally.counted)
        ) { row in
            guard let sequence = row.number(0), let state = row.number(1).flatMap({ StoreState.state($0) }),
                let size = row.number(2), 0..<(1 << 53) ~= size, sequence < 1 << 53
            else { throw Damage(reason: "a request cannot be counted") }
            tally.sequence = max(tally.sequence, sequence)
            tally.add(state, size: Int(size))
            return true
        }
        return tally
    }

    private init(_ row: SQLStatement) throws {
        func number(_ column: Int32) throws -> Int64 {
            guard let number = row.number(column) else { throw Damage(reason: "the table queue lacks a number") }
            return number
        }
        func count(_ column: Int32) throws -> Int {
            // What is beyond any queue would overflow further on.
            let count = try number(column)
            guard 0..<(1 << 53) ~= count else { throw Damage(reason: "a count of the table queue is none") }
            return Int(count)
        }
        self.sequence = Int64(try count(1))
        self.counted = self.sequence
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
        self.isPaused = try number(11) != 0
        self.clock = QueueClock(
            boot: row.text(12) ?? "",
            offset: try number(13),
            anchorWall: try number(14),
            anchor: try number(15)
        )
        self.ends = try number(16)
        self.forces = try number(17)
        self.forced = row.text(18)
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

    /// A request came behind all others.
    mutating func append(_ state: RequestState, size: Int, as sequence: Int64) {
        self.sequence = sequence
        self.add(state, size: size)
        self.appended[state] += 1
        self.appended.bytes += size
    }

    /// A request went.
    mutating func remove(_ state: RequestState, size: Int) {
        self.counts[state] -= 1
        self.counts.bytes -= size
        if state.isFinal { self.finishedBytes -= size }
    }

    /// Whether the row has to be written, since the requests that came do not say it all, or are too many.
    private func mustBeWritten(after before: StoreTally) -> Bool {
        var expected = before
        expected.sequence = self.sequence
        expected.appended = self.appended
        for state in [RequestState.ready, .blocked] { expected.counts[state] += self.appended[state] }
        expected.counts.bytes += self.appended.bytes
        return self != expected || self.sequence - self.counted > Self.slack
    }

    /// Writes what is not the same as before.
    ///
    /// - Returns: What ``read(_:)`` would read then.
    func write(_ db: Database, before: StoreTally) throws -> StoreTally {
        let counts = self.counts
        var written = self
        written.appended = QueueCounts()
        if self != before, self.mustBeWritten(after: before) {
            let update = """
                UPDATE queue SET sequence = ?, ready = ?, blocked = ?, backoff = ?, running = ?, held = ?, dead = ?,
                  succeeded = ?, bytes = ?, finishedBytes = ?, paused = ?, ends = ?, forces = ?, forced = ?
                  WHERE one = 1
                """
            try SQLStatement(db, update).run(
                .number(self.sequence),
                .number(counts.ready),
                .number(counts.blocked),
                .number(counts.backoff),
                .number(counts.running),
                .number(counts.held),
                .number(counts.dead),
                .number(counts.succeeded),
                .number(counts.bytes),
                .number(self.finishedBytes),
                .number(self.isPaused ? 1 : 0),
                .number(self.ends),
                .number(self.forces),
                .text(self.forced)
            )
            written.counted = self.sequence
        }
        if self.clock != before.clock {
            try SQLStatement(db, "UPDATE queue SET boot = ?, offset = ?, anchorWall = ?, anchor = ? WHERE one = 1").run(
                .text(self.clock.boot),
                .number(self.clock.offset),
                .number(self.clock.anchorWall),
                .number(self.clock.anchor)
            )
        }
        return written
    }
}

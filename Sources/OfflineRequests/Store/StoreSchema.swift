// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What the database looks like.
///
/// The row of a request says where it stands, and what a look for the next one needs; the request itself is in the
/// payload. Indexes have only the rows that are looked for in them: an insert touches two. What is delivered leaves
/// `request`; what is given up, or kept for its response, moves to `finished`, which has the same columns.
enum StoreSchema {
    /// "NPRq": says of a database whose it is (the application id of SQLite's header).
    static let applicationID: Int64 = 0x4E50_5271
    /// A comment in the definitions of tables, by which a damaged file can still be told from somebody else's.
    static let mark = "netpath offline requests"

    /// Brings an older database up to date: the first takes it from version 0 to version 1, and so on.
    static let migrations: [[String]] = [
        [
            """
            CREATE TABLE queue (
              -- \(mark)
              one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL,
              ready INTEGER NOT NULL, blocked INTEGER NOT NULL, backoff INTEGER NOT NULL, running INTEGER NOT NULL,
              held INTEGER NOT NULL, dead INTEGER NOT NULL, succeeded INTEGER NOT NULL, bytes INTEGER NOT NULL,
              finishedBytes INTEGER NOT NULL, paused INTEGER NOT NULL, boot TEXT NOT NULL,
              offset INTEGER NOT NULL, anchorWall INTEGER NOT NULL, anchor INTEGER NOT NULL,
              ends INTEGER NOT NULL, forces INTEGER NOT NULL, forced TEXT
            )
            """,
            "CREATE TABLE gate (id INTEGER PRIMARY KEY, host TEXT NOT NULL, requires BLOB NOT NULL, UNIQUE (host, requires))",
            table("request"),
            "CREATE UNIQUE INDEX requestID ON request (id)",
            "CREATE INDEX requestReady ON request (gate, priority DESC) WHERE state = 0",
            "CREATE INDEX requestDue ON request (due) WHERE state = 2",
            "CREATE INDEX requestApart ON request (state) WHERE state >= 3",
            "CREATE INDEX requestLane ON request (lane) WHERE lane IS NOT NULL",
            "CREATE INDEX requestUnique ON request (uniqueKey) WHERE uniqueKey IS NOT NULL",
            "CREATE INDEX requestDeadline ON request (deadline) WHERE deadline IS NOT NULL",
            "CREATE INDEX requestBody ON request (bodyFile) WHERE bodyFile IS NOT NULL",
            table("finished"),
            "CREATE UNIQUE INDEX finishedID ON finished (id)",
            "CREATE INDEX finishedDeadline ON finished (deadline) WHERE deadline IS NOT NULL",
            "CREATE INDEX finishedBody ON finished (bodyFile) WHERE bodyFile IS NOT NULL",
            "CREATE TABLE ended (number INTEGER PRIMARY KEY, id BLOB NOT NULL, state TEXT NOT NULL)",
            "CREATE VIEW kept AS SELECT * FROM request UNION ALL SELECT * FROM finished",
            "PRAGMA application_id = \(applicationID)",
        ]
    ]

    private static func table(_ name: String) -> String {
        """
        CREATE TABLE \(name) (
          -- \(mark); times are milliseconds of the queue's own clock
          sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, state INTEGER NOT NULL, gate INTEGER NOT NULL,
          priority INTEGER NOT NULL, lane TEXT, uniqueKey TEXT, requestType TEXT NOT NULL, due INTEGER,
          deadline INTEGER, enqueued INTEGER NOT NULL, size INTEGER NOT NULL, retries INTEGER NOT NULL,
          attempts INTEGER NOT NULL, received INTEGER NOT NULL, status INTEGER, error TEXT, waiting TEXT,
          response BLOB, bodyFile TEXT, seal INTEGER NOT NULL, payload BLOB NOT NULL
        )
        """
    }

    /// How many columns the tables of requests have.
    static let columnCount = 22

    /// The version of a database, zero for an empty one.
    ///
    /// - Throws: That it is somebody else's, whose tables must not be mixed with ours, or too new.
    static func version(of db: Database, path: String) throws -> Int {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let owner = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        if owner == self.applicationID, version > 0 {
            guard version <= self.migrations.count else {
                throw QueueError.newerSchema(path: path, version: version)
            }
            return version
        }
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
        guard version == 0, owner == 0, tables == 0 else { throw QueueError.notAQueue(path: path) }
        return 0
    }

    /// Brings a database up to date, or makes the tables of a new one.
    static func migrate(_ db: Database, path: String, at stamp: ClockStamp) throws {
        let version = try self.version(of: db, path: path)
        if version == self.migrations.count { return }
        try db.inTransaction(.immediate) {
            for statement in self.migrations[version...].joined() { try db.execute(sql: statement) }
            if version == 0 {
                let clock = QueueClock(at: stamp)
                try db.execute(
                    sql: "INSERT INTO queue VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, ?, 0, NULL)",
                    arguments: [
                        clock.boot, clock.offset, clock.anchorWall, clock.anchor,
                        // So that in a file that took the place of another nobody takes up the count of that.
                        max(0, QueueClock.milliseconds(stamp.wall)),
                    ]
                )
            }
            try db.execute(sql: "PRAGMA user_version = \(self.migrations.count)")
            return .commit
        }
    }
}

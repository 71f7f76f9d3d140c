// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// What the database looks like.
///
/// A request is one row from the moment it is taken until nothing of it is kept. Indexes have only the rows that are
/// looked for in them, so that an insert touches two. How many there are in each state triggers count, whichever process writes.
enum StoreSchema {
    /// "NPOR": says of a database whose it is (the application id of SQLite's header).
    static let applicationID: Int64 = 0x4E50_4F52
    /// An insert changes little in several pages, which are written whole.
    static let pageSize = 2048
    /// In `user_version`, where a process of an older version sees it.
    static let version = 3

    /// Of conditions, because SQLite uses a partial index only for a query that repeats the condition of the index.
    static let pending = "state NOT IN ('dead', 'succeeded')"
    /// Without a list, for which SQLite would make a table at every insert.
    static let apart = "(state = 'running' OR state = 'held' OR state = 'dead' OR state = 'succeeded')"
    static let head = """
        SELECT sequence FROM request INDEXED BY requestLane WHERE lane = ? AND \(Self.pending) ORDER BY sequence LIMIT 1
        """

    /// The columns of a damaged file that its requests do not say: what is in a state that is none is held, for a user to decide.
    static func readable() throws -> (state: String, waiting: String, priority: String) {
        let isKnown = "state IN (\(RequestState.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
        let damaged = try JSON.text(of: WaitingReason.damaged)
        return (
            "CASE WHEN \(isKnown) THEN state ELSE 'held' END",
            "CASE WHEN \(isKnown) AND (waiting IS NULL OR json_valid(waiting)) THEN waiting ELSE '\(damaged)' END",
            "CASE WHEN priority IN (0, 1, 2) THEN priority ELSE \(RequestPriority.normal.rawValue) END"
        )
    }

    private static let apartIndex = "CREATE INDEX requestApart ON request (state) WHERE \(Self.apart);"
    private static let readyIndex = """
        CREATE INDEX requestReady ON request (gate, attempts, priority DESC) WHERE state = 'ready';
        """
    /// What earlier versions had otherwise: the condition of the one index, without which queries that name it fail, in version
    /// 1; the order in the other one.
    private static let changes = """
        DROP INDEX requestApart; \(Self.apartIndex) DROP INDEX requestReady; \(Self.readyIndex)
        PRAGMA user_version = \(Self.version)
        """

    private static let tables = """
        CREATE TABLE queue (
          one INTEGER PRIMARY KEY CHECK (one = 1), isPaused INTEGER NOT NULL, forces INTEGER NOT NULL,
          forced TEXT, boot TEXT NOT NULL, offset INTEGER NOT NULL,
          anchorWall INTEGER NOT NULL, anchor INTEGER NOT NULL
        );
        -- Times are milliseconds of the queue's own clock.
        CREATE TABLE request (
          sequence INTEGER PRIMARY KEY, id BLOB NOT NULL, state TEXT NOT NULL, gate TEXT NOT NULL,
          priority INTEGER NOT NULL, lane TEXT, uniqueKey TEXT, requestType TEXT NOT NULL, due INTEGER,
          deadline INTEGER, enqueued INTEGER NOT NULL, size INTEGER NOT NULL, retries INTEGER NOT NULL,
          attempts INTEGER NOT NULL, received INTEGER NOT NULL, status INTEGER, error TEXT, waiting TEXT,
          checksum INTEGER NOT NULL, request TEXT NOT NULL, bodyFile TEXT, body BLOB, answer TEXT,
          answerBody BLOB
        );
        CREATE UNIQUE INDEX requestID ON request (id);
        \(Self.readyIndex)
        CREATE INDEX requestDue ON request (due) WHERE state = 'backoff';
        \(Self.apartIndex)
        CREATE INDEX requestLane ON request (lane) WHERE lane IS NOT NULL AND \(Self.pending);
        CREATE INDEX requestUnique ON request (uniqueKey) WHERE uniqueKey IS NOT NULL AND \(Self.pending);
        CREATE INDEX requestDeadline ON request (deadline) WHERE deadline IS NOT NULL;
        CREATE INDEX requestBody ON request (bodyFile) WHERE bodyFile IS NOT NULL;

        CREATE TABLE total (state TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL)
          WITHOUT ROWID;
        CREATE TRIGGER requestAdded AFTER INSERT ON request BEGIN
          UPDATE total SET count = count + 1, bytes = bytes + new.size WHERE state = new.state;
        END;
        CREATE TRIGGER requestRemoved AFTER DELETE ON request BEGIN
          UPDATE total SET count = count - 1, bytes = bytes - old.size WHERE state = old.state;
        END;
        CREATE TRIGGER requestChanged AFTER UPDATE OF state, size ON request BEGIN
          UPDATE total SET count = count - 1, bytes = bytes - old.size WHERE state = old.state;
          UPDATE total SET count = count + 1, bytes = bytes + new.size WHERE state = new.state;
        END;

        -- How the last ones ended.
        CREATE TABLE ended (
          number INTEGER PRIMARY KEY, id BLOB NOT NULL, time INTEGER NOT NULL, state TEXT NOT NULL, status INTEGER
        );
        PRAGMA application_id = \(Self.applicationID);
        PRAGMA user_version = \(Self.version);
        """

    private static let ours =
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('queue', 'request', 'total', 'ended')"

    /// The version of a database.
    ///
    /// - Throws: That it is another program's, whose tables must not be mixed with ours, or of another version.
    @discardableResult
    static func check(_ db: Database, path: String) throws -> Int {
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA user_version")) ?? 0
        switch try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA application_id")) {
        case self.applicationID:
            // A file has both numbers or none, and there will be no version that is so high.
            guard 1...255 ~= version else { throw StoreDamage(message: "the version of the tables is wrong") }
            guard version <= self.version else { throw QueueError.newerSchema(path: path, version: version) }
            return version
        // Tables of ours below a header that says otherwise.
        case _ where try 1...self.version ~= version && Int.fetchOne(db, sql: self.ours) == 4:
            throw StoreDamage(message: "the application id is wrong")
        default: throw QueueError.notAQueue(path: path)
        }
    }

    /// Compares what describes the tables with what a new database has: what is wrong there SQLite takes as it is.
    static func checkTexts(_ db: Database) throws {
        let texts = "SELECT name || coalesce(sql, '') FROM sqlite_schema ORDER BY name"
        // One that is released would have a thread wake every second.
        let fresh = try DatabaseQueue()
        defer { StoreFile.close(fresh) }
        let expected = try fresh.write { new in
            try new.execute(sql: self.tables)
            return try String.fetchAll(new, sql: texts)
        }
        guard try String.fetchAll(db, sql: texts) == expected else {
            throw StoreDamage(message: "the table definitions differ from those of a queue")
        }
    }

    /// Compares what was counted with what is there: a page of which nothing is left, and a request in a state that is none, no
    /// statement meets.
    static func checkTotal(_ db: Database) throws {
        let isWrong = """
            WITH found AS (SELECT state, count(*), sum(size) FROM request GROUP BY state),
              counted AS (SELECT state, count, bytes FROM total WHERE count != 0 OR bytes != 0)
            SELECT EXISTS (SELECT * FROM found EXCEPT SELECT * FROM counted)
              OR EXISTS (SELECT * FROM counted EXCEPT SELECT * FROM found)
            """
        if try Bool.fetchOne(db, sql: isWrong) == true {
            throw StoreDamage(message: "there are not as many requests as were counted")
        }
    }

    static func make(_ db: Database, at stamp: Moment) throws {
        try db.execute(sql: self.tables)
        for state in RequestState.allCases {
            try db.execute(sql: "INSERT INTO total VALUES (?, 0, 0)", arguments: [state.rawValue])
        }
        try StoreStatus(at: stamp).insert(db)
    }

    static func upgrade(_ database: DatabaseQueue, path: String) throws {
        guard try database.read({ try self.check($0, path: path) }) < self.version else { return }
        try database.write { db in
            // Another process may have been faster.
            if try self.check(db, path: path) < self.version { try db.execute(sql: self.changes) }
        }
    }
}

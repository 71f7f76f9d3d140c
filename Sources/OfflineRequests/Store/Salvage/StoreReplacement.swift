// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// The new database that takes the place of a damaged one.
///
/// It is complete and durable before it gets its second name, and from then on the exchange is finished by whoever
/// opens the queue next. At no instant is the damaged file gone and what was saved of it not there.
struct StoreReplacement {
    private let paths: StorePaths

    init(_ paths: StorePaths) { self.paths = paths }

    /// What was put into the new database.
    struct Contents {
        /// How many requests.
        var recovered = 0
        /// How many the damaged file said it had.
        var expected: Int?
        /// The bodies that belong to them.
        var bodies: Set<String> = []
    }

    /// Makes the new database of what is whole in the pages of the old one.
    func make(of pages: DatabasePages, bodies: BodyFiles, at stamp: ClockStamp) throws -> Contents {
        let path = "\(self.paths.database)-salvaging"
        for suffix in [""] + StorePaths.companions { StoreFiles.remove(path + suffix) }
        try StoreFiles.create(path)
        guard let identity = StoreFiles.identity(path) else { throw QueueError.io(path: path, reason: "it is gone") }
        let connection = try StoreConnection(path, identity: identity, readOnly: false)
        try connection.prepare(path: path, at: stamp)
        // What is too much for the limits of today is not lost either.
        let limits = QueueLimits(maxCount: .max, maxBytes: .max)
        let contents = try connection.transaction(durable: true, at: stamp, limits: limits, bodies: bodies) { new in
            var contents = Contents()
            var (counted, last): (Int64, Int64) = (0, 0)
            for number in 1...max(1, pages.count) {
                for row in TableLeaf(page: number, of: pages).rows {
                    if let old = StoreTally(row) {
                        contents.expected = old.counts.total
                        counted = old.sequence
                        new.isPaused = old.isPaused
                    } else if let request = SalvagedRequest(row, bodies: bodies), try new.restore(request) {
                        contents.recovered += 1
                        if !request.state.isFinal { last = max(last, request.sequence) }
                        if let body = request.bodyFile { contents.bodies.insert(body) }
                    }
                }
            }
            try new.promoteLanes()
            // The last few were not counted.
            if let expected = contents.expected, 1...StoreTally.slack ~= last - counted {
                contents.expected = expected + Int(last - counted)
            }
            return contents
        }
        try connection.checkpoint()
        try connection.close()
        try StoreFiles.rename(path, to: self.paths.replacement)
        StoreFiles.syncFolder(self.paths.folder)
        return contents
    }

    /// Sets the damaged file aside, with its journal, and puts the new one in its place.
    ///
    /// - Returns: What the damaged file is called now; nil when there is no new one.
    @discardableResult
    func finish(at stamp: ClockStamp) throws -> String? {
        guard StoreFiles.identity(self.paths.replacement) != nil else { return nil }
        let aside = try self.setAside(at: stamp)
        try StoreFiles.rename(self.paths.replacement, to: self.paths.database)
        StoreFiles.syncFolder(self.paths.folder)
        return aside
    }

    /// Gives what is there another name.
    ///
    /// - Returns: The name, which the file itself may not have because there was none.
    func setAside(at stamp: ClockStamp) throws -> String {
        let time = stamp.wall.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        var aside = "\(self.paths.database).corrupt-\(time)"
        var number = 1
        while StoreFiles.kind(aside) != .nothing || StoreFiles.kind("\(aside)-wal") != .nothing {
            number += 1
            aside = "\(self.paths.database).corrupt-\(time)-\(number)"
        }
        // A journal beside a database that it does not belong to would be played into it.
        for suffix in StorePaths.companions + [""] where StoreFiles.identity(self.paths.database + suffix) != nil {
            try StoreFiles.rename(self.paths.database + suffix, to: aside + suffix)
        }
        return aside
    }
}

extension StoreTally {
    /// Recognizes the row of the table `queue`, of which only what can do no harm is believed.
    init?(_ row: TableLeaf.Row) {
        let values = row.values
        guard values.count == 19, row.number == 1, values[0] == .null, values[12].text != nil else { return nil }
        let numbers = values.map { $0.number ?? -1 }
        guard numbers[1...11].allSatisfy({ 0..<(1 << 40) ~= $0 }) else { return nil }
        self.sequence = numbers[1]
        self.counted = numbers[1]
        self.counts = QueueCounts(
            ready: Int(numbers[2]),
            blocked: Int(numbers[3]),
            backoff: Int(numbers[4]),
            running: Int(numbers[5]),
            held: Int(numbers[6]),
            dead: Int(numbers[7]),
            succeeded: Int(numbers[8]),
            bytes: Int(numbers[9])
        )
        self.finishedBytes = Int(numbers[10])
        self.isPaused = numbers[11] == 1
        self.clock = QueueClock(boot: "", offset: 0, anchorWall: 0, anchor: 0)
        self.ends = 0
        self.forces = 0
    }
}

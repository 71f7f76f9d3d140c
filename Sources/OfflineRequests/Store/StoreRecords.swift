// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Reads whole requests, in whatever transaction the database is in.
struct StoreRecords {
    let db: Database
    let clock: QueueClock
    let stamp: ClockStamp
    let bodies: BodyFiles

    /// The request with an id, finished or not; nil when there is none.
    func record(_ id: UUID) throws -> RequestRecord? {
        try self.fetch("SELECT * FROM kept WHERE id = ?", [id]).first
    }

    /// Some requests, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - states: Those that are wanted.
    ///   - sequence: The number of the last one that is known; the page begins after it.
    ///   - limit: How many at most.
    /// - Returns: The requests, fewer than the limit only when there are no more.
    /// - Throws: What the database says, or what is wrong with a request.
    func page(states: Set<RequestState>, after sequence: Int64, limit: Int) throws -> [RequestRecord] {
        let numbers = states.compactMap { StoreState.number($0) }.sorted()
        let wanted = numbers.map { "\($0)" }.joined(separator: ", ")
        var tables: [String] = []
        // The few that are being sent or held are found without a look at all others.
        let isApart = numbers.allSatisfy { $0 >= StoreState.running }
        if numbers.contains(where: { $0 < StoreState.dead }) {
            tables.append(isApart ? "request INDEXED BY requestApart WHERE state >= 3 AND" : "request WHERE")
        }
        if numbers.contains(where: { $0 >= StoreState.dead }) { tables.append("finished WHERE") }
        var records: [RequestRecord] = []
        for table in tables {
            records += try self.fetch(
                "SELECT * FROM \(table) state IN (\(wanted)) AND sequence > ? ORDER BY sequence LIMIT ?",
                [sequence, limit]
            )
        }
        if tables.count > 1 { records.sort { $0.sequence < $1.sequence } }
        return Array(records.prefix(limit))
    }

    /// Reads every request, which finds those that are not what was written.
    func verify() throws {
        let rows = try Row.fetchCursor(self.db, sql: "SELECT * FROM kept")
        while let row = try rows.next() { _ = try self.record(Columns(row)) }
    }

    func fetch(_ sql: String, _ arguments: StatementArguments = []) throws -> [RequestRecord] {
        try Row.fetchAll(self.db.cachedStatement(sql: sql), arguments: arguments).map { row in
            try self.record(Columns(row))
        }
    }

    private func record(_ columns: Columns) throws -> RequestRecord {
        guard let state = StoreState.state(try columns.number(2)) else { throw Damage(reason: "a state is none") }
        let payload = try columns.octets(21)
        let (seal, id) = (try columns.number(20), try columns.id(1))
        var request = try Self.request(payload, seal: seal, of: id, in: state, self.bodies).request
        request.retryCount = Int(clamping: try columns.number(12))
        let due = columns.optionalNumber(8).map { self.clock.wall($0, at: self.stamp) }
        let response = try columns.optionalOctets(18).map { try RequestReader.response($0) }
        return RequestRecord(
            request: request,
            state: state,
            waiting: try self.waiting(columns, state: state, due: due),
            lastError: columns.optionalText(16),
            lastStatus: columns.optionalNumber(15).map { Int($0) },
            notBefore: due,
            sequence: try columns.number(0),
            attempts: Int(try columns.number(13)),
            isRepeat: try columns.number(14) != 0 || request.retryCount > 0,
            response: response
        )
    }

    /// Reads a request, and refuses one that is not what was written.
    static func request(
        _ payload: Data,
        seal: Int64,
        of id: UUID,
        in state: RequestState,
        _ bodies: BodyFiles
    ) throws -> (request: RetryableRequest, bodyFile: String?) {
        // A finished request has the complement, so that damage cannot make one go again.
        guard Checksum.of(payload) == (state.isFinal ? ~seal : seal) else {
            throw Damage(reason: "the checksum of a request is wrong")
        }
        var (request, bodyFile) = try RequestReader.request(payload)
        guard id == request.id else { throw Damage(reason: "a request has the id of another") }
        request.bodyFile = bodyFile.map { bodies.path($0) }
        return (request, bodyFile)
    }

    private func waiting(_ columns: Columns, state: RequestState, due: Date?) throws -> WaitingReason? {
        switch state {
        case .backoff: return due.map { .backoff(until: $0) }
        case .held:
            return columns.optionalText(17).flatMap { text in
                try? JSONDecoder().decode(WaitingReason.self, from: Data(text.utf8))
            }
        case .blocked:
            let head = try Row.fetchOne(
                self.db.cachedStatement(
                    sql: "SELECT id FROM request INDEXED BY requestLane WHERE lane = ? ORDER BY sequence LIMIT 1"
                ),
                arguments: [try columns.text(5)]
            )
            return try head.map { .behind(try Columns($0).id(0)) }
        case .ready, .running, .dead, .succeeded, .cancelled: return nil
        }
    }
}

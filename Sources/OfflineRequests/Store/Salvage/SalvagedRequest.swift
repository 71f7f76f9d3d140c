// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// A request that was found whole in a damaged file.
///
/// The checksum vouches for the request, and for whether it was finished. Nothing vouches for where else it stood, so
/// that is only believed as far as it can do no harm.
struct SalvagedRequest {
    var request: RetryableRequest
    var bodyFile: String?
    /// Dead or succeeded, or held; else ready.
    var state: RequestState
    var sequence: Int64
    var enqueued: Int64?
    var bodySize: Int
    var retries: Int
    var attempts: Int
    var wasReceived: Bool
    var status: Int?
    var error: String?
    var waiting: String?
    var response: Data?

    init?(_ row: TableLeaf.Row, bodies: BodyFiles) {
        let values = row.values
        guard values.count == StoreSchema.columnCount, let payload = values[21].octets, let seal = values[20].number
        else { return nil }
        let sum = Checksum.of(payload)
        guard seal == sum || seal == ~sum, let (request, bodyFile) = try? RequestReader.request(payload) else {
            return nil
        }
        self.request = request
        self.request.bodyFile = bodyFile.map { bodies.path($0) }
        self.bodyFile = bodyFile
        self.sequence = row.number
        let state = values[2].number.flatMap { StoreState.state($0) }
        self.waiting = values[17].text
        if seal == ~sum {
            self.state = state == .succeeded ? .succeeded : .dead
        } else {
            self.state = state == .held && self.waiting != nil ? .held : .ready
        }
        func count(_ index: Int) -> Int { Int(max(0, min(1 << 20, values[index].number ?? 0))) }
        self.enqueued = values[10].number
        self.bodySize = bodyFile == nil ? 0 : max(0, min(1 << 40, Int(values[11].number ?? 0) - payload.count))
        self.retries = count(12)
        self.attempts = count(13)
        self.wasReceived = state == .running || values[14].number != 0
        self.status = values[15].number.flatMap { 0..<1000 ~= $0 ? Int($0) : nil }
        self.error = values[16].text
        self.response = values[18].octets.flatMap { (try? RequestReader.response($0)) == nil ? nil : $0 }
        if self.state == .succeeded, self.response == nil { self.state = .dead }
    }
}

extension StoreTransaction {
    /// Puts a request back where it was, as far as that is known.
    ///
    /// - Returns: Whether it was not there yet.
    func restore(_ salvaged: SalvagedRequest) throws -> Bool {
        let request = salvaged.request
        let isFinished = salvaged.state.isFinal
        guard try self.row(request.id) == nil, try self.row(request.id, in: "finished") == nil else { return false }
        let prepared = PreparedRequest(
            request,
            to: request.host,
            bodyFile: salvaged.bodyFile,
            bodySize: salvaged.bodySize
        )
        let table = isFinished ? "finished" : "request"
        var sequence = salvaged.sequence
        let taken = try self.number("SELECT 1 FROM \(table) WHERE sequence = ?", [sequence]) != nil
        if taken || !(1..<(1 << 53) ~= sequence) { sequence = self.tally.sequence + 1 }
        // Which of a lane is the first is known when all of them are there.
        let state: RequestState = salvaged.state == .ready && prepared.lane != nil ? .blocked : salvaged.state
        let wall = QueueClock.milliseconds(self.stamp.wall)
        let expiry = isFinished ? nil : request.expiresAt.map { self.now &+ QueueClock.milliseconds($0) &- wall }
        // How long a response was kept already is not known.
        let age = state == .succeeded ? self.now &+ QueueClock.milliseconds(QueueLimits().maxResponseAge) : nil
        try self.execute(
            """
            INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                sequence, request.id, StoreState.number(state), try self.gate(for: prepared),
                request.priority.rawValue, prepared.lane, request.uniqueKey, request.requestType,
                expiry ?? age,
                min(self.now, max(0, salvaged.enqueued ?? self.now)), prepared.size, salvaged.retries,
                salvaged.attempts, salvaged.wasReceived ? 1 : 0, salvaged.status, salvaged.error,
                state == .held ? salvaged.waiting : nil, salvaged.response, prepared.bodyFile,
                isFinished ? ~prepared.seal : prepared.seal, prepared.payload,
            ]
        )
        self.tally.sequence = max(self.tally.sequence, sequence)
        self.tally.add(state, size: prepared.size)
        return true
    }

    /// Lets the first of every lane go.
    func promoteLanes() throws {
        let heads = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM request WHERE state = 1 AND sequence IN
              (SELECT min(sequence) FROM request WHERE lane IS NOT NULL GROUP BY lane)
            """
        )
        for head in heads { try self.promote(head.lane) }
    }
}

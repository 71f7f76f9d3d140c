// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP

/// A request that may go, and where it stands in the file.
struct ReadyRequest: Hashable, Sendable, Identifiable {
    var record: RequestRecord
    var row: StoredRow
    /// How much memory it takes, about.
    var octets: Int

    var id: UUID { self.row.id }
}

/// Finding what may go.
extension StoreTransaction {
    /// The gates that have requests which may go, each with the first of them.
    ///
    /// One look into the index for each, however many requests wait.
    func gates() throws -> [StoreGate] {
        guard self.counts.ready > 0 else { return [] }
        return try self.attempt {
            let next = try SQLStatement(
                self.db,
                """
                SELECT gate, priority, sequence FROM request INDEXED BY requestReady WHERE state = 0 AND gate > ?
                ORDER BY gate, priority DESC, sequence LIMIT 1
                """
            )
            let describe = try SQLStatement(self.db, "SELECT host, requires FROM gate WHERE id = ?")
            var gates: [StoreGate] = []
            while let head = try next.first(
                .number(gates.last?.id ?? .min),
                read: { row in
                    (gate: row.number(0), priority: row.number(1), sequence: row.number(2))
                }
            ) {
                guard let id = head.gate, let first = head.sequence,
                    let priority = head.priority.flatMap({ RequestPriority(rawValue: Int($0)) }),
                    let gate = try describe.first(
                        .number(id),
                        read: { row in
                            guard let host = row.text(0), let requires = row.octets(1) else {
                                throw Damage(reason: "a gate is damaged")
                            }
                            return try RequestReader.gate(requires, of: host)
                        }
                    )
                else { throw Damage(reason: "a request has a gate that is none") }
                gates.append(StoreGate(id: id, gate: gate, priority: priority, first: first))
            }
            // Requests that no index finds would wait for ever.
            guard !gates.isEmpty else { throw Damage(reason: "requests are counted that no index finds") }
            return gates
        }
    }

    /// The requests that may go through a gate, in the order they are to go.
    ///
    /// - Parameters:
    ///   - gate: The number of the gate.
    ///   - limit: How many at most.
    ///   - octets: How much memory they may take; the last one may take more.
    ///   - isKnown: Says which ones not to read.
    /// - Returns: As many as there are within the limits.
    /// - Throws: What the database says, or what is wrong with a request.
    func ready(
        gate: Int64,
        limit: Int,
        octets: Int = .max,
        except isKnown: (UUID) -> Bool = { _ in false }
    ) throws -> [ReadyRequest] {
        try self.attempt {
            var (requests, room): ([ReadyRequest], Int) = ([], octets)
            guard limit > 0, room > 0 else { return [] }
            try SQLStatement(self.db, Self.findReady).each(.number(gate)) { row in
                let stored = try StoredRow(row)
                if isKnown(stored.id) { return true }
                let request = try self.ready(stored, row)
                requests.append(request)
                room -= request.octets
                return requests.count < limit && room > 0
            }
            return requests
        }
    }

    private static let findReady = """
        SELECT \(StoredRow.columns), retries, attempts, received, status, error, seal, payload, response
        FROM request INDEXED BY requestReady WHERE state = 0 AND gate = ? ORDER BY priority DESC, sequence
        """

    private func ready(_ stored: StoredRow, _ row: SQLStatement) throws -> ReadyRequest {
        guard let retries = row.number(7), let attempts = row.number(8), let received = row.number(9),
            let seal = row.number(12), let payload = row.octets(13)
        else { throw Damage(reason: "a row of a request is damaged") }
        var request = try StoreRecords.request(payload, seal: seal, of: stored.id, in: .ready, self.bodies).request
        request.retryCount = Int(clamping: retries)
        let record = RequestRecord(
            request: request,
            state: .ready,
            lastError: row.text(11),
            lastStatus: row.number(10).map { Int($0) },
            sequence: stored.sequence,
            attempts: Int(clamping: attempts),
            isRepeat: received != 0 || request.retryCount > 0,
            response: try row.octets(14).map { try RequestReader.response($0) }
        )
        return ReadyRequest(record: record, row: stored, octets: payload.count)
    }
}

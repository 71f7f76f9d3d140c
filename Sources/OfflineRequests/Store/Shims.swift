// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

// Until delivery does without them.
extension RequestStore {
    func append(_ prepared: PreparedRequest, then: (Insertion, _ ends: Int64) -> Void) -> Bool { false }
    func takeReserve() -> Bool { true }
    func giveReserve() -> Bool { false }
    func emptyJournal() throws(QueueError) {}
}

extension StoreTransaction {
    var tally: StoreStatus { self.status }

    func finish(
        _ id: UUID,
        as known: StoredRow?,
        _ outcome: StoreOutcome,
        status: Int? = nil,
        error: String? = nil
    ) throws -> Finish? { try self.finish(id, outcome, status: status, error: error) }
}

extension ReadyRequest {
    var row: StoredRow {
        StoredRow(
            sequence: self.record.sequence,
            id: self.id,
            state: .ready,
            size: 0,
            lane: nil,
            bodyFile: nil
        )
    }
}

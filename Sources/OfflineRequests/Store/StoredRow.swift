// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// What changes of state need of a row: everything but the request itself.
struct StoredRow: Hashable, Sendable {
    /// The columns, in the order of the properties.
    static let columns = "sequence, id, state, size, lane, bodyFile, enqueued"

    var sequence: Int64
    var id: UUID
    var state: RequestState
    var size: Int
    var lane: String?
    var bodyFile: String?
    var enqueued: Int64

    init(_ row: Row) throws {
        let columns = Columns(row)
        self.sequence = try columns.number(0)
        self.id = try columns.id(1)
        guard let state = StoreState.state(try columns.number(2)) else { throw Damage(reason: "a state is none") }
        self.state = state
        self.size = Int(try columns.number(3))
        self.lane = columns.optionalText(4)
        self.bodyFile = columns.optionalText(5)
        self.enqueued = try columns.number(6)
    }

    init(_ row: SQLStatement) throws {
        guard let sequence = row.number(0), let id = row.id(1),
            let state = row.number(2).flatMap({ StoreState.state($0) }), let size = row.number(3),
            let enqueued = row.number(6)
        else { throw Damage(reason: "a row of a request is damaged") }
        self.sequence = sequence
        self.id = id
        self.state = state
        self.size = Int(size)
        self.lane = row.text(4)
        self.bodyFile = row.text(5)
        self.enqueued = enqueued
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// What became of a request that was to be inserted.
struct Insertion: Hashable, Sendable {
    /// The id of the request in the queue: that of another which was there and stays, by ``UniquePolicy/keep``.
    var id: UUID
    /// Whether another was there and stays.
    var isKept = false
    /// Where it stands.
    var state: RequestState
    /// Those whose place it took.
    var replaced: [UUID] = []
    /// Those that were removed because the queue was full.
    var dropped: [UUID] = []
}

/// What changed when an attempt ended.
struct Finish: Hashable, Sendable {
    /// Where the request stands now; `succeeded` also when nothing of it is kept.
    var state: RequestState
    /// Those behind it that were given up with it.
    var dropped: [UUID] = []
}

/// A request that may go, if it is what was taken.
struct ReadyRequest: Identifiable, Sendable {
    /// The request, and where it stands.
    let record: RequestRecord
    /// What it was read from.
    let row: StoredRequest

    var id: UUID { self.row.id }
}

/// A gate that has requests which may go.
struct StoreGate: Identifiable, Hashable, Sendable, FetchableRecord {
    /// What its requests have in their column.
    var id: String
    /// The priority of the request that goes first through it.
    var priority: RequestPriority
    /// The number of that request.
    var first: Int64
    /// Where the requests go, and what they need of the network.
    var gate: Gate

    init(row: Row) {
        self.id = row["id"]
        self.priority = RequestPriority(rawValue: row["priority"]) ?? .normal
        self.first = row["first"]
        self.gate = Gate(text: self.id) ?? Gate(host: self.id)
    }
}

/// A request as it goes into the database: encoded, and with a long body in a file of the queue's own.
///
/// All that takes long is done when it is made, on the thread of the caller.
struct PreparedRequest: Sendable {
    /// The request, as the queue will give it back.
    let request: RetryableRequest
    /// Its row, but for its place and its times.
    let row: StoredRequest
    /// The file of the body; nil without one.
    let lease: BodyLease?

    /// Prepares a request that is valid, and goes to that host.
    init(_ request: RetryableRequest, to host: String, limit: Int, bodies: BodyFiles) throws(QueueError) {
        var kept = request
        var copy: BodyFiles.Copy?
        if let file = request.bodyFile {
            copy = try bodies.copy(file, limit: limit)
        } else if let body = request.body, body.count > BodyFiles.threshold {
            copy = try bodies.write(body)
        }
        if let copy {
            kept.body = nil
            kept.bodyFile = copy.lease.path
        }
        self.request = kept
        self.row = try StoredRequest(kept, to: host, copy)
        self.lease = copy?.lease
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP

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

/// How an attempt ended, as the store sees it.
enum StoreOutcome: Hashable, Sendable {
    /// It is done; the response is kept where there is one here.
    case delivered(TransportResponse? = nil)
    /// It is tried again: after a while, or with nil as soon as may be.
    case later(after: Duration?, countsAttempt: Bool)
    /// It was answered, and the response is to be handled as soon as may be; it is not sent again.
    case answered(TransportResponse)
    /// It was answered, and nobody has handled the response: it is given up, and its lane goes on.
    case unhandled(TransportResponse)
    /// It waits for somebody.
    case held(WaitingReason)
    /// It is given up.
    case dead
}

/// What else changed when an attempt ended.
struct Finish: Hashable, Sendable {
    /// Where the request stands now; `succeeded` also when nothing of it is kept.
    var state: RequestState
    /// The next of its lane, which may go now.
    var promoted: UUID?
    /// Those behind it that were given up with it.
    var dropped: [UUID] = []
}

/// What was cancelled.
struct Cancellation: Hashable, Sendable {
    /// All of them.
    var ids: [UUID] = []
    /// Those of them that are being sent.
    var running: [UUID] = []
}

/// A gate that has requests which may go.
struct StoreGate: Identifiable, Hashable, Sendable {
    /// What its requests have in their column.
    var id: String
    /// Where the requests go, and what they need of the network.
    var gate: Gate
    /// The priority of the request that goes first through it.
    var priority: RequestPriority
    /// The number of that request.
    var first: Int64
}

/// A request that may go.
struct ReadyRequest: Hashable, Sendable, Identifiable {
    var record: RequestRecord
    /// How much memory it takes, about.
    var octets: Int

    var id: UUID { self.record.id }
}

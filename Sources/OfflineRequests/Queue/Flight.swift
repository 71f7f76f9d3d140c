// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

/// A request that was read and may go next, until its end is recorded.
///
/// An object, because what a request consists of takes longer to copy than to look up.
final class Candidate {
    /// The request as it was read; without its body once it is answered.
    var record: RequestRecord
    /// Where it stood in the file.
    var row: StoredRow
    let gate: StoreGate

    init(_ request: ReadyRequest, gate: StoreGate) {
        self.record = request.record
        self.row = request.row
        self.gate = gate
    }

    var id: UUID { self.row.id }
}

/// A request that is being sent, from the moment it is taken from the file until its end is recorded there.
struct Flight {
    /// How far it is.
    enum Phase {
        /// The hook before the attempt runs.
        case preparing
        /// The transport has it.
        case sending(any HTTPTask)
        /// The handler of the response runs.
        case handling(HTTPResponse)
    }

    let candidate: Candidate
    /// Tells what is said of this attempt from what is said of an earlier one.
    let run: UInt64
    let startedAt: MonotonicTime
    /// Whether the file says that it is being sent.
    var isMarked = false
    var phase = Phase.preparing

    /// When the file should say so at the latest.
    var markAt: MonotonicTime { self.startedAt + .milliseconds(20) }

    var isHandling: Bool { if case .handling = self.phase { true } else { false } }

    /// Ends the attempt, where the transport has it.
    func cancel() {
        if case .sending(let task) = self.phase { task.cancel() }
    }
}

/// The end of an attempt, until it is recorded.
struct Landing {
    let candidate: Candidate
    let isMarked: Bool
    let at: MonotonicTime
    let disposition: Disposition
    /// The status of the answer, where there was one.
    let status: Int?
    /// What went wrong, without secrets.
    let failure: String?
    /// The response, where it is to be kept.
    let response: HTTPResponse?

    /// Whether it may wait for others to be recorded with it.
    var mayWait: Bool { self.disposition == .succeeded && self.response == nil }
}

/// How an attempt failed that was made before the request was enqueued.
struct FirstAttempt: Sendable {
    let result: Result<HTTPResponse, TransportError>
}

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
    /// What is left to go in the place of another.
    var entry: Relay.Entry?

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
        case sending(any TransportTask)
        /// The handler of the response runs, and may until then.
        case handling(TransportResponse, Task<Void, Never>, by: MonotonicTime)
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

    /// Until when the handler of the response may run; nil while none does.
    var handledBy: MonotonicTime? { if case .handling(_, _, let end) = self.phase { end } else { nil } }

    /// Ends the attempt, where the transport or a handler has it.
    func cancel() {
        switch self.phase {
        case .preparing: ()
        case .sending(let task): task.cancel()
        case .handling(_, let task, _): task.cancel()
        }
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
    /// The response, where it is to be kept: because somebody asked for it, or nobody has taken it.
    let response: TransportResponse?

    /// Whether it may wait for others to be recorded with it.
    var mayWait: Bool { self.disposition == .succeeded && self.response == nil }
}

/// How an attempt failed that was made before the request was enqueued.
struct FirstAttempt: Sendable {
    let result: Result<TransportResponse, TransportError>
}

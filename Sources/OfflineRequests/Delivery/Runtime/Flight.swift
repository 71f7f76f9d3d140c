// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP

/// A request that is being sent, from the moment the file says so until its end is about to be recorded there.
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

    /// The request as it was read.
    let record: RequestRecord
    /// Tells what is said of this attempt from what is said of an earlier one.
    let run: UInt64
    var phase = Phase.preparing

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
struct CompletedAttempt {
    let record: RequestRecord
    let disposition: Disposition
    /// The status of the answer, where there was one.
    var status: Int?
    /// What went wrong, without secrets.
    var failure: String?
    /// How the attempt ended, where it was made.
    var result: AttemptResult?
    /// The response, which is kept where the request asks for that, or no handler took it.
    var response: TransportResponse?
}

/// How an attempt ended.
typealias AttemptResult = Result<TransportResponse, TransportError>

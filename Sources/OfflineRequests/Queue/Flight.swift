// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

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

    /// The request as it was taken.
    let record: RequestRecord
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

/// A request that was read and may go next.
struct Candidate {
    let record: RequestRecord
    let gate: Gate
}

/// The end of an attempt, until it is recorded.
struct Landing {
    let record: RequestRecord
    let isMarked: Bool
    let disposition: Disposition
    /// The status of the answer, where there was one.
    let status: Int?
    /// What went wrong, without secrets.
    let failure: String?
    /// The response, where it is to be kept.
    let response: HTTPResponse?
}

/// How an attempt failed that was made before the request was enqueued.
struct FirstAttempt: Sendable {
    let result: Result<HTTPResponse, TransportError>
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// A request as it was when it was last looked at.
struct SeenRequest: Sendable {
    var record: RequestRecord
    /// How many requests had left the file by then without having been delivered.
    var ends: Int64
}

/// How the last few requests ended, for those who ask only after that.
final class RecentRequests: Sendable {
    private struct State: Sendable {
        /// Where the next one goes, in place of the oldest; the one before it is the latest.
        var next = 0
        var requests: [SeenRequest] = []
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    /// A request as it was last remembered.
    ///
    /// All are looked through, since many more are remembered than are ever asked for.
    subscript(id: UUID) -> SeenRequest? {
        self.state.withLock { state in
            let later = state.requests[..<state.next].last { $0.record.id == id }
            return later ?? state.requests[state.next...].last { $0.record.id == id }
        }
    }

    /// Remembers a request, without its body, in place of the one that has been remembered the longest.
    ///
    /// - Parameters:
    ///   - record: The request.
    ///   - ends: How many had left without having been delivered, for one that is not finished.
    func add(_ record: consuming RequestRecord, ends: Int64 = 0) {
        record.request.body = nil
        record.waiting = nil
        let seen = SeenRequest(record: record, ends: ends)
        self.state.withLock { [capacity = self.capacity] state in
            if state.requests.count < capacity {
                state.requests.append(seen)
            } else {
                state.requests[state.next] = seen
            }
            state.next = (state.next + 1) % capacity
        }
    }
}

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
        var requests: [UUID: SeenRequest] = [:]
        var order: [UUID] = []
        var oldest = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(id: UUID) -> SeenRequest? { self.state.withLock { $0.requests[id] } }

    /// Remembers a request, without its body, in place of the one that has been remembered the longest.
    ///
    /// - Parameters:
    ///   - record: The request.
    ///   - ends: How many had left without having been delivered, for one that is not finished.
    func add(_ record: RequestRecord, ends: Int64 = 0) {
        var record = record
        record.request.body = nil
        record.waiting = nil
        let seen = SeenRequest(record: record, ends: ends)
        self.state.withLock { [capacity = self.capacity] state in
            guard state.requests.updateValue(seen, forKey: record.id) == nil else { return }
            if state.order.count < capacity {
                state.order.append(record.id)
            } else {
                state.requests[state.order[state.oldest]] = nil
                state.order[state.oldest] = record.id
                state.oldest = (state.oldest + 1) % capacity
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// How the last few requests ended, for those who ask only after that.
final class RecentRequests: Sendable {
    private struct State: Sendable {
        var records: [UUID: RequestRecord] = [:]
        var order: [UUID] = []
        var oldest = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(id: UUID) -> RequestRecord? { self.state.withLock { $0.records[id] } }

    /// Remembers a request, without its body, in place of the one that has been remembered the longest.
    func add(_ record: RequestRecord) {
        var record = record
        record.request.body = nil
        record.waiting = nil
        self.state.withLock { [capacity = self.capacity] state in
            guard state.records.updateValue(record, forKey: record.id) == nil else { return }
            if state.order.count < capacity {
                state.order.append(record.id)
            } else {
                state.records[state.order[state.oldest]] = nil
                state.order[state.oldest] = record.id
                state.oldest = (state.oldest + 1) % capacity
            }
        }
    }
}

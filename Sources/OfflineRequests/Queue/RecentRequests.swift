// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A request as it was when it was last looked at.
struct SeenRequest: Sendable {
    var record: RequestRecord
    /// How many requests had left the file by then without having been delivered.
    var ends: Int64
}

/// How the last few requests ended, for those who ask only after that.
struct RecentRequests {
    private let capacity: Int
    private var requests: [UUID: SeenRequest] = [:]
    private var order: [UUID] = []
    private var oldest = 0

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(id: UUID) -> SeenRequest? { self.requests[id] }

    /// Remembers a request, without its body, in place of the one that has been remembered the longest.
    ///
    /// - Parameters:
    ///   - record: The request.
    ///   - ends: How many had left without having been delivered, for one that is not finished.
    mutating func add(_ record: RequestRecord, ends: Int64 = 0) {
        var record = record
        record.request.body = nil
        record.waiting = nil
        let seen = SeenRequest(record: record, ends: ends)
        guard self.requests.updateValue(seen, forKey: record.id) == nil else { return }
        if self.order.count < self.capacity {
            self.order.append(record.id)
        } else {
            self.requests[self.order[self.oldest]] = nil
            self.order[self.oldest] = record.id
            self.oldest = (self.oldest + 1) % self.capacity
        }
    }
}

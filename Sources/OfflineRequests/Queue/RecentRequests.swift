// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// How the last few requests ended, for those who ask only after that.
struct RecentRequests {
    private let capacity: Int
    private var records: [UUID: RequestRecord] = [:]
    private var order: [UUID] = []
    private var oldest = 0

    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(id: UUID) -> RequestRecord? { self.records[id] }

    /// Remembers a request, without its body, in place of the one that has been remembered the longest.
    mutating func add(_ record: RequestRecord) {
        var record = record
        record.request.body = nil
        record.waiting = nil
        guard self.records.updateValue(record, forKey: record.id) == nil else { return }
        if self.order.count < self.capacity {
            self.order.append(record.id)
        } else {
            self.records[self.order[self.oldest]] = nil
            self.order[self.oldest] = record.id
            self.oldest = (self.oldest + 1) % self.capacity
        }
    }
}

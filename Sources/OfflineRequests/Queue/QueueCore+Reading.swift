// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// Reading on the threads of callers, beside the thread of the queue.
extension QueueCore {
    var counts: QueueCounts { (try? self.store.read { $1.counts }) ?? QueueCounts() }

    func record(_ id: UUID) throws(QueueError) -> RequestRecord? {
        let (record, isPaused) = try self.store.read { (try $0.record(id), $1.isPaused) }
        return record.map { record in
            self.status.withLock { $0 }.explain([record], isPaused: isPaused, in: self.file)[0]
        }
    }

    func page(of states: Set<RequestState>, after sequence: Int64, limit: Int) -> [RequestRecord] {
        let page = try? self.store.read { records, tally in
            (try records.page(states: states, after: sequence, limit: limit), tally.isPaused)
        }
        guard let (records, isPaused) = page else { return [] }
        return self.status.withLock { $0 }.explain(records, isPaused: isPaused, in: self.file)
    }
}

extension Moment {
    /// Reads the clocks.
    ///
    /// Deadlines of a queue go on while the machine is suspended, as what it sleeps on does.
    static func ofQueue() -> Moment { Moment(monotonic: Sleep.now(), stamp: .now()) }
}

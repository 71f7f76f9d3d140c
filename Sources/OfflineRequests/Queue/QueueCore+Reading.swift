// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// Reading on the threads of callers, beside the thread of the queue.
extension QueueCore {
    var counts: QueueCounts { (try? self.store.read { $1.counts }) ?? QueueCounts() }

    func record(_ id: UUID) throws(QueueError) -> RequestRecord? {
        try self.store.read { records, _ in try records.record(id) }.map { self.explained([$0])[0] }
    }

    func page(of states: Set<RequestState>, after sequence: Int64, limit: Int) -> [RequestRecord] {
        let page = try? self.store.read { records, _ in
            try records.page(states: states, after: sequence, limit: limit)
        }
        return self.explained(page ?? [])
    }

    /// Adds what the requests wait for, where the file does not say it.
    private func explained(_ records: [RequestRecord]) -> [RequestRecord] {
        guard records.contains(where: { $0.state == .ready || $0.state == .backoff }) else { return records }
        let status = self.status.withLock { $0 }
        let mayBeSentElsewhere = [.none, .standby].contains(status.role)
        let isSentElsewhere = mayBeSentElsewhere && SenderLock.isHeld(at: QueueFile.senderLock(of: self.file))
        let now = Moment.ofQueue()
        return records.map { record in
            guard record.state == .ready || record.state == .backoff else { return record }
            var record = record
            record.waiting = status.waiting(for: record, isSentElsewhere: isSentElsewhere, at: now)
            return record
        }
    }
}

extension Moment {
    /// Reads the clocks.
    ///
    /// Deadlines of a queue go on while the machine is suspended, as what it sleeps on does.
    static func ofQueue() -> Moment { Moment(monotonic: Sleep.now(), stamp: .now()) }
}

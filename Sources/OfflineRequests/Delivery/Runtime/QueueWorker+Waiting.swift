// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A caller that waits for the end of a request, or for the end of all of them.
struct QueueWaiter: Sendable {
    let token: UUID
    /// The request; nil for all.
    let id: UUID?
    /// The request as it was when it was last looked at.
    var last: RequestRecord?
    /// Tells how the request ended; nil for one that is not there.
    let reply: @Sendable (Result<RequestRecord?, QueueError>) -> Void
}

/// Those who wait for the end of requests.
extension QueueWorker {
    func add(_ waiter: QueueWaiter) {
        var waiter = waiter
        if !self.answer(&waiter) { self.waiters.append(waiter) }
    }

    func abandon(_ token: UUID) {
        guard let index = self.waiters.firstIndex(where: { $0.token == token }) else { return }
        self.waiters.remove(at: index).reply(.failure(.closed))
    }

    /// Answers those who know now what they wait for.
    ///
    /// - Parameters:
    ///   - ended: The requests that ended in the last transaction of this process.
    ///   - isDrained: Whether nothing is left.
    ///   - all: Whether others may have done something, so that everything is looked at.
    func checkWaiters(ended: Set<UUID> = [], isDrained: Bool = false, all: Bool = false) {
        guard !self.waiters.isEmpty, all || isDrained || !ended.isEmpty else { return }
        self.waiters = self.waiters.compactMap { waiter in
            var waiter = waiter
            let concerns = all || waiter.id.map { ended.contains($0) } ?? isDrained
            return concerns && self.answer(&waiter) ? nil : waiter
        }
    }

    /// - Returns: Whether it was answered.
    private func answer(_ waiter: inout QueueWaiter) -> Bool {
        do throws(QueueError) {
            guard let id = waiter.id else {
                guard try self.core.store.read({ try $0.counts.isDrained }) else { return false }
                waiter.reply(.success(nil))
                return true
            }
            let (present, end) = try self.core.store.read { records in
                let record = try records.record(id)
                return (record, record == nil ? try records.end(of: id) : nil)
            }
            if let present {
                waiter.last = present
                if present.state.isFinal { waiter.reply(.success(present)) }
                return present.state.isFinal
            }
            guard let end else {
                waiter.reply(.success(nil))
                return true
            }
            let recent = self.recent[id]
            let known = recent?.state.isFinal == true ? recent : waiter.last ?? recent
            let request = RetryableRequest(id: id, endpoint: "")
            var record = known ?? RequestRecord(request: request, state: end.state, sequence: 0)
            (record.state, record.waiting) = (end.state, nil)
            record.lastStatus = end.status ?? record.lastStatus
            waiter.reply(.success(record))
        } catch {
            waiter.reply(.failure(error))
        }
        return true
    }
}

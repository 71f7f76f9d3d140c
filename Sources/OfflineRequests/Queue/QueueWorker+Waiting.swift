// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Those who wait for the end of requests.
extension QueueWorker {
    func add(_ waiter: QueueWaiter) {
        var waiter = waiter
        // Another process may send: what it writes is heard, for as long as somebody waits here. Before the first look,
        // for what is written in between would not be.
        self.listen()
        if self.answer(&waiter, ended: nil) { self.stopListening() } else { self.waiters.append(waiter) }
    }

    func abandon(_ number: UInt64) {
        guard let index = self.waiters.firstIndex(where: { $0.number == number }) else { return }
        self.waiters.remove(at: index).reply(.failure(.closed))
        self.stopListening()
    }

    /// Answers those who know now what they wait for.
    ///
    /// - Parameters:
    ///   - ended: How requests ended in the last transaction of this process.
    ///   - isDrained: Whether nothing is left.
    ///   - all: Whether others may have done something, so that everything is looked at.
    func checkWaiters(ended: [UUID: RequestState] = [:], isDrained: Bool = false, all: Bool = false) {
        guard !self.waiters.isEmpty, all || isDrained || !ended.isEmpty else { return }
        var remaining: [QueueWaiter] = []
        for var waiter in self.waiters {
            let concerns = all || waiter.id.map { ended[$0] != nil } ?? isDrained
            let state = waiter.id.flatMap { ended[$0] }
            if !concerns || !self.answer(&waiter, ended: state) { remaining.append(waiter) }
        }
        self.waiters = remaining
        self.stopListening()
    }

    /// - Returns: Whether it was answered.
    private func answer(_ waiter: inout QueueWaiter, ended: RequestState?) -> Bool {
        do {
            guard let id = waiter.id else {
                let counts = try self.core.store.read { $1.counts }
                guard counts.pending == counts.held else { return false }
                waiter.reply(.success(nil))
                return true
            }
            var last = self.recent[id]
            if last?.record.state.isFinal != true { last = waiter.last ?? last }
            let (seen, end) = try self.core.store.read { [last] records, tally in
                let record = try records.record(id)
                let end = record == nil ? try last.flatMap { try records.end(of: id, since: $0.ends, tally) } : nil
                return (record.map { SeenRequest(record: $0, ends: tally.ends) }, end)
            }
            if let seen {
                waiter.last = seen
                guard seen.record.state.isFinal else { return false }
                waiter.reply(.success(seen.record))
                return true
            }
            guard var record = last?.record else {
                waiter.reply(.success(nil))
                return true
            }
            // What is not known here another process did, and wrote down unless it was a success.
            if let end = ended ?? (record.state.isFinal ? record.state : end) {
                record.state = end
                record.waiting = nil
                waiter.reply(.success(record))
            } else {
                waiter.reply(.success(nil))
            }
        } catch {
            waiter.reply(.failure(error))
        }
        return true
    }

    /// Hears what other processes write.
    func listen() {
        guard self.walWatch == nil, self.role != .sender else { return }
        self.walWatch = self.sleep.files.add("\(self.core.file)-wal", .written)
    }

    /// A sender hears of itself, and would not rest while it does.
    func stopListening() {
        guard self.waiters.isEmpty || self.role == .sender, let watch = self.walWatch.take() else { return }
        self.sleep.files.remove(watch)
    }
}

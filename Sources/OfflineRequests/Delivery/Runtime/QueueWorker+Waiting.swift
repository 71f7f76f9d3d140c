// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A caller that waits for the end of a request, or for the end of all of them.
struct QueueWaiter: Sendable {
    let token: UUID
    /// The request; nil for all.
    let id: UUID?
    /// The request as it was when it was last looked at.
    var last: SeenRequest?
    /// Tells how the request ended; nil for one that is not there.
    let reply: @Sendable (Result<RequestRecord?, QueueError>) -> Void
}

/// Those who wait for the end of requests.
extension QueueWorker {
    func add(_ waiter: QueueWaiter) {
        var waiter = waiter
        // Another process may send: what it writes is heard, for as long as a caller waits here. Before the first look,
        // for what is written in between would not be.
        do throws(QueueError) { try self.listen() } catch { return waiter.reply(.failure(error)) }
        if self.answer(&waiter, ended: nil) { self.stopListening() } else { self.waiters.append(waiter) }
    }

    func abandon(_ token: UUID) {
        guard let index = self.waiters.firstIndex(where: { $0.token == token }) else { return }
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
        self.waiters = self.waiters.compactMap { waiter in
            var waiter = waiter
            let state = waiter.id.flatMap { ended[$0] }
            let concerns = all || (waiter.id == nil ? isDrained : state != nil)
            return concerns && self.answer(&waiter, ended: state) ? nil : waiter
        }
        self.stopListening()
    }

    /// - Returns: Whether it was answered.
    private func answer(_ waiter: inout QueueWaiter, ended: RequestState?) -> Bool {
        do throws(QueueError) {
            guard let id = waiter.id else {
                guard try self.core.store.read({ try $0.counts.isDrained }) else { return false }
                waiter.reply(.success(nil))
                return true
            }
            var last = self.recent[id]
            if last?.record.state.isFinal != true { last = waiter.last ?? last }
            let (seen, end) = try self.core.store.read { [last] records in
                let record = try records.record(id)
                let end = record == nil ? try last.flatMap { try records.end(of: id, since: $0.ends) } : nil
                return (record.map { SeenRequest(record: $0, ends: records.status.ends) }, end)
            }
            if let seen {
                waiter.last = seen
                if seen.record.state.isFinal { waiter.reply(.success(seen.record)) }
                return seen.record.state.isFinal
            }
            // What is not known here another process did, and wrote down unless it was a success.
            var record = last?.record
            if let state = ended ?? record.flatMap({ $0.state.isFinal ? $0.state : end }) {
                record?.state = state
                record?.waiting = nil
            } else {
                record = nil
            }
            waiter.reply(.success(record))
        } catch {
            waiter.reply(.failure(error))
        }
        return true
    }

    /// Hears what other processes write.
    func listen() throws(QueueError) {
        guard self.journalWatch == nil, self.role != .sender else { return }
        // Makes the file where it was removed.
        try self.core.store.checkPlace()
        self.journalWatch = try self.watch(self.core.store.paths.journal, .opened)
    }

    /// Hears it of the file that is there now.
    func listenAnew() throws(QueueError) {
        guard let last = self.journalWatch else { return }
        let watch = try self.watch(self.core.store.paths.journal, .opened)
        if watch != last { self.wakeSource.files.remove(last) }
        self.journalWatch = watch
    }

    /// A sender hears of itself, and would not rest while it does.
    func stopListening() {
        guard self.waiters.isEmpty && self.only == nil || self.role == .sender else { return }
        guard let watch = self.journalWatch.take() else { return }
        self.wakeSource.files.remove(watch)
    }
}

/// A request as it was when it was last looked at.
struct SeenRequest: Sendable {
    var record: RequestRecord
    /// How many requests had left the file by then without having been delivered.
    var ends: Int64
}

/// How the last few requests ended, for those who ask only after that.
struct RecentRequests {
    private static let capacity = 256
    private var requests: [UUID: SeenRequest] = [:]
    /// The oldest first.
    private var order: [UUID] = []

    subscript(id: UUID) -> SeenRequest? { self.requests[id] }

    /// Remembers a request, without its body.
    ///
    /// - Parameters:
    ///   - record: The request.
    ///   - ends: How many had left without having been delivered, for one that is not finished.
    mutating func add(_ record: RequestRecord, ends: Int64 = 0) {
        var record = record
        record.request.body = nil
        record.waiting = nil
        if self.requests.updateValue(SeenRequest(record: record, ends: ends), forKey: record.id) == nil {
            self.order.append(record.id)
        }
        if self.order.count > Self.capacity { self.requests[self.order.removeFirst()] = nil }
    }
}

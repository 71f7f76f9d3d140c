// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

/// What callers ask for, each within a transaction that also does other things.
extension QueueWorker {
    func enqueue(_ prepared: PreparedRequest, after failure: FirstAttempt?, in store: StoreTransaction) throws -> UUID {
        let insertion = try store.insert(prepared)
        guard !insertion.isKept else { return insertion.id }
        self.effects.add(.enqueued(insertion.id))
        self.core.remember(prepared, insertion, as: self.role, ends: store.tally.ends)
        for id in insertion.replaced + insertion.dropped {
            self.effects.removed.append(id)
            self.effects.add(.cancelled(id), ending: id, as: .cancelled)
        }
        // Behind another of its lane its time does not matter.
        if let failure, insertion.state == .ready { try self.record(failure, of: prepared.request, in: store) }
        return insertion.id
    }

    /// Takes an attempt into account that was made before the request came here.
    private func record(_ failure: FirstAttempt, of request: RetryableRequest, in store: StoreTransaction) throws {
        let now = Moment.ofQueue()
        let result = failure.result
        let disposition = self.machine.finished(request.id, request: request, result: result, at: now)
        guard case .retry(let delay, let countsAttempt) = disposition, try store.markRunning(request.id) else { return }
        let outcome = StoreOutcome.later(after: delay, countsAttempt: countsAttempt)
        _ = try store.finish(request.id, outcome, status: result.status, error: result.failure(of: request))
        self.effects.add(.backoff(request.id, until: now.wall(at: now.monotonic + delay)))
    }

    func cancel(_ id: UUID, in store: StoreTransaction) throws -> Bool {
        guard let state = try store.cancel(id) else { throw QueueError.unknownID(id) }
        self.effects.removed.append(id)
        self.effects.add(.cancelled(id), ending: id, as: .cancelled)
        return state == .running || self.flights[id] != nil
    }

    func cancel(_ selection: StoreTransaction.Selection, in store: StoreTransaction) throws -> Int {
        let cancellation = try store.cancel(selection)
        self.effects.removed += cancellation.running
        for id in cancellation.ids { self.effects.add(.cancelled(id), ending: id, as: .cancelled) }
        return cancellation.ids.count
    }

    func reset(in store: StoreTransaction) throws {
        // Those who wait for one of them hear of it.
        for id in self.waiters.compactMap(\.id) { self.effects.add(.cancelled(id), ending: id, as: .cancelled) }
        self.effects.removed += try store.reset()
    }

    func force(in store: StoreTransaction) throws {
        self.machine.force()
        try store.resumeHeld()
        if self.role == .sender {
            self.promotion = .all
        } else {
            store.force(host: nil)
            // The sender finds them ready; for as long as it takes, because it does not know of this.
            while try store.promoteDue(all: true, limit: 10_000) == 10_000 {}
        }
    }

    /// Lets everything go now that waits for its time or for somebody; with `includingDead` what was given up too.
    ///
    /// - Returns: How many requests.
    func forceAll(includingDead: Bool, in store: StoreTransaction) throws -> Int {
        let before = store.counts
        try self.force(in: store)
        let count = before.backoff + before.held - store.counts.held
        return try includingDead ? count + self.requeueDead(in: store) : count
    }

    func force(_ id: UUID, replacing headers: HeaderFields, in store: StoreTransaction) throws {
        guard let request = try store.release(id, replacing: headers) else { throw QueueError.unknownID(id) }
        let host = Gate(request).host
        if self.role == .sender { self.machine.force(host: host) } else { store.force(host: host) }
    }

    /// Does what other processes want of the one that sends.
    func obey(in store: StoreTransaction) {
        let (forces, host) = (store.tally.forces, store.tally.forced)
        defer { self.forces = forces }
        // What was wanted before this process sent is no concern of its own.
        guard let known = self.forces, known != forces else { return }
        if let host, forces == known + 1 { self.machine.force(host: host) } else { self.machine.force() }
    }

    func pause(_ isPaused: Bool, in store: StoreTransaction) throws {
        store.isPaused = isPaused
    }

    func requeueDead(_ id: UUID, in store: StoreTransaction) throws {
        guard try store.requeue(id) != nil else { throw QueueError.unknownID(id) }
    }

    func requeueDead(in store: StoreTransaction) throws -> Int {
        try self.all { try store.requeueDead(limit: $0).count }
    }

    func purgeFinished(_ id: UUID, in store: StoreTransaction) throws {
        guard try store.purge(id) else { throw QueueError.unknownID(id) }
    }

    func purgeDead(in store: StoreTransaction) throws -> Int {
        try self.all { try store.purge(.dead, limit: $0) }
    }

    func purgeResponses(in store: StoreTransaction) throws -> Int {
        try self.all { try store.purge(.succeeded, limit: $0) }
    }

    /// Does something to as many as there are, a part at a time.
    private func all(_ body: (_ limit: Int) throws -> Int) throws -> Int {
        let limit = 10_000
        var total = 0
        while true {
            let count = try body(limit)
            total += count
            if count < limit { return total }
        }
    }
}

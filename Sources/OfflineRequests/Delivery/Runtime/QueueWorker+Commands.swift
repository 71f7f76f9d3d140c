// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

/// What callers ask for, each within a transaction that also does other things.
extension QueueWorker {
    func enqueue(_ prepared: PreparedRequest, in store: StoreTransaction) throws -> Insertion {
        let insertion = try store.insert(prepared)
        guard !insertion.isKept else { return insertion }
        self.effects.events.append(.enqueued(insertion.id))
        self.remember(RequestRecord(request: prepared.request, state: insertion.state, sequence: 0))
        self.cancelled(insertion.replaced + insertion.dropped)
        return insertion
    }

    private func cancelled(_ ids: [UUID]) {
        self.effects.removed += ids
        self.effects.events += ids.map { .cancelled($0) }
    }

    func cancel(_ id: UUID, in store: StoreTransaction) throws -> Bool {
        guard let state = try store.cancel(id) else { throw QueueError.unknownID(id) }
        self.cancelled([id])
        return state == .running
    }

    func cancel(_ selection: StoreTransaction.Selection, in store: StoreTransaction) throws -> Int {
        let ids = try store.cancel(selection)
        self.cancelled(ids)
        return ids.count
    }

    func reset(in store: StoreTransaction) throws {
        self.cancelled(try store.reset())
    }

    // MARK: Now

    func force(in store: StoreTransaction) throws {
        self.machine.force()
        try store.resumeHeld()
        // A sender does the rest itself, now or when there is a path.
        if self.role == .sender { return }
        store.force(host: nil)
        try store.promoteDue(.all, limit: .max)
    }

    /// Lets everything go now that waits for its time or for a decision; with `includingDead` what was given up too.
    ///
    /// - Returns: How many requests.
    func forceAll(includingDead: Bool, in store: StoreTransaction) throws -> Int {
        let before = try store.records.counts
        try self.force(in: store)
        let count = try before.backoff + before.held - store.records.counts.held
        return try includingDead ? count + store.requeueDead().count : count
    }

    func force(_ id: UUID, replacing headers: HeaderFields, in store: StoreTransaction) throws {
        guard let request = try store.release(id, replacing: headers) else { throw QueueError.unknownID(id) }
        let host = Gate(request).host
        if self.role == .sender { self.machine.force(host: host) } else { store.force(host: host) }
    }

    /// Does what other processes want of the one that sends.
    func applyForces(in store: StoreTransaction) {
        let (forces, host) = (store.status.forces, store.status.forced)
        defer { self.forces = forces }
        // What was wanted before this process sent is no concern of its own.
        guard let known = self.forces, known != forces else { return }
        if let host, forces == known + 1 { self.machine.force(host: host) } else { self.machine.force() }
    }
}

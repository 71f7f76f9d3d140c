// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

/// What callers ask for, each within a transaction that also does other things.
extension QueueWorker {
    func enqueue(_ prepared: PreparedRequest, in store: StoreTransaction) throws -> Insertion {
        // What is too old to be sent does not stand for a new one.
        if let key = prepared.request.uniqueKey, prepared.request.ifExists == .keep {
            self.tellExpired(try store.giveUpExpired(uniqueKey: key, maxAge: self.core.settings.maxAge).requests)
        }
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

    func cancel(_ id: UUID, in store: StoreTransaction) throws -> RequestState {
        guard let state = try store.cancel(id) else { throw QueueError.unknownID(id) }
        self.cancelled([id])
        return state
    }

    func cancel(type: String? = nil, lane: String? = nil, limit: Int, in store: StoreTransaction) throws -> Int {
        let ids = try store.cancel(type: type, lane: lane, limit: limit)
        self.cancelled(ids)
        return ids.count
    }

    func reset(limit: Int, in store: StoreTransaction) throws -> Int {
        let rows = try store.reset(limit: limit)
        self.cancelled(rows.filter { !$0.state.isFinal }.map(\.id))
        return rows.count
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

    /// Lets all go now that waits for its time or for a decision, and what was given up if asked to; returns how many.
    func forceAll(includingDead: Bool, in store: StoreTransaction) throws -> Int {
        let before = try store.counts
        try self.force(in: store)
        let count = try before.backoff + before.held - store.counts.held
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

/// A caller that waits for the end of a request, or for the end of all of them.
struct QueueWaiter: Sendable {
    let token: UUID
    /// The request; nil for all.
    let id: UUID?
    /// The request as it was when it was last looked at.
    var last: RequestRecord?
    /// Since when the file cannot be read; nil when it could be the last time.
    var unreadSince: MonotonicTime?
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

    /// Answers those that wait for requests which ended in the last transaction of this process, or for all of them; with
    /// `all` others may have done something, so that everything is looked at.
    func checkWaiters(ended: Set<UUID> = [], isDrained: Bool = false, all: Bool = false) {
        guard !self.waiters.isEmpty, all || isDrained || !ended.isEmpty else { return }
        self.waiters = self.waiters.compactMap { waiter in
            var waiter = waiter
            let concerns = all || waiter.id.map { ended.contains($0) } ?? isDrained
            return concerns && self.answer(&waiter) ? nil : waiter
        }
    }

    /// How long the file may be kept by other processes before those that wait hear of it.
    private static let longestUnread: Duration = .seconds(10)

    /// Returns whether it was answered.
    private func answer(_ waiter: inout QueueWaiter) -> Bool {
        let (begin, unreadSince) = (Moment.now().monotonic, waiter.unreadSince)
        waiter.unreadSince = nil
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
            if case .io = error, Moment.now().monotonic - (unreadSince ?? begin) < Self.longestUnread {
                waiter.unreadSince = unreadSince ?? begin
                return false
            }
            waiter.reply(.failure(error))
        }
        return true
    }
}

/// What a caller hears that waits for the answer to a request.
enum FetchEnd: Sendable {
    /// It is delivered.
    case answered(TransportResponse)
    /// It failed in a way that another attempt would not change, and is in the queue no more.
    case failed(AttemptResult)
    /// It goes out by itself, later.
    case kept(UUID)
    /// There is no path, for this reason, and it is in the queue no more.
    case withoutPath(String)
    /// It is in the queue no more; a server may have received it.
    case cancelled
    /// It was not taken.
    case refused(QueueError)
}

/// A caller that waits for the answer to a request, which is in the queue as every other one is.
struct Fetch: Sendable {
    let gate: Gate
    /// Whether the request stays where there is no path.
    let isKept: Bool
    let reply: @Sendable (FetchEnd) -> Void
}

extension QueueWorker {
    /// Puts a request into the queue whose answer a caller waits for.
    func enqueue(_ prepared: PreparedRequest, for fetch: Fetch, in store: StoreTransaction) throws -> Insertion {
        let insertion = try self.enqueue(prepared, in: store)
        // Behind another one the answer may take for ever.
        if !insertion.isKept, insertion.state == .ready { self.effects.fetches[insertion.id] = fetch }
        return insertion
    }

    /// Tells callers what the last transaction says of their requests.
    func replyToFetches(_ effects: TurnEffects) {
        self.fetches.merge(effects.fetches) { $1 }
        for (id, end) in effects.fetchEnds { self.fetches.removeValue(forKey: id)?.reply(end) }
        for id in self.abandonedFetches { self.abandonFetch(id) }
        self.abandonedFetches = []
    }

    /// Lets callers go whose answers will not come soon.
    func releaseFetches(at now: Moment) {
        for (id, fetch) in self.fetches {
            let isOnItsWay = self.flights[id] != nil || self.completed.contains { $0.record.id == id }
            guard let reason = self.delay(of: fetch, isOnItsWay, at: now) else { continue }
            if case .noPath(let text) = reason, !fetch.isKept {
                self.takeBack(id, .withoutPath(text))
            } else {
                self.fetches.removeValue(forKey: id)?.reply(.kept(id))
            }
        }
    }

    /// Why an answer does not come soon; nil where it may.
    private func delay(of fetch: Fetch, _ isOnItsWay: Bool, at now: Moment) -> WaitingReason? {
        guard self.pathFeed != nil else { return .notRunning }
        if self.role == .waiting || self.only != nil { return .otherSender }
        // The file cannot be written now.
        if self.retryAt != nil, !isOnItsWay { return .notRunning }
        // Of the network nothing is known in the first instants of a program.
        guard self.role == .sender, self.machine.facts != nil else { return nil }
        switch self.machine.waiting(for: fetch.gate, at: now) {
        case nil, .concurrency, .reconnecting: return nil
        // What is on its way may come too late without a path.
        case .noPath(let text): return .noPath(text)
        case let reason?: return isOnItsWay ? nil : reason
        }
    }

    /// The caller waits no longer, and wants the request back.
    func abandonFetch(_ id: UUID) {
        // It may be about to be put there.
        if self.fetches[id] == nil { self.abandonedFetches.insert(id) } else { self.takeBack(id, .cancelled) }
    }

    private func takeBack(_ id: UUID, _ end: FetchEnd) {
        guard let fetch = self.fetches.removeValue(forKey: id) else { return }
        let reply: @Sendable (Result<RequestState, QueueError>) -> Void = { result in
            switch result {
            case .success, .failure(.unknownID): fetch.reply(end)
            // It is there as before, and goes out.
            case .failure: fetch.reply(.kept(id))
            }
        }
        self.core.post(QueueCommand({ try $0.cancel(id, in: $1) }, reply: reply))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

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
        guard self.role == .sender, self.network.facts != nil else { return nil }
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
        self.core.post(QueueCommand({ try $0.cancel(id, in: $1) }, reply: { _ in fetch.reply(end) }))
    }
}

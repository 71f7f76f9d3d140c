// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// The only request that a process sends.
struct OnlyRequest {
    let id: UUID
    /// When to be the sender once more, after it was in vain.
    var notBefore: MonotonicTime?
}

/// Sending one request, and leaving everything else to whoever sends for all.
///
/// The lock of the sender is held only while the request is on its way, so that nobody who would send the others has to
/// wait for this one.
extension QueueWorker {
    /// How long after a vain election the next one is.
    private static let electionPause: Duration = .seconds(1)

    /// Whether the request could go now if this process sent; if not, says when to look again.
    func mayGo(at now: Moment) throws(QueueError) -> Bool {
        guard let only = self.only else { return true }
        let (record, isPaused) = try self.core.store.read { records, tally in
            (try records.record(only.id), tally.isPaused)
        }
        if isPaused { self.machine.pause() } else { self.machine.resume() }
        self.role = .standby
        self.isStatusTrue = false
        self.listen()
        guard let record, !record.state.isFinal else { return false }
        let gate = Gate(record.request)
        self.gates = [gate]
        self.hosts.set(Set([gate.requires.hostReachable].compactMap { $0 }))
        var due = only.notBefore
        if record.state == .backoff, let date = record.notBefore {
            due = max(due ?? now.monotonic, now.monotonic + .seconds(max(0, date.timeIntervalSince(now.wall))))
        }
        let isOpen = self.network.isSatisfied && self.machine.waiting(for: gate, at: now) == nil
        // What a process that died was sending is running for ever until somebody else sends.
        let mayGo = isOpen && [.ready, .backoff, .running].contains(record.state)
        if let due, due > now.monotonic {
            self.electionAt = due
            return false
        }
        if !mayGo { self.electionAt = self.machine.nextWake(after: now, for: self.gates) }
        return mayGo
    }

    /// Reads the only request, if it may go.
    func read(_ only: OnlyRequest, in store: StoreTransaction, at now: Moment) throws {
        guard self.upcoming.isEmpty, self.flights[only.id] == nil, let record = try store.records.record(only.id),
            record.state == .ready
        else { return }
        let gate = Gate(record.request)
        self.gates = [gate]
        for stored in try store.gates() where stored.gate.host == gate.host && self.upcoming.isEmpty {
            let request = try store.ready(gate: stored.id, limit: 1) { $0 != only.id }
            self.upcoming = request.map { Candidate($0, gate: stored) }
        }
    }

    /// Lets others send while the only request cannot go.
    func stepDown() {
        guard self.only != nil, self.role == .sender, self.flights.isEmpty, self.landings.isEmpty, !self.isLookDue
        else { return }
        let now = Moment.ofQueue()
        self.forgetUpcoming()
        self.role = .standby
        self.isStatusTrue = false
        self.dueAt = nil
        // Hears of its own end, too, and looks again.
        self.lock = nil
        self.only?.notBefore = now.monotonic + Self.electionPause
        self.electionAt = now.monotonic + Self.electionPause
        self.listen()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Synchronization

/// Many requests at once: while there are more to send than may go, they are read and recorded together, and go without
/// the thread.
///
/// A transaction costs about as much as ten requests in it, and a wake-up as much as sending one. What is not recorded
/// when the process is killed is sent again with its key: what was answered in the last 25 ms, and never more than 256
/// requests, since no more are read ahead, in the mailbox and among the landings.
extension QueueWorker {
    /// How many ends are recorded at once; twice as many requests are read ahead.
    static let batch = 64
    /// How much memory those may take that are read ahead.
    private static let readAheadOctets = 1 << 20
    /// How long the end of an attempt may wait for others.
    private static let recordingDelay: Duration = .milliseconds(20)

    // MARK: Recording

    /// Whether what has ended is to be recorded now.
    ///
    /// Only while there is more to send right away does it wait for more of its kind: nobody waits for a single request.
    func recordsNow(at now: Moment) -> Bool {
        guard let first = self.landings.first else { return false }
        return self.isRecordingUrgent || self.ahead == 0 || self.landings.count >= Self.batch
            || first.at + Self.recordingDelay <= now.monotonic
    }

    /// When what has ended is to be recorded at the latest.
    var recordingDeadline: MonotonicTime? { self.landings.first.map { $0.at + Self.recordingDelay } }

    // MARK: The relay

    /// Leaves what was read to go in the place of what goes the same way.
    func relayUpcoming(at now: Moment) {
        // Hooks have a say in what goes, and in how long a request keeps its place.
        guard let first = self.upcoming.first, !self.flights.isEmpty, self.shutdown == nil,
            self.isOpen(first.gate, at: now), self.core.settings.prepare == nil,
            self.core.settings.responses.decide == nil, self.core.handlers.withLock({ $0.isEmpty })
        else { return }
        let gate = self.relayed.last?.gate.id ?? first.gate.id
        let next = self.upcoming.prefix { $0.gate.id == gate && $0.record.response == nil }
        guard !next.isEmpty else { return }
        self.upcoming.removeFirst(next.count)
        self.relayed += next
        self.relay.put(next.map { self.entry(of: $0) })
    }

    /// A request has gone in the place of another.
    func began(_ start: Relay.Start, at now: Moment) {
        if self.flights[start.id]?.run != start.run { self.beginRelayed(start.run, at: now) }
        guard self.flights[start.id]?.run == start.run, start.run > self.lastOutdatedRun else {
            // It was removed, or its path is gone; or it has ended already.
            return start.task.cancel()
        }
        self.flights[start.id]?.phase = .sending(start.task)
    }

    /// Takes note of the start of a request that was left to the relay.
    func beginRelayed(_ run: UInt64, at now: Moment) {
        guard let index = self.relayed.firstIndex(where: { $0.entry?.run == run }) else { return }
        self.begin(self.relayed.remove(at: index), run: run, at: now)
    }

    /// Takes back what has not gone yet.
    func takeBack(at now: Moment) {
        guard !self.relayed.isEmpty else { return }
        let rest = self.relay.takeBack()
        for candidate in self.relayed.dropLast(rest) {
            self.begin(candidate, run: self.entry(of: candidate).run, at: now)
        }
        self.upcoming = self.relayed.suffix(rest) + self.upcoming
        self.relayed = []
    }

    /// Forgets what was read ahead, since something else may have to go before it, or none of it.
    func forgetUpcoming() {
        self.takeBack(at: .ofQueue())
        self.upcoming = []
    }

    /// What the transport gets; every attempt has a number of its own.
    func entry(of candidate: Candidate) -> Relay.Entry {
        if let entry = candidate.entry { return entry }
        self.lastRun += 1
        let entry = Relay.Entry(
            id: candidate.id,
            run: self.lastRun,
            gate: candidate.gate.id,
            request: candidate.record.request.httpRequest()
        )
        candidate.entry = entry
        return entry
    }

    // MARK: Reading ahead

    /// How many were read and have not gone, as far as is known.
    private var ahead: Int { self.upcoming.count + self.relayed.count }

    /// Whether there is a free place for something that is in the file and was not read.
    func lacksCandidates(at now: Moment) -> Bool {
        guard self.role == .sender, !self.unread.isEmpty, self.freeSlots(at: now) > 0 else { return false }
        return self.unread.contains { gate in
            !self.upcoming.contains { $0.gate.id == gate.id } && !self.relayed.contains { $0.gate.id == gate.id }
                && self.machine.waiting(for: gate.gate, at: now) == nil
        }
    }

    /// Reads ahead what may go, the most urgent first.
    func readAhead(in store: StoreTransaction, at now: Moment) throws {
        if self.ahead > Self.batch, !self.flights.isEmpty, !self.lacksCandidates(at: now) { return }
        let gates = try store.gates()
        self.gates = gates.map(\.gate)
        var open = gates.filter { self.isOpen($0, at: now) }
        if gates.count > 1 {
            self.takeBack(at: now)
            // What waits for its host would take the place of others.
            self.upcoming.removeAll { !self.isOpen($0.gate, at: now) }
        }
        let free = self.freeSlots(at: now)
        // What is not used before something else happens was read for nothing.
        let count = max(free, free + min(Self.batch * 2, max(16, self.launches * 2)) - self.ahead)
        self.launches = 0
        if open.count > 1 {
            open.sort { ($1.priority, $0.first) < ($0.priority, $1.first) }
            // Behind the first of so many gates there is nothing that goes first. Some have only what is being sent.
            open.removeLast(max(0, open.count - count - self.flights.count))
        }
        let share = max(1, free, count / max(1, open.count))
        let room = Self.readAheadOctets / max(1, open.count)
        let known = Set((self.upcoming + self.relayed).map(\.id))
        var complete: Set<StoreGate.ID> = []
        for gate in open {
            let requests = try store.ready(gate: gate.id, limit: share, octets: room) { id in
                known.contains(id) || self.flights[id] != nil
            }
            self.upcoming += requests.map { Candidate($0, gate: gate) }
            if requests.count < share, requests.reduce(0, { $0 + $1.octets }) < room { complete.insert(gate.id) }
        }
        if gates.count > 1 {
            self.upcoming.sort { left, right in
                (right.record.request.priority, left.row.sequence) < (left.record.request.priority, right.row.sequence)
            }
        }
        self.unread = gates.filter { !complete.contains($0.id) }
    }

    /// Whether requests may go through a gate, if not at once because others do.
    private func isOpen(_ gate: StoreGate, at now: Moment) -> Bool {
        switch self.machine.waiting(for: gate.gate, at: now) {
        case nil, .concurrency: true
        default: false
        }
    }
}

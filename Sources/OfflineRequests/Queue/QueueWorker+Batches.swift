// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// Many requests at once: while there are more to send than may go, they are read and recorded together.
///
/// A transaction costs about as much as ten requests in it. What waits to be recorded is sent again, with its key, when
/// the process is killed before: those that were answered in the last 20 ms, and never more than 128.
extension QueueWorker {
    /// How many ends are recorded at once, and how many requests are read ahead at most.
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
        return self.isRecordingUrgent || self.upcoming.isEmpty || self.landings.count >= Self.batch
            || first.at + Self.recordingDelay <= now.monotonic
    }

    /// When what has ended is to be recorded at the latest.
    var recordingDeadline: MonotonicTime? { self.landings.first.map { $0.at + Self.recordingDelay } }

    /// Records what has ended, and what ends meanwhile.
    ///
    /// - Returns: How many there were.
    func recordLandings(in store: StoreTransaction) throws -> Int {
        var count = 0
        while count < self.landings.count {
            try self.record(self.landings[count], in: store)
            count += 1
            // Those whose places are free would otherwise wait for all of this.
            if count % 16 == 0, self.landings.count < Self.batch { self.takeEnds() }
        }
        return count
    }

    /// Sends the next ones in the places of those that have ended; everything else that came is left for later.
    private func takeEnds() {
        let now = Moment.ofQueue()
        for message in self.core.mailbox.take() {
            if case .finished(let id, let run, let result) = message {
                self.finished(id, run: run, result, at: now)
            } else {
                self.postponed.append(message)
            }
        }
        self.launch(at: now)
    }

    // MARK: Reading ahead

    /// Whether there is a free place for something that is in the file and was not read.
    func lacksCandidates(at now: Moment) -> Bool {
        guard self.role == .sender, !self.unread.isEmpty, self.freeSlots(at: now) > 0 else { return false }
        return self.unread.contains { gate in
            !self.upcoming.contains { $0.gate.id == gate.id } && self.machine.waiting(for: gate.gate, at: now) == nil
        }
    }

    /// Reads ahead what may go, the most urgent first.
    func readAhead(in store: StoreTransaction, at now: Moment) throws {
        if self.upcoming.count > Self.batch / 2, !self.flights.isEmpty, !self.lacksCandidates(at: now) { return }
        let free = self.freeSlots(at: now)
        // What is not used before something else happens was read for nothing.
        let count = free + min(Self.batch, max(16, self.launches * 2))
        self.launches = 0
        let gates = try store.gates()
        self.gates = gates.map(\.gate)
        var open = gates.filter { self.isOpen($0, at: now) }
        if open.count > 1 {
            open.sort { ($1.priority, $0.first) < ($0.priority, $1.first) }
            // Behind the first of so many gates there is nothing that goes first. Some have only what is being sent.
            open.removeLast(max(0, open.count - count - self.flights.count))
        }
        let share = max(1, free, count / max(1, open.count))
        let room = Self.readAheadOctets / max(1, open.count)
        var upcoming: [Candidate] = []
        var complete: Set<StoreGate.ID> = []
        for gate in open {
            let requests = try store.ready(gate: gate.id, limit: share, octets: room) { self.flights[$0] != nil }
            upcoming += requests.map { Candidate($0, gate: gate) }
            if requests.count < share, requests.reduce(0, { $0 + $1.octets }) < room { complete.insert(gate.id) }
        }
        if open.count > 1 {
            upcoming.sort { left, right in
                (right.record.request.priority, left.row.sequence) < (left.record.request.priority, right.row.sequence)
            }
        }
        self.upcoming = upcoming
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

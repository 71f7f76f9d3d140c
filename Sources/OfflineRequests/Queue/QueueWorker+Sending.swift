// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Synchronization

/// The way of a request from the file to the server, and of its end back into the file.
extension QueueWorker {
    // MARK: Out

    /// Sends what was read and may go now, and leaves more to go in the place of that.
    func launch(at now: Moment) {
        if self.upcoming.isEmpty && self.relayed.isEmpty || self.shutdown != nil { return }
        var free = self.freeSlots(at: now)
        if free > 0, let next = self.relayed.first, self.machine.waiting(for: next.gate.gate, at: now) == nil {
            self.takeBack(at: now)
            free = self.freeSlots(at: now)
        }
        var closed: [StoreGate.ID] = []
        var index = 0
        while free > 0, index < self.upcoming.count {
            let candidate = self.upcoming[index]
            if closed.contains(candidate.gate.id) {
                index += 1
            } else if self.machine.waiting(for: candidate.gate.gate, at: now) != nil {
                closed.append(candidate.gate.id)
                index += 1
            } else {
                self.upcoming.remove(at: index)
                guard self.flights[candidate.id] == nil else { continue }
                self.launch(candidate, at: now)
                free -= 1
            }
        }
        self.relayUpcoming(at: now)
    }

    func freeSlots(at now: Moment) -> Int {
        let slots = self.shutdown == nil ? self.machine.slots(at: now) : 0
        return slots == 0 ? 0 : max(0, slots - self.flights.values.count { $0.handledBy != nil })
    }

    private func launch(_ candidate: Candidate, at now: Moment) {
        let entry = self.entry(of: candidate)
        let (id, run, request) = (entry.id, entry.run, candidate.record.request)
        self.begin(candidate, run: run, at: now)
        if let response = candidate.record.response, let flight = self.flights[id] {
            // It was delivered; only a handler is missing.
            self.machine.dropped(id)
            return self.handle(response, of: flight, at: now)
        }
        guard let prepare = self.core.settings.prepare else {
            self.flights[id]?.phase = .sending(self.relay.send(entry))
            return
        }
        Task(executorPreference: self.core.executor) { [mailbox = self.core.mailbox] in
            var http = entry.request
            do {
                try await prepare(&http, request)
                mailbox.post(.prepared(id, run: run, .success(http)))
            } catch {
                mailbox.post(.prepared(id, run: run, .failure(HookFailure(error))))
            }
        }
    }

    /// Takes note of an attempt that begins.
    func begin(_ candidate: Candidate, run: UInt64, at now: Moment) {
        self.launches += 1
        self.machine.started(candidate.id, gate: candidate.gate.gate)
        self.flights[candidate.id] = Flight(candidate: candidate, run: run, startedAt: now.monotonic)
        self.effects.add(.attempt(candidate.id, number: candidate.record.attempts + 1))
    }

    /// Marks what is being sent in the file, so that other processes see it, and the next one after a crash; what has
    /// only just begun too, where that is asked for.
    ///
    /// Nothing depends on that: what is not marked is sent again with the same key. So what comes back at once is spared
    /// the mark.
    func mark(in store: StoreTransaction, all: Bool, at now: Moment) throws {
        for (id, flight) in self.flights where !flight.isMarked && (all || flight.markAt <= now.monotonic) {
            _ = try store.markRunning(id)
            self.effects.marked.append(id)
        }
    }

    func prepared(_ id: UUID, run: UInt64, _ result: Result<TransportRequest, HookFailure>, at now: Moment) {
        guard let flight = self.flights[id], flight.run == run else { return }
        switch result {
        case .success(let http):
            let entry = Relay.Entry(id: id, run: run, gate: flight.candidate.gate.id, request: http)
            self.flights[id]?.phase = .sending(self.relay.send(entry))
        case .failure(let failure):
            let disposition = self.machine.prepareFailed(id, attempts: flight.candidate.record.attempts + 1)
            let text = flight.request.redact("it could not be prepared: \(failure.message)")
            self.land(flight, disposition, at: now, failure: text)
        }
    }

    // MARK: Back

    func finished(_ id: UUID, run: UInt64, _ result: Result<TransportResponse, TransportError>, at now: Moment) {
        if self.flights[id]?.run != run { self.beginRelayed(run, at: now) }
        guard let flight = self.flights[id], flight.run == run else { return }
        let request = flight.request
        let disposition = self.machine.finished(id, request: request, result: result, at: now)
        guard case .succeeded = disposition, case .success(let response) = result else {
            let failure = disposition == .succeeded ? nil : result.failure(of: request)
            return self.land(flight, disposition, at: now, status: result.status, failure: failure)
        }
        self.handle(response, of: flight, at: now)
    }

    /// Leaves the end of an attempt to the next transaction.
    func land(
        _ flight: Flight,
        _ disposition: Disposition,
        at now: Moment,
        status: Int? = nil,
        failure: String? = nil,
        response: TransportResponse? = nil
    ) {
        let candidate = flight.candidate
        self.flights[candidate.id] = nil
        candidate.record.request.body = nil
        let landing = Landing(
            candidate: candidate,
            isMarked: flight.isMarked,
            at: now.monotonic,
            disposition: disposition,
            status: status,
            failure: failure,
            response: disposition != .succeeded || candidate.record.request.keepsResponse ? response : nil
        )
        self.landings.append(landing)
        if landing.mayWait { return }
        self.isRecordingUrgent = true
        // It may have changed what may go.
        self.takeBack(at: now)
    }

    /// Records the end of an attempt.
    func record(_ landing: Landing, in store: StoreTransaction) throws {
        let id = landing.candidate.id
        let outcome: StoreOutcome
        var failure = landing.failure
        switch landing.disposition {
        case .succeeded: outcome = .delivered(landing.response)
        case .retry(let delay, let countsAttempt): outcome = .later(after: delay, countsAttempt: countsAttempt)
        case .waitForPath: outcome = .later(after: nil, countsAttempt: false)
        case .hold(let reason): outcome = .held(reason)
        case .dead(let reason):
            outcome = landing.response.map { .unhandled($0) } ?? .dead
            failure = reason
        }
        // An attempt that is to be counted must have begun; of what leaves the file nobody asks.
        if !landing.isMarked, landing.disposition != .succeeded || landing.response != nil {
            _ = try store.markRunning(id)
        }
        // One that was removed meanwhile has no end any more.
        var row = landing.candidate.row
        if landing.isMarked { row.state = .running }
        guard let finish = try store.finish(id, as: row, outcome, status: landing.status, error: failure) else {
            return
        }
        // What was read ahead lacks what may go now.
        if finish.promoted != nil || finish.state == .ready { self.forgetUpcoming() }
        switch (finish.state, landing.disposition) {
        case (.succeeded, _):
            var record = landing.candidate.record
            record.state = .succeeded
            record.lastStatus = landing.status
            record.attempts += 1
            self.recent.add(record)
            self.effects.add(.succeeded(id, status: landing.status ?? 0), ending: id, as: .succeeded)
        case (.backoff, .retry(let delay, _)):
            self.effects.add(.backoff(id, until: Date(timeIntervalSinceNow: delay / .seconds(1))))
        case (.held, .hold(let reason)): self.effects.add(.held(id, reason))
        case (.held, _): self.effects.add(.held(id, .laneHeld))
        case (.dead, _): self.effects.add(.dead(id, reason: failure ?? ""), ending: id, as: .dead)
        default: ()
        }
        for other in finish.dropped {
            self.effects.add(.dead(other, reason: "its lane was given up"), ending: other, as: .dead)
        }
    }

    /// Ends the attempts of requests that are there no more.
    func remove(_ ids: [UUID]) {
        for id in ids {
            guard let flight = self.flights.removeValue(forKey: id) else { continue }
            self.machine.dropped(id)
            flight.cancel()
        }
    }
}

extension Flight {
    fileprivate var request: RetryableRequest { self.candidate.record.request }
}

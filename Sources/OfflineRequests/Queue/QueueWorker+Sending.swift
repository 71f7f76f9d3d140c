// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Synchronization

/// The way of a request from the file to the server, and of its end back into the file.
extension QueueWorker {
    // MARK: Out

    /// Takes requests that may go, the most urgent first, and marks them as being sent.
    func choose(in store: StoreTransaction, at now: Moment) throws -> [RequestRecord] {
        let gates = try store.gates()
        self.gates = gates.map(\.gate)
        var free = self.machine.slots(at: now) - self.flights.values.count { $0.isHandling }
        guard free > 0 else { return [] }
        var candidates: [RequestRecord] = []
        for gate in gates where self.machine.waiting(for: gate.gate, at: now) == nil {
            candidates += try store.ready(gate: gate.id, limit: free)
        }
        if gates.count > 1 {
            candidates.sort { ($1.request.priority, $0.sequence) < ($0.request.priority, $1.sequence) }
        }
        // Only a copy knows of them until they really go.
        var machine = self.machine
        var chosen: [RequestRecord] = []
        for record in candidates where free > 0 && self.flights[record.id] == nil {
            let gate = Gate(record.request)
            guard machine.waiting(for: gate, at: now) == nil, try store.markRunning(record.id) else { continue }
            machine.started(record.id, gate: gate)
            chosen.append(record)
            free -= 1
        }
        return chosen
    }

    func launch(_ records: [RequestRecord], at now: Moment) {
        for record in records {
            self.lastRun += 1
            let run = self.lastRun
            let (id, request) = (record.id, record.request)
            self.machine.started(id, gate: Gate(request))
            self.flights[id] = Flight(record: record, run: run, startedAt: now.monotonic)
            self.effects.add(.attempt(id, number: record.attempts + 1))
            guard let prepare = self.core.settings.prepare else {
                self.send(request.httpRequest(), id: id, run: run)
                continue
            }
            Task(executorPreference: self.core.executor) { [mailbox = self.core.mailbox] in
                var http = request.httpRequest()
                do {
                    try await prepare(&http, request)
                    mailbox.post(.prepared(id, run: run, .success(http)))
                } catch {
                    mailbox.post(.prepared(id, run: run, .failure(HookFailure(error))))
                }
            }
        }
    }

    private func send(_ http: HTTPRequest, id: UUID, run: UInt64) {
        let task = self.core.transport.start(http) { [mailbox = self.core.mailbox] result in
            mailbox.post(.finished(id, run: run, result))
        }
        self.flights[id]?.phase = .sending(task)
    }

    func prepared(_ id: UUID, run: UInt64, _ result: Result<HTTPRequest, HookFailure>, at now: Moment) {
        guard let flight = self.flights[id], flight.run == run else { return }
        switch result {
        case .success(let http): self.send(http, id: id, run: run)
        case .failure(let failure):
            let disposition = self.machine.prepareFailed(id, attempts: flight.record.attempts + 1)
            let text = flight.request.redact("it could not be prepared: \(failure.message)")
            self.land(flight, disposition, failure: text)
        }
    }

    // MARK: Back

    func finished(_ id: UUID, run: UInt64, _ result: Result<HTTPResponse, TransportError>, at now: Moment) {
        guard let flight = self.flights[id], flight.run == run else { return }
        let request = flight.request
        let disposition = self.machine.finished(id, request: request, result: result, at: now)
        guard case .succeeded = disposition, case .success(let response) = result else {
            let failure = disposition == .succeeded ? nil : result.failure(of: request)
            return self.land(flight, disposition, status: result.status, failure: failure)
        }
        guard let handler = self.core.handlers.withLock({ $0[request.requestType] }) else {
            return self.land(flight, disposition, status: response.status, response: response)
        }
        self.flights[id]?.phase = .handling(response)
        Task(executorPreference: self.core.executor) { [mailbox = self.core.mailbox] in
            do {
                try await handler(flight.record.request, response)
                mailbox.post(.handled(id, run: run, nil))
            } catch {
                mailbox.post(.handled(id, run: run, HookFailure(error)))
            }
        }
    }

    func handled(_ id: UUID, run: UInt64, _ failure: HookFailure?, at now: Moment) {
        guard let flight = self.flights[id], flight.run == run, case .handling(let response) = flight.phase else {
            return
        }
        guard let failure else {
            return self.land(flight, .succeeded, status: response.status, response: response)
        }
        let disposition = self.machine.handlerFailed(flight.request, message: failure.message)
        let text = flight.request.redact("the handler of the response failed: \(failure.message)")
        self.land(flight, disposition, status: response.status, failure: text)
    }

    /// Leaves the end of an attempt to the next transaction.
    private func land(
        _ flight: Flight,
        _ disposition: Disposition,
        status: Int? = nil,
        failure: String? = nil,
        response: HTTPResponse? = nil
    ) {
        self.flights[flight.record.id] = nil
        self.landings.append(
            Landing(
                record: flight.record,
                disposition: disposition,
                status: status,
                failure: failure,
                response: flight.record.request.keepsResponse ? response : nil
            )
        )
    }

    /// Records the end of an attempt.
    func record(_ landing: Landing, in store: StoreTransaction) throws {
        let id = landing.record.id
        let outcome: StoreOutcome
        var failure = landing.failure
        switch landing.disposition {
        case .succeeded: outcome = .delivered(landing.response)
        case .retry(let delay, let countsAttempt): outcome = .later(after: delay, countsAttempt: countsAttempt)
        case .waitForPath: outcome = .later(after: nil, countsAttempt: false)
        case .hold(let reason): outcome = .held(reason)
        case .dead(let reason):
            outcome = .dead
            failure = reason
        }
        // One that was removed meanwhile has no end any more.
        guard let finish = try store.finish(id, outcome, status: landing.status, error: failure) else { return }
        switch (finish.state, landing.disposition) {
        case (.succeeded, _):
            var record = landing.record
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
    fileprivate var request: RetryableRequest { self.record.request }
}

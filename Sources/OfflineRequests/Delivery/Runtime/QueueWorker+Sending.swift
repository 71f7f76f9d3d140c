// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP

/// The way of a request from the file to the server, and of its end back into the file.
extension QueueWorker {
    // MARK: Out

    /// Reads what goes now: whose turn it is, as many as there are places for.
    func heads(in store: StoreTransaction, at now: Moment) throws -> [RequestRecord] {
        let free = self.machine.slots(at: now) - self.flights.values.count { $0.handledBy != nil }
        let places = self.isDiskFull ? min(free, 1) : free
        if let only { return try self.head(only, in: store, at: now) }
        let gates = try store.gates()
        self.gates = gates.map(\.gate)
        guard places > 0, self.shutdowns.isEmpty else { return [] }
        // Behind the first of so many gates there is nothing that goes first.
        let heads = try self.machine.inTurn(gates, at: now).prefix(places).map { gate in
            let host = gate.gate.host
            let limit = min(places, self.machine.places(of: host))
            let order = self.machine.order(of: host)
            return try store.ready(gate: gate.id, limit: limit, order: order) { self.flights[$0] != nil }
        }
        return self.machine.choose(places, of: heads, at: now)
    }

    /// Begins an attempt that the file knows of.
    func start(_ record: RequestRecord, at now: Moment) {
        self.lastRun += 1
        let (id, run, request) = (record.id, self.lastRun, record.request)
        self.flights[id] = Flight(record: record, run: run)
        if let response = record.response, let flight = self.flights[id] {
            // It was delivered; only a handler is missing.
            self.machine.dropped(id)
            return self.handle(response, of: flight, at: now)
        }
        guard let prepare = self.core.settings.prepare else { return self.send(request.httpRequest(), id, run) }
        Task(executorPreference: self.core.executor) { [core = self.core] in
            var (http, failure) = (request.httpRequest(), String?.none)
            do { try await prepare(&http, request) } catch { failure = "\(error)" }
            core.post { [http, failure] worker, now in worker.prepared(id, run, http, failure, at: now) }
        }
    }

    private func send(_ http: TransportRequest, _ id: UUID, _ run: UInt64) {
        let task = self.core.transport.start(http) { [core = self.core] result in
            core.post { worker, now in worker.finished(id, run, result, at: now) }
        }
        self.flights[id]?.phase = .sending(task)
    }

    private func flight(_ id: UUID, _ run: UInt64) -> Flight? { self.flights[id].flatMap { $0.run == run ? $0 : nil } }

    private func prepared(_ id: UUID, _ run: UInt64, _ http: TransportRequest, _ failure: String?, at now: Moment) {
        guard let flight = self.flight(id, run) else { return }
        guard let failure else { return self.send(http, id, run) }
        let disposition = self.machine.prepareFailed(id, attempts: flight.record.attempts + 1)
        let text = flight.record.request.redact("it could not be prepared: \(failure)")
        self.land(Landing(record: flight.record, disposition: disposition, failure: text))
    }

    // MARK: Back

    private func finished(
        _ id: UUID,
        _ run: UInt64,
        _ result: Result<TransportResponse, TransportError>,
        at now: Moment
    ) {
        guard let flight = self.flight(id, run) else { return }
        let request = flight.record.request
        let disposition = self.machine.finished(id, request: request, result: result, at: now)
        guard case .succeeded = disposition, case .success(let response) = result else {
            let failure = disposition == .succeeded ? nil : result.failure(of: request)
            let (record, status) = (flight.record, result.status)
            return self.land(Landing(record: record, disposition: disposition, status: status, failure: failure))
        }
        self.handle(response, of: flight, at: now)
    }

    /// Leaves the end of an attempt to the next transaction.
    func land(_ landing: Landing) {
        self.flights[landing.record.id] = nil
        self.landings.append(landing)
    }

    /// Records the end of an attempt.
    func record(_ landing: Landing, in store: StoreTransaction) throws {
        let id = landing.record.id
        let finish = try store.finish(
            id,
            landing.disposition,
            status: landing.status,
            error: landing.failure,
            response: landing.disposition != .succeeded || landing.record.request.keepsResponse ? landing.response : nil
        )
        // One that was removed meanwhile has no end any more.
        guard let finish else { return }
        switch (finish.state, landing.disposition) {
        case (.succeeded, _):
            var record = landing.record
            record.state = .succeeded
            record.lastStatus = landing.status
            record.attempts += 1
            self.recent.add(record)
            self.effects.events.append(.succeeded(id, status: landing.status ?? 0))
        case (.backoff, .retry(let delay, _)):
            self.effects.events.append(.backoff(id, until: Date(timeIntervalSinceNow: delay / .seconds(1))))
        case (.held, .hold(let reason)): self.effects.events.append(.held(id, reason))
        case (.held, _): self.effects.events.append(.held(id, .laneHeld))
        case (.dead, .dead(let reason)): self.effects.events.append(.dead(id, reason: reason))
        default: ()
        }
        self.effects.events += finish.dropped.map { .dead($0, reason: "its lane was given up") }
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

/// A request that is being sent, from the moment the file says so until its end is about to be recorded there.
struct Flight {
    /// How far it is.
    enum Phase {
        case preparing
        case sending(any TransportTask)
        /// The handler of the response runs, and may until then.
        case handling(TransportResponse, Task<Void, Never>, by: MonotonicTime)
    }

    let record: RequestRecord
    /// Tells what is said of this attempt from what is said of an earlier one.
    let run: UInt64
    var phase = Phase.preparing

    /// Until when the handler of the response may run; nil while none does.
    var handledBy: MonotonicTime? { if case .handling(_, _, let end) = self.phase { end } else { nil } }

    func cancel() {
        switch self.phase {
        case .preparing: ()
        case .sending(let task): task.cancel()
        case .handling(_, let task, _): task.cancel()
        }
    }
}

/// The end of an attempt, until it is recorded.
struct CompletedAttempt {
    let record: RequestRecord
    let disposition: Disposition
    var status: Int?
    /// What went wrong, without secrets.
    var failure: String?
    /// How the attempt ended, where it was made.
    var result: AttemptResult?
    var response: TransportResponse?

    /// The response where the request asks to keep it, or no handler took it.
    var keptResponse: TransportResponse? {
        self.disposition != .succeeded || self.record.request.keepsResponse ? self.response : nil
    }
}

/// The way of a request from the file to the server, and of its end back into the file.
extension QueueWorker {
    // MARK: Out

    /// The hosts that something waits for, or the only one.
    func hosts(in store: StoreTransaction) throws -> Set<String> {
        if let only { return Set([try store.records.record(only)?.request.host].compactMap { $0 }) }
        return Set(try store.waitingGates(limit: self.hosts.limit).map(\.host))
    }

    /// Reads what goes now: whose turn it is, as many as there are places for.
    func heads(in store: StoreTransaction, at now: Moment) throws -> [ReadyRequest] {
        let free = self.machine.slots(at: now) - self.flights.values.count { $0.handledBy != nil }
        let places = self.isDiskFull ? min(free, 1) : free
        if let only { return try self.head(only, in: store, at: now) }
        let gates = try store.gates()
        self.gates = gates.map(\.gate)
        if gates.isEmpty { try store.checkGates() }
        guard places > 0, self.shutdowns.isEmpty else { return [] }
        // Behind the first of so many gates there is nothing that goes first.
        let heads = try self.machine.inTurn(gates, at: now).prefix(places).map { gate in
            let host = gate.gate.host
            let limit = min(places, self.machine.places(of: host, at: now))
            let order = self.machine.order(of: host)
            return try store.ready(gate: gate.id, limit: limit, order: order) { self.flights[$0] != nil }
        }
        // A request whose address does not match its gate is damaged: it is held now.
        let damaged = heads.joined().filter { !$0.isAtItsGate }
        if !damaged.isEmpty { return Array(damaged.prefix(places)) }
        let chosen = self.machine.choose(places, of: heads.map { $0.map(\.record) }, at: now)
        return chosen.compactMap { record in heads.joined().first { $0.id == record.id } }
    }

    /// How long a request waits whose body the system does not give, for want of descriptors or because of its disk.
    private static let bodyPause: Duration = .seconds(2)

    /// Begins an attempt that the file knows of, if the request is what was taken.
    func start(_ ready: ReadyRequest, at now: Moment) {
        self.lastRun += 1
        let (id, run) = (ready.id, self.lastRun)
        self.flights[id] = Flight(record: ready.record, run: run)
        let bodies = self.core.store.bodies
        let isIntact = { @Sendable in
            Result { () throws(QueueError) in ready.isAtItsGate ? try ready.row.intact(bodies) != nil : false }
        }
        guard ready.row.bodyFile != nil else { return self.checked(id, run, isIntact(), at: now) }
        // As long as a body is that long takes the look at it, for which no process and no other request waits.
        Task(executorPreference: self.core.executor) { [core = self.core] in
            let result = isIntact()
            core.post { worker, now in worker.checked(id, run, result, at: now) }
        }
    }

    private func checked(_ id: UUID, _ run: UInt64, _ isIntact: Result<Bool, QueueError>, at now: Moment) {
        guard let flight = self.flight(id, run) else { return }
        let (record, request) = (flight.record, flight.record.request)
        let fault: (disposition: Disposition, text: String)? =
            switch isIntact {
            case .success(true): nil
            case .success(false): (.hold(.damaged), RequestRecord.damage)
            case .failure(let error): (.retry(after: Self.bodyPause, countsAttempt: false), error.description)
            }
        if let fault {
            self.machine.dropped(id)
            let attempt = CompletedAttempt(record: record, disposition: fault.disposition, failure: fault.text)
            return self.complete(attempt)
        }
        if let response = record.response {
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
        var http = http
        if let limit = self.machine.connectionLimit(of: id, besideGates: self.gates.count) {
            http.timeouts.connect = min(http.timeouts.connect, limit)
        }
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
        self.complete(CompletedAttempt(record: flight.record, disposition: disposition, failure: text))
    }

    // MARK: Back

    private func finished(_ id: UUID, _ run: UInt64, _ result: AttemptResult, at now: Moment) {
        guard let flight = self.flight(id, run) else { return }
        let request = flight.record.request
        let disposition = self.machine.finished(id, request: request, result: result, at: now)
        guard case .succeeded = disposition, case .success(let response) = result else {
            let failure = disposition == .succeeded ? nil : result.failure(of: request)
            var attempt = CompletedAttempt(record: flight.record, disposition: disposition, status: result.status)
            (attempt.failure, attempt.result) = (failure, result)
            return self.complete(attempt)
        }
        self.handle(response, of: flight, at: now)
    }

    /// Leaves the end of an attempt to the next transaction.
    func complete(_ attempt: CompletedAttempt) {
        self.flights[attempt.record.id] = nil
        self.completed.append(attempt)
    }

    func record(_ attempt: CompletedAttempt, in store: StoreTransaction) throws {
        let id = attempt.record.id
        if self.fetches[id] != nil, let result = attempt.result, attempt.disposition.endsSending {
            // Its caller hears why, and need not find it in the queue.
            guard try store.cancel(id) != nil else { return }
            self.effects.events.append(.cancelled(id))
            self.effects.fetchEnds[id] = .failed(result)
            return
        }
        let finish = try store.finish(
            id,
            attempt.disposition,
            status: attempt.status,
            error: attempt.failure,
            response: attempt.keptResponse
        )
        // One that was removed meanwhile has no end any more.
        guard let finish else { return }
        if [.ready, .backoff].contains(finish.state), let reason = attempt.failure {
            self.effects.events.append(.attemptFailed(id, reason: reason))
        }
        switch (finish.state, attempt.disposition) {
        case (.succeeded, _):
            var record = attempt.record
            record.state = .succeeded
            record.lastStatus = attempt.status
            record.attempts += 1
            self.remember(record)
            self.effects.events.append(.succeeded(id, status: attempt.status ?? 0))
        case (.backoff, .retry(let delay, _)):
            self.effects.events.append(.backoff(id, until: Date(timeIntervalSinceNow: delay / .seconds(1))))
        case (.held, .hold(let reason)): self.effects.events.append(.held(id, reason))
        case (.held, _): self.effects.events.append(.held(id, .laneHeld))
        case (.dead, .dead(let reason)): self.effects.events.append(.dead(id, reason: reason))
        default: ()
        }
        self.effects.events += finish.dropped.map { .dead($0, reason: "its lane was given up") }
        if self.fetches[id] != nil, finish.state != .ready {
            let answer = finish.state == .succeeded ? attempt.response : nil
            self.effects.fetchEnds[id] = answer.map { .answered($0) } ?? .kept(id)
        }
    }

    /// Ends the attempts of requests that are there no more.
    func remove(_ ids: [UUID]) {
        for id in ids {
            self.fetches.removeValue(forKey: id)?.reply(.cancelled)
            guard let flight = self.flights.removeValue(forKey: id) else { continue }
            self.machine.dropped(id)
            flight.cancel()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Synchronization

/// The end of a queue, which waits for what is under way.
struct Shutdown: Sendable {
    let until: MonotonicTime
    /// Tells whether everything came to its end.
    let reply: @Sendable (Bool) -> Void
}

/// What is under way when it is to end: handlers, the queue.
extension QueueWorker {
    // MARK: The queue

    func begin(_ shutdown: Shutdown) {
        self.shutdowns.append(shutdown)
        self.takeBackPreparing()
    }

    /// Whether it is shut down, and nothing is under way any more, or the time for that is over.
    func hasShutDown(at now: Moment) -> Bool {
        // Who asks again may have less patience.
        guard let until = self.shutdowns.map(\.until).min() else { return false }
        return self.flights.isEmpty && self.completed.isEmpty || until <= now.monotonic
    }

    /// Takes back what has not left this host.
    func takeBackPreparing() {
        for (id, flight) in self.flights {
            guard case .preparing = flight.phase else { continue }
            self.machine.dropped(id)
            self.complete(CompletedAttempt(record: flight.record, disposition: .waitForPath))
        }
    }

    // MARK: Handlers

    func handle(_ response: TransportResponse, of flight: Flight, at now: Moment) {
        let (id, run, request) = (flight.record.id, flight.run, flight.record.request)
        // A caller that waits for it takes it.
        if self.fetches[id] != nil { return self.complete(flight, handled: response) }
        guard let handler = self.core.handlers.withLock({ $0[request.requestType] }) else {
            // One that was kept for a handler waits for it on.
            guard flight.record.response != nil else { return self.complete(flight, handled: response) }
            let text = "this program has no handler for responses to '\(request.requestType)'"
            return self.complete(flight, unhandled: response, text)
        }
        let task = Task(executorPreference: self.core.executor) { [core = self.core] in
            var failure: String?
            do { try await handler(request, response) } catch {
                failure = "the handler of its response failed: \(error)"
            }
            core.post { [failure] worker, _ in worker.handled(id, run, failure) }
        }
        self.flights[id]?.phase = .handling(response, task, by: now.monotonic + self.core.settings.handlerTimeLimit)
    }

    private func handled(_ id: UUID, _ run: UInt64, _ failure: String?) {
        guard let flight = self.flights[id], flight.run == run, case .handling(let response, _, _) = flight.phase else {
            return
        }
        if let failure { return self.complete(flight, unhandled: response, failure) }
        self.complete(flight, handled: response)
    }

    /// Gives up on the handlers that have had their time.
    func endHandlers(at now: Moment) {
        let limit = DurationText.format(self.core.settings.handlerTimeLimit)
        for (id, flight) in self.flights where flight.handledBy.map({ $0 <= now.monotonic }) ?? false {
            flight.cancel()
            self.handled(id, flight.run, "the handler of its response did not return within \(limit)")
        }
    }

    private func complete(
        _ flight: Flight,
        handled response: TransportResponse,
        _ disposition: Disposition = .succeeded
    ) {
        let (record, status) = (flight.record, response.status)
        self.complete(CompletedAttempt(record: record, disposition: disposition, status: status, response: response))
    }

    /// It is delivered, and never sent again because no handler took the response.
    private func complete(_ flight: Flight, unhandled response: TransportResponse, _ reason: String) {
        let text = flight.record.request.redact("delivered, but \(reason)")
        self.complete(flight, handled: response, .dead(reason: text))
    }

    /// Keeps what servers answered and handlers have not done with, so that it is not sent again.
    func keepResponses(in store: StoreTransaction) throws {
        for (id, flight) in self.flights {
            guard case .handling(let response, _, _) = flight.phase else { continue }
            _ = try store.finish(id, .waitForPath, status: response.status, response: response)
        }
    }
}

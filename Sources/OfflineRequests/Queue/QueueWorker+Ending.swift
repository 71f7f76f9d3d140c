// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Synchronization

/// What is under way when it is to end: requests, handlers, the queue.
extension QueueWorker {
    // MARK: The queue

    /// Begins nothing from now on.
    func begin(_ shutdown: Shutdown) {
        // Who asks again may have less patience.
        if let earlier = self.shutdown {
            self.shutdown = Shutdown(until: min(earlier.until, shutdown.until)) { isDone in
                earlier.reply(isDone)
                shutdown.reply(isDone)
            }
        } else {
            self.shutdown = shutdown
        }
        self.forgetUpcoming()
        // What is still being prepared has not left this host.
        let preparing = self.flights.filter { if case .preparing = $0.value.phase { true } else { false } }
        self.remove(Array(preparing.keys))
    }

    /// Whether it is shut down, and nothing is under way any more, or nobody waits for that any longer.
    func hasShutDown(at now: Moment) -> Bool {
        guard let shutdown else { return false }
        return self.flights.isEmpty && self.landings.isEmpty || shutdown.until <= now.monotonic
    }

    // MARK: Handlers

    /// Gives up on the handlers that have had their time.
    func endHandlers(at now: Moment) {
        for (id, flight) in self.flights where flight.handledBy.map({ $0 <= now.monotonic }) ?? false {
            flight.cancel()
            let limit = self.core.settings.handlerTimeLimit
            self.handled(id, run: flight.run, HookFailure("it did not return within \(limit)"), at: now)
        }
    }

    /// Keeps what servers answered and handlers have not done with, so that it is not sent again.
    func keepResponses(in store: StoreTransaction) throws {
        for (id, flight) in self.flights {
            guard case .handling(let response, _, _) = flight.phase else { continue }
            _ = try store.finish(id, .answered(response), status: response.status)
        }
    }

    /// Calls the handler of a response, or says that there is none.
    func handle(_ response: TransportResponse, of flight: Flight, at now: Moment) {
        let (id, run, request) = (flight.candidate.id, flight.run, flight.candidate.record.request)
        guard let handler = self.core.handlers.withLock({ $0[request.requestType] }) else {
            let isMissed = request.needsHandler && !request.requestType.isEmpty
            if !isMissed, flight.candidate.record.response == nil {
                return self.land(flight, .succeeded, at: now, status: response.status, response: response)
            }
            let text = "this program has no handler for responses to '\(request.requestType)'"
            return self.land(flight, unhandled: response, text, at: now)
        }
        let task = Task(executorPreference: self.core.executor) { [mailbox = self.core.mailbox] in
            do {
                try await handler(request, response)
                mailbox.post(.handled(id, run: run, nil))
            } catch {
                mailbox.post(.handled(id, run: run, HookFailure(error)))
            }
        }
        self.flights[id]?.phase = .handling(response, task, by: now.monotonic + self.core.settings.handlerTimeLimit)
    }

    func handled(_ id: UUID, run: UInt64, _ failure: HookFailure?, at now: Moment) {
        guard let flight = self.flights[id], flight.run == run, case .handling(let response, _, _) = flight.phase else {
            return
        }
        guard let failure else {
            return self.land(flight, .succeeded, at: now, status: response.status, response: response)
        }
        self.land(flight, unhandled: response, "the handler of its response failed: \(failure.message)", at: now)
    }

    /// It is delivered, and never sent again because nobody took the response.
    private func land(_ flight: Flight, unhandled response: TransportResponse, _ reason: String, at now: Moment) {
        let text = flight.candidate.record.request.redact("delivered, but \(reason)")
        self.land(flight, .dead(reason: text), at: now, status: response.status, failure: text, response: response)
    }
}

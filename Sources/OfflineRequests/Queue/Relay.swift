// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Synchronization

/// Sends requests, and the next one in the place of one that was answered well, there and then.
///
/// The thread of the queue is asleep when an answer comes, or writes: by the time it would send the next request, the
/// server has waited for it. So it leaves the next ones here. To put one in the place of another that goes the same way
/// asks for no decision: a success narrows no limit. It takes them back whenever anything else happens.
final class Relay: Sendable {
    /// A request that may go in the place of another.
    struct Entry: Sendable {
        let id: UUID
        let run: UInt64
        /// The number of its gate.
        let gate: StoreGate.ID
        let request: TransportRequest
    }

    /// A request that went.
    struct Start: Sendable {
        let id: UUID
        let run: UInt64
        let task: any TransportTask
    }

    private let transport: any HTTPTransport
    private let mailbox: Mailbox<QueueMessage>
    private let waiting = Mutex<ArraySlice<Entry>>([])
    /// Whether the thread looks by itself soon.
    private let isPatient = Atomic<Bool>(false)

    init(transport: any HTTPTransport, mailbox: Mailbox<QueueMessage>) {
        self.transport = transport
        self.mailbox = mailbox
    }

    /// Says whether the thread looks into its mailbox by itself soon, even if nobody rings.
    func look(isSoon: Bool) { self.isPatient.store(isSoon, ordering: .relaxed) }

    /// Leaves requests here, to go in this order after those that are here.
    func put(_ entries: [Entry]) { self.waiting.withLock { $0 += entries } }

    /// Takes everything back.
    ///
    /// - Returns: How many there were; those that were put in before them have gone.
    func takeBack() -> Int {
        self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting.count
        }
    }

    /// Begins to send a request.
    func send(_ entry: Entry) -> any TransportTask {
        self.transport.start(entry.request) { [self, id = entry.id, run = entry.run, gate = entry.gate] result in
            let next = self.next(after: result, through: gate).map { next in
                Start(id: next.id, run: next.run, task: self.send(next))
            }
            let rings = next == nil || !self.isPatient.load(ordering: .relaxed)
            let message = QueueMessage.finished(id, run: run, result, next: next)
            if !self.mailbox.post(message, rings: rings) { next?.task.cancel() }
        }
    }

    private func next(after result: Result<TransportResponse, TransportError>, through gate: StoreGate.ID) -> Entry? {
        guard case .success(let response) = result, 200..<300 ~= response.status else { return nil }
        return self.waiting.withLock { waiting in
            // What goes another way may be more urgent, and whether it may go is not known here.
            waiting.first?.gate == gate ? waiting.popFirst() : nil
        }
    }
}

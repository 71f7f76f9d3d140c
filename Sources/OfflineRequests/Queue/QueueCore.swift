// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathStandard
import NetPathSystem
import Synchronization

/// What the faces of a queue, its thread and its tasks share; lives until the thread has ended.
final class QueueCore: Sendable {
    typealias Handler = @Sendable (RetryableRequest, TransportResponse) async throws -> Void

    let file: String
    let settings: QueueSettings
    let transport: any HTTPTransport
    /// Where functions of the application run.
    let executor = BackgroundExecutor()
    let mailbox: Mailbox<QueueMessage>
    let observers: QueueObservers
    let handlers = Mutex<[String: Handler]>([:])
    let recent = RecentRequests()
    let shortcut = Shortcut()
    /// What was saved from damaged files.
    let salvages = QueueSalvages()
    /// What the thread last said of itself.
    let status: Mutex<QueueStatus>

    let store: RequestStore
    private let path = PathFeed()
    private let lastWaiter = Atomic<UInt64>(0)

    init(file: String, settings: QueueSettings, transport: any HTTPTransport) throws(QueueError) {
        guard let doorbell = Doorbell(), let files = FileWatch() else {
            throw .io(path: file, reason: "the system grants no more descriptors")
        }
        self.file = file
        self.settings = settings
        self.transport = transport
        self.mailbox = Mailbox(doorbell: doorbell)
        self.observers = QueueObservers(executor: self.executor)
        self.status = Mutex(QueueStatus(settings: settings))
        self.store = try RequestStore(
            path: file,
            limits: settings.limits,
            salvaged: { [observers = self.observers, salvages = self.salvages] salvage in
                salvages.add(salvage)
                let gone = QueueError.io(
                    path: file,
                    reason: "the file was removed while it was open, and what waited in it is lost; a new one was made"
                )
                observers.send([
                    salvage.asideAs.map { aside in
                        .salvaged(recovered: salvage.recovered, lost: salvage.lost, setAsideAs: aside)
                    } ?? .failed(gone)
                ])
            }
        )
        let started = BackgroundThread.start {
            QueueWorker(core: self, sleep: Sleep(doorbell: doorbell, files: files)).run()
        }
        guard started else { throw .io(path: file, reason: "the system grants no thread") }
    }

    // MARK: Lifetime

    func start(following monitor: NetworkMonitor, only id: UUID? = nil) {
        guard self.settings.sends else { return }
        self.path.start(monitor, on: self.executor, telling: self.mailbox)
        self.mailbox.post(.start(only: id))
    }

    func shutdown(within limit: Duration) async -> Bool {
        let isDone = await withCheckedContinuation { continuation in
            let shutdown = Shutdown(until: .ofQueue + max(.zero, limit)) { continuation.resume(returning: $0) }
            // What is closed has nothing under way.
            if !self.mailbox.post(.shutdown(shutdown)) { shutdown.reply(true) }
        }
        self.close()
        return isDone
    }

    func close() {
        self.path.end()
        // Never answered: what comes later is refused.
        self.shortcut.posted()
        self.mailbox.post(.close)
    }

    // MARK: Commands

    /// Has something done; returns when it is on disk.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (QueueWorker, StoreTransaction) throws -> Value
    ) async throws(QueueError) -> Value {
        let result = await withCheckedContinuation { continuation in
            self.post(QueueCommand(body) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// Has something done, for callers that do not wait.
    func command(_ body: @escaping @Sendable (QueueWorker, StoreTransaction) throws -> Void) {
        self.post(QueueCommand(isDurable: false, body) { _ in })
    }

    /// Keeps a request, which may have failed once before.
    func enqueue(
        _ request: RetryableRequest,
        after failure: FirstAttempt?,
        reply: @escaping @Sendable (Result<UUID, QueueError>) -> Void
    ) {
        do {
            self.post(try self.store.prepare(request), after: failure, reply: reply)
        } catch {
            reply(.failure(error))
        }
    }

    /// The same on the thread of the caller where that is quicker; never on that of the main actor.
    @concurrent
    func enqueue(_ request: RetryableRequest, after failure: FirstAttempt?) async throws(QueueError) -> UUID {
        let prepared = try self.store.prepare(request)
        if failure == nil, self.shortcut.isOpen, self.append(prepared) { return request.id }
        let result = await withCheckedContinuation { continuation in
            self.post(prepared, after: failure) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Writes a request into the file here and now, and does what the thread does after that.
    ///
    /// - Returns: Whether it is there; else the thread has to do it, or to say why not.
    func append(_ prepared: PreparedRequest) -> Bool {
        let begin = ContinuousClock.now
        var (role, isAwaited) = (QueueStatus.Role.none, false)
        let isDone = self.store.append(prepared) { insertion, ends in
            role = self.status.withLock { $0.role }
            isAwaited = self.shortcut.sends
            // Here, where the thread cannot come in between and tell what became of it.
            self.observers.send([.enqueued(insertion.id)])
            self.remember(prepared, insertion, as: role, ends: ends)
        }
        self.shortcut.measured(.now - begin)
        guard isDone else { return false }
        if isAwaited { self.mailbox.post(.enqueued) }
        if role != .sender { self.store.ring() }
        return true
    }

    /// Keeps in mind what is not sent here; a sender remembers how it ends.
    func remember(_ prepared: PreparedRequest, _ insertion: Insertion, as role: QueueStatus.Role, ends: Int64) {
        if role == .sender { return }
        let record = RequestRecord(request: prepared.request, state: insertion.state, sequence: 0)
        self.recent.add(record, ends: ends)
    }

    private func post(
        _ prepared: PreparedRequest,
        after failure: FirstAttempt?,
        reply: @escaping @Sendable (Result<UUID, QueueError>) -> Void
    ) {
        self.post(QueueCommand({ try $0.enqueue(prepared, after: failure, in: $1) }, reply: reply))
    }

    private func post(_ command: QueueCommand) {
        self.shortcut.posted()
        if self.mailbox.post(.command(command)) { return }
        self.shortcut.answered(1)
        command.refuse(.closed)
    }

    // MARK: Waiting

    /// Waits for the end of a request; with nil until nothing is left.
    func wait(for id: UUID?) async throws(QueueError) -> RequestRecord? {
        let number = self.lastWaiter.add(1, ordering: .relaxed).newValue
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<_, QueueError>, Never>) in
                let waiter = QueueWaiter(number: number, id: id) { continuation.resume(returning: $0) }
                if !self.mailbox.post(.wait(waiter)) { waiter.reply(.failure(.closed)) }
                // A cancellation that came first found nobody.
                if Task.isCancelled { self.mailbox.post(.abandon(number)) }
            }
        } onCancel: {
            self.mailbox.post(.abandon(number))
        }
        return try result.get()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathStandard
import NetPathSystem
import Synchronization

/// What the faces of a queue and its tasks share, and the one serial executor on which everything of it happens.
///
/// What is posted while the executor is busy is done together afterwards, so that commands that come while a
/// transaction is written share the next one.
final class QueueCore: Sendable {
    typealias Handler = @Sendable (RetryableRequest, TransportResponse) async throws -> Void
    typealias Message = @Sendable (QueueWorker, Moment) -> Void

    private struct Inbox {
        var messages: [Message] = []
        var isClosed = false
    }

    let file: String
    let settings: QueueSettings
    let transport: any HTTPTransport
    /// Where functions of the application run.
    let executor = BackgroundExecutor()
    let observers = QueueObservers()
    let handlers = Mutex<[String: Handler]>([:])
    /// What the worker last said of itself.
    let status = Mutex(QueueStatus())
    let store: RequestStore
    private let isStarted = Mutex(false)

    private let queue = DispatchQueue(label: "netpath.requests")
    private let inbox = Mutex(Inbox())
    /// Nil once it is closed.
    private let worker = Mutex<QueueWorker?>(nil)

    init(file: String, settings: QueueSettings, transport: any HTTPTransport) throws(QueueError) {
        self.file = file
        self.settings = settings
        self.transport = transport
        self.store = try RequestStore(
            path: file,
            settings: settings,
            salvaged: { [observers = self.observers] event in observers.salvaged(event) }
        )
        let isReady = self.worker.withLock { worker in
            worker = QueueWorker(core: self, on: self.queue)
            return worker != nil
        }
        guard isReady else { throw .io(path: file, reason: SystemReason.text(EMFILE)) }
    }

    // MARK: The executor

    /// Has something done on the executor, and what follows from it; on any thread.
    ///
    /// With `isHere` this thread may be the executor while no other is, until that is done. Returns whether it will be; not
    /// after the end.
    @discardableResult
    func post(_ message: @escaping Message, here isHere: Bool = false) -> Bool {
        let (isTaken, isFirst) = self.inbox.withLock { inbox in
            if inbox.isClosed { return (false, false) }
            inbox.messages.append(message)
            return (true, inbox.messages.count == 1)
        }
        guard isFirst else { return isTaken }
        // To wake another thread, and to be woken by it, takes as long as a transaction.
        if isHere, self.worker.withLockIfAvailable({ self.turn(&$0) }) != nil { return true }
        self.queue.async { self.worker.withLock { self.turn(&$0) } }
        return true
    }

    private func turn(_ worker: inout QueueWorker?) {
        let messages = self.take(last: false)
        // Another thread may have done them.
        if messages.isEmpty { return }
        worker?.turn(messages)
        if worker?.hasEnded == true { worker = nil }
    }

    /// Takes what was posted; nothing is taken any more after the last time.
    func take(last: Bool) -> [Message] {
        self.inbox.withLock { inbox in
            defer { inbox.messages = [] }
            inbox.isClosed = inbox.isClosed || last
            return inbox.messages
        }
    }

    // MARK: Lifetime

    func start(following monitor: NetworkMonitor, only id: UUID? = nil) {
        guard self.settings.sends else { return }
        // One that comes second may rely on the first.
        let isFirst = self.isStarted.withLock { isStarted in
            if isStarted { return false }
            isStarted = true
            return self.post { worker, _ in worker.start(following: monitor, only: id) }
        }
        if isFirst { monitor.start() }
    }

    func shutdown(within limit: Duration) async -> Bool {
        let isDone = await withCheckedContinuation { continuation in
            let shutdown = Shutdown(until: Moment.now().monotonic + max(.zero, limit)) {
                continuation.resume(returning: $0)
            }
            // What is closed has nothing under way.
            if !self.post({ worker, _ in worker.begin(shutdown) }) { shutdown.reply(true) }
        }
        self.close()
        return isDone
    }

    func close() {
        self.post { worker, _ in worker.isClosing = true }
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

    /// Removes requests, so many at most; on a full disk a few at a time, which takes less room.
    func remove(
        _ body: @escaping @Sendable (QueueWorker, StoreTransaction, _ limit: Int) throws -> Int
    ) async throws(QueueError) -> Int {
        var (count, limit) = (0, Int.max)
        while true {
            do throws(QueueError) {
                let removed = try await self.perform { [limit] worker, store in try body(worker, store, limit) }
                count += removed
                if removed < limit { return count }
            } catch {
                guard case .diskFull = error, limit == .max else { throw error }
                limit = 4
            }
        }
    }

    func post(_ command: QueueCommand, here isHere: Bool = false) {
        if !self.post({ worker, _ in worker.commands.append(command) }, here: isHere) { command.refuse(.closed) }
    }

    /// Keeps a request; on this thread, where that is asked for and no other thread works.
    func enqueue(
        _ request: RetryableRequest,
        here isHere: Bool = false,
        reply: @escaping @Sendable (Result<UUID, QueueError>) -> Void
    ) {
        do throws(QueueError) {
            let prepared = try self.store.prepare(request)
            let command = QueueCommand(
                inserting: prepared.row.size,
                { try $0.enqueue(prepared, in: $1).id },
                reply: reply
            )
            self.post(command, here: isHere)
        } catch {
            reply(.failure(error))
        }
    }

    /// Keeps a request, also where there is no path if `isKept`, and waits for its answer for as long as that may come soon.
    @concurrent
    func fetch(_ request: RetryableRequest, isKept: Bool) async -> FetchEnd {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let prepared: PreparedRequest
                do throws(QueueError) { prepared = try self.store.prepare(request) } catch {
                    return continuation.resume(returning: .refused(error))
                }
                let fetch = Fetch(gate: Gate(prepared.request), isKept: isKept) { continuation.resume(returning: $0) }
                let command = QueueCommand(
                    inserting: prepared.row.size,
                    { try $0.enqueue(prepared, for: fetch, in: $1) },
                    reply: { result in
                        switch result {
                        case .success(let insertion) where insertion.isKept || insertion.state != .ready:
                            fetch.reply(.kept(insertion.id))
                        // The worker replies.
                        case .success: ()
                        case .failure(let error): fetch.reply(.refused(error))
                        }
                    }
                )
                self.post(command, here: true)
                // A cancellation that came first found nothing to take back.
                if Task.isCancelled { self.post { worker, _ in worker.abandonFetch(request.id) } }
            }
        } onCancel: {
            self.post { worker, _ in worker.abandonFetch(request.id) }
        }
    }

    /// Waits for the end of a request; with nil until nothing is left.
    func wait(for id: UUID?) async throws(QueueError) -> RequestRecord? {
        let token = UUID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<_, QueueError>, Never>) in
                let waiter = QueueWaiter(token: token, id: id) { continuation.resume(returning: $0) }
                if !self.post({ worker, _ in worker.add(waiter) }) { waiter.reply(.failure(.closed)) }
                // A cancellation that came first found no waiter.
                if Task.isCancelled { self.post { worker, _ in worker.abandon(token) } }
            }
        } onCancel: {
            self.post { worker, _ in worker.abandon(token) }
        }
        return try result.get()
    }
}

/// Something to be done in a transaction, together with everything else that waits.
struct QueueCommand: Sendable {
    /// How many bytes the request has that it inserts; zero for none.
    let size: Int
    /// Does it; returns what tells the caller once the transaction is on disk, also where it is refused.
    let perform: @Sendable (QueueWorker, StoreTransaction) throws -> @Sendable () -> Void
    /// Tells the caller that it was not done.
    let refuse: @Sendable (QueueError) -> Void

    init<Value: Sendable>(
        inserting size: Int = 0,
        _ body: @escaping @Sendable (QueueWorker, StoreTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, QueueError>) -> Void
    ) {
        self.size = size
        self.perform = { worker, store in
            do {
                let value = try body(worker, store)
                return { reply(.success(value)) }
            } catch let error as QueueError {
                // It changed nothing, and the others need not suffer from it.
                return { reply(.failure(error)) }
            }
        }
        self.refuse = { reply(.failure($0)) }
    }
}

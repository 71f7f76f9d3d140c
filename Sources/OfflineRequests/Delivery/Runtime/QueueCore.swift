// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathStandard
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
    /// What was saved from damaged files.
    let salvages = QueueSalvages()
    /// What the worker last said of itself.
    let status = Mutex(QueueStatus())
    let store: RequestStore

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
            limits: settings.limits,
            salvaged: { [observers = self.observers, salvages = self.salvages] salvage in
                salvages.add(salvage)
                observers.send([salvage.event(of: file)])
            }
        )
        let isReady = self.worker.withLock { worker in
            worker = QueueWorker(core: self, on: self.queue)
            return worker != nil
        }
        guard isReady else { throw .io(path: file, reason: "the system grants no more descriptors") }
    }

    // MARK: The executor

    /// Has something done on the executor, and what follows from it; on any thread.
    ///
    /// - Returns: Whether that will be; not after the end.
    @discardableResult
    func post(_ message: @escaping Message) -> Bool {
        let (isTaken, isFirst) = self.inbox.withLock { inbox in
            if inbox.isClosed { return (false, false) }
            inbox.messages.append(message)
            return (true, inbox.messages.count == 1)
        }
        if isFirst { self.queue.async { self.turn() } }
        return isTaken
    }

    private func turn() {
        let messages = self.take(last: false)
        self.worker.withLock { worker in
            worker?.turn(messages)
            if worker?.hasEnded == true { worker = nil }
        }
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
        if self.post({ worker, _ in worker.start(following: monitor, only: id) }) { monitor.start() }
    }

    func shutdown(within limit: Duration) async -> Bool {
        let isDone = await withCheckedContinuation { continuation in
            let shutdown = Shutdown(until: .ofQueue + max(.zero, limit)) { continuation.resume(returning: $0) }
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

    func post(_ command: QueueCommand) {
        if !self.post({ worker, _ in worker.commands.append(command) }) { command.refuse(.closed) }
    }

    /// Keeps a request, which may have failed once before.
    func enqueue(
        _ request: RetryableRequest,
        after failure: FirstAttempt? = nil,
        reply: @escaping @Sendable (Result<UUID, QueueError>) -> Void
    ) {
        do throws(QueueError) {
            let prepared = try self.store.prepare(request)
            self.post(QueueCommand({ try $0.enqueue(prepared, after: failure, in: $1) }, reply: reply))
        } catch {
            reply(.failure(error))
        }
    }

    /// The same; never prepares the request on the thread of the main actor.
    @concurrent
    func enqueue(_ request: RetryableRequest, after failure: FirstAttempt?) async throws(QueueError) -> UUID {
        let result = await withCheckedContinuation { continuation in
            self.enqueue(request, after: failure) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Waits for the end of a request; with nil until nothing is left.
    func wait(for id: UUID?) async throws(QueueError) -> RequestRecord? {
        let token = UUID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<_, QueueError>, Never>) in
                let waiter = QueueWaiter(token: token, id: id) { continuation.resume(returning: $0) }
                if !self.post({ worker, _ in worker.add(waiter) }) { waiter.reply(.failure(.closed)) }
                // A cancellation that came first found nobody.
                if Task.isCancelled { self.post { worker, _ in worker.abandon(token) } }
            }
        } onCancel: {
            self.post { worker, _ in worker.abandon(token) }
        }
        return try result.get()
    }

    // MARK: Reading, on the threads of callers

    var counts: QueueCounts { (try? self.store.read { $1.counts }) ?? QueueCounts() }

    func record(_ id: UUID) throws(QueueError) -> RequestRecord? {
        let (record, isPaused) = try self.store.read { (try $0.record(id), $1.isPaused) }
        return record.map { record in
            self.status.withLock { $0 }.explain([record], isPaused: isPaused, in: self.file)[0]
        }
    }

    func page(of states: Set<RequestState>, after sequence: Int64, limit: Int) -> [RequestRecord] {
        let page = try? self.store.read { records, now in
            (try records.page(states: states, after: sequence, limit: limit), now.isPaused)
        }
        guard let (records, isPaused) = page else { return [] }
        return self.status.withLock { $0 }.explain(records, isPaused: isPaused, in: self.file)
    }
}

/// Something to be done in a transaction, together with everything else that waits.
struct QueueCommand: Sendable {
    /// Whether it has to survive the loss of power before the caller hears of it.
    let isDurable: Bool
    /// Does it; returns what tells the caller once the transaction is on disk, also where it is refused.
    let perform: @Sendable (QueueWorker, StoreTransaction) throws -> @Sendable () -> Void
    /// Tells the caller that it was not done.
    let refuse: @Sendable (QueueError) -> Void

    init<Value: Sendable>(
        isDurable: Bool = true,
        _ body: @escaping @Sendable (QueueWorker, StoreTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, QueueError>) -> Void
    ) {
        self.isDurable = isDurable
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

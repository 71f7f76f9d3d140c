// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
public import NetPathCurl
public import NetPathHTTP
import Synchronization

/// Requests that are kept on disk and go out by themselves when there is a path.
///
/// A request that was taken is on disk, and stays there until a server has answered it and that is recorded: it is
/// delivered at least once, and every repeat carries the same idempotency key. Several processes may have the same
/// file open; one of them sends, and the next one takes over whenever that ends.
///
/// Every member may be used on any thread. One serial executor of the queue does the work, and sleeps without any timer
/// while there is nothing to send or no path. A queue that is not referenced any more is closed.
public final class OfflineRequestQueue: Sendable {
    /// The file of an application that names none.
    ///
    /// - Parameter application: Its identifier; nil for the name of the executable.
    /// - Returns: `$XDG_DATA_HOME/netpath/requests/APPLICATION.sqlite`, in `~/.local/share` when the variable is unset.
    /// - Throws: ``QueueError/io(path:reason:)`` when the identifier is no name for a file.
    public static func standardFile(application: String? = nil) throws(QueueError) -> String {
        try QueueFile.standard(application: application)
    }

    /// The file of the queue, without symbolic links.
    public let file: String
    /// How it works.
    public let settings: QueueSettings
    /// What says whether there is a path.
    public let monitor: NetworkMonitor

    let core: QueueCore

    /// Opens a queue, or makes a new one; ``start()`` begins to send.
    ///
    /// - Parameters:
    ///   - application: The identifier of the application, for example `org.example.mail`; nil for the name of the
    ///     executable. With a file it is of no use.
    ///   - file: The file; nil for ``standardFile(application:)``, which is the application's own. Applications that
    ///     share a queue name the same one. Files beside it whose names begin with its name belong to it.
    ///   - settings: How it works.
    ///   - transport: What sends.
    ///   - monitor: What says whether there is a path; ``start()`` starts it.
    /// - Throws: ``QueueError`` when the file cannot be used.
    public init(
        application: String? = nil,
        file: String? = nil,
        settings: QueueSettings = QueueSettings(),
        transport: any HTTPTransport = CurlTransport.shared,
        monitor: NetworkMonitor = .shared
    ) throws(QueueError) {
        self.file = try QueueFile.path(of: file, application: application)
        self.settings = settings
        self.monitor = monitor
        self.core = try QueueCore(file: self.file, settings: settings, transport: transport)
    }

    deinit {
        self.close()
    }

    // MARK: Lifetime

    /// Begins to send, once the handlers are registered; nothing when it was called before, or after ``close()``.
    ///
    /// From then on it is the queue of its monitor (`NetworkMonitor.pendingRequests` and the like), unless another is.
    public func start() {
        self.monitor.adopt(self)
        self.core.start(following: self.monitor)
    }

    /// Begins to send one request, and leaves all others to the process that sends for all of the file.
    ///
    /// While that one sends, this process does not. It keeps no process from it, either, but for the time that the request
    /// is on its way. Nothing when the queue was started before.
    package func start(only id: UUID) {
        self.core.start(following: self.monitor, only: id)
    }

    /// Begins nothing any more, waits for what is being sent and for handlers, and closes.
    ///
    /// What is not done by then is given up as by ``close()``.
    ///
    /// - Parameter limit: How long it may take.
    /// - Returns: Whether everything that was under way came to its end, and that is recorded.
    @discardableResult
    public func shutdown(within limit: Duration) async -> Bool {
        await self.core.shutdown(within: limit)
    }

    /// Ends the work and waits for nothing: what is being sent is given up, and sent again when the file is opened
    /// the next time; see ``shutdown(within:)``.
    ///
    /// The sequences of changes and events end once the file is closed.
    public func close() {
        self.core.close()
    }

    // MARK: Requests

    /// Takes a request; it is on disk when this returns.
    ///
    /// - Parameter request: The request.
    /// - Returns: Its id; that of the one that waits already, where ``RetryableRequest/ifExists`` says so.
    /// - Throws: ``QueueError``; nothing was kept then.
    @discardableResult
    @concurrent
    public func enqueue(_ request: RetryableRequest) async throws(QueueError) -> UUID {
        // Never prepared on the thread of the main actor.
        let result = await withCheckedContinuation { continuation in
            self.core.enqueue(request, here: true) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Takes a request, for callers that do not wait.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - completion: Called when it is on disk, or when it was not kept; on a thread of the queue, which it must
    ///     not block.
    public func enqueue(
        _ request: RetryableRequest,
        completion: @escaping @Sendable (Result<UUID, QueueError>) -> Void
    ) {
        self.core.enqueue(request, reply: completion)
    }

    /// Removes a request, also one that is being sent, which the server may receive all the same.
    ///
    /// - Parameter id: The id.
    /// - Returns: Where it stood until then: ``RequestState/running`` for one that was being sent.
    /// - Throws: ``QueueError/unknownID(_:)`` when it is not there, or no more.
    @discardableResult
    public func cancelRequest(id: UUID) async throws(QueueError) -> RequestState {
        try await self.core.perform { worker, store in try worker.cancel(id, in: store) }
    }

    /// Removes the requests of a kind, as ``cancelRequest(id:)`` does.
    ///
    /// - Parameter requestType: The kind.
    /// - Returns: How many there were.
    /// - Throws: ``QueueError``; nothing was removed then, but on a full disk, where a part may have been.
    @discardableResult
    public func cancelRequests(requestType: String) async throws(QueueError) -> Int {
        try await self.core.remove { try $0.cancel(type: requestType, limit: $2, in: $1) }
    }

    /// Removes the requests of a lane, as ``cancelRequest(id:)`` does.
    ///
    /// - Parameter orderingKey: The lane.
    /// - Returns: How many there were.
    /// - Throws: ``QueueError``; nothing was removed then, but on a full disk, where a part may have been.
    @discardableResult
    public func cancelRequests(orderingKey: String) async throws(QueueError) -> Int {
        try await self.core.remove { try $0.cancel(lane: orderingKey, limit: $2, in: $1) }
    }

    /// Removes all requests that are not finished, as ``cancelRequest(id:)`` does; dead letters and responses stay.
    ///
    /// - Returns: How many there were.
    /// - Throws: ``QueueError``; nothing was removed then, but on a full disk, where a part may have been.
    @discardableResult
    public func cancelRequests() async throws(QueueError) -> Int {
        try await self.core.remove { try $0.cancel(limit: $2, in: $1) }
    }

    /// Removes everything, dead letters and what is being sent included.
    ///
    /// - Throws: ``QueueError``; nothing was removed then, but on a full disk, where a part may have been.
    public func reset() async throws(QueueError) {
        _ = try await self.core.remove { try $0.reset(limit: $2, in: $1) }
    }

    /// Which other process sends the requests of this queue, by its number and name; nil when none does.
    package var otherSender: String? { LockHolders.names(of: [QueueFile.senderLock(of: self.file)]).first }

    // MARK: Damage

    /// What happened to the file since the queue was opened, the opening included: that it was damaged and salvaged, or
    /// removed or replaced; see <doc:Storage>.
    package var salvages: [QueueEvent] { self.core.observers.salvages }

    /// Whether this process replaces a damaged file now.
    package var isRepairing: Bool { self.core.store.isRepairing.load(ordering: .relaxed) }

    /// Looks through the whole file, which takes as long as that is; a damaged one is set aside, and what can be read
    /// of it is taken over: ``QueueEvent/salvaged(recovered:lost:setAsideAs:)``.
    ///
    /// - Returns: How many requests are held because they or their bodies are damaged.
    /// - Throws: ``QueueError`` when that cannot be done.
    @discardableResult
    public func repair() throws(QueueError) -> Int {
        do { return try self.core.store.verify() } catch .corrupt(_, setAsideAs: _?) {
            return try self.core.store.verify()
        }
    }

    // MARK: Delivery

    /// Tries everything that waits for its time or for a decision again, now, if there is a path.
    public func forceTriggerRetry() {
        self.core.post(QueueCommand({ try $0.force(in: $1) }, reply: { _ in }))
    }

    /// The same, at once with what was given up where that is asked for; each request goes once.
    ///
    /// - Parameter includingDead: Whether what was given up is revived, too.
    /// - Returns: How many requests waited for their time or for a decision, or were revived.
    /// - Throws: ``QueueError``; nothing was changed then.
    @discardableResult
    public func forceTriggerRetry(includingDead: Bool) async throws(QueueError) -> Int {
        try await self.core.perform { worker, store in
            try worker.forceAll(includingDead: includingDead, in: store)
        }
    }

    /// Tries one request again, now, if there is a path, and leaves the others as they are.
    ///
    /// It need wait neither for its time nor for its host any longer; when it was held or given up, its attempts are
    /// forgotten.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - headers: What takes the place of its headers of the same names, for example a new `Authorization`.
    /// - Throws: ``QueueError/unknownID(_:)`` when it is not there, or no more;
    ///   ``QueueError/invalidRequest(field:reason:)`` when the headers cannot be sent, or it is being sent already.
    public func forceTriggerRetry(id: UUID, replacing headers: HeaderFields = [:]) async throws(QueueError) {
        try await self.core.perform { worker, store in try worker.force(id, replacing: headers, in: store) }
    }

    /// Sends nothing more until ``resume()``, in any process, also after a restart; what is being sent goes on.
    ///
    /// - Throws: ``QueueError`` when that cannot be recorded.
    public func pause() async throws(QueueError) {
        try await self.core.perform { _, store in store.status.isPaused = true }
    }

    /// Sends again after ``pause()``.
    ///
    /// - Throws: ``QueueError`` when that cannot be recorded.
    public func resume() async throws(QueueError) {
        try await self.core.perform { _, store in store.status.isPaused = false }
    }

    /// Sets what receives the responses of a kind of request, also of those that an earlier run of the program left.
    ///
    /// It is called for every response that means success, before that is recorded: if the program is killed in between,
    /// the request is sent again and the handler called again. When it throws, or does not return within
    /// ``QueueSettings/handlerTimeLimit``, the request is not sent again: it is given up with the reason, and its response
    /// is kept. ``requeueDead(id:)`` and ``forceTriggerRetry(id:replacing:)`` offer that to the handler again. Without a
    /// handler a response that means success is a success, too.
    ///
    /// - Parameters:
    ///   - requestType: The kind, ``RetryableRequest/requestType``.
    ///   - handler: Called on threads of the queue that all its functions share: it may suspend, and should not block.
    public func onResponse(
        for requestType: String,
        _ handler: @escaping @Sendable (RetryableRequest, TransportResponse) async throws -> Void
    ) {
        self.core.handlers.withLock { $0[requestType] = handler }
    }
}

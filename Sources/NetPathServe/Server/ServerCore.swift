// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NetPathSystem

/// What all connections share; of the server's thread alone.
final class ServerCore {
    /// How long an answer of the worker is good for others who ask the same: a page of many tabs asks for the same history.
    private static let freshness: TimeAmount = .seconds(2)

    /// Of so many answers.
    private static let freshLimit = 4

    let entrance: LoopEntrance
    var loop: any EventLoop { self.entrance.loop }
    var site: Site
    var counters = ServerCounters()
    private(set) var state: ServedState
    let limits: ServeLimits
    let worker: StatusServer.Worker
    /// Runs a function on a thread of its own; returns whether there is one.
    let startThread: (@escaping @Sendable () -> Void) -> Bool
    private let begin = NIODeadline.now()
    private let log: @Sendable (String) -> Void
    /// What is asked often does not wait for what takes long.
    private var lanes: [String: WorkLane] = [:]
    private var fresh: [(work: Work, shared: SharedBytes, until: NIODeadline)] = []
    /// The bytes of all that is kept of such answers.
    var sharedBytes = 0
    private var streams: [ObjectIdentifier: ConnectionHandler] = [:]
    /// Connections without a whole request, and since when.
    private var waiting: [ObjectIdentifier: (connection: ConnectionHandler, since: NIODeadline)] = [:]
    /// The newest state as it is sent, in one piece of memory for all.
    private var event: ByteBuffer?
    private var beat: Scheduled<Void>?

    init(
        _ access: Access,
        limits: ServeLimits,
        document: [UInt8],
        entrance: LoopEntrance,
        worker: @escaping StatusServer.Worker,
        startThread: @escaping (@escaping @Sendable () -> Void) -> Bool = BackgroundThread.start,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.entrance = entrance
        self.limits = limits
        self.site = Site(access)
        self.state = ServedState(document: document)
        self.worker = worker
        self.startThread = startThread
        self.log = log
    }

    // MARK: Requests

    /// The time since the server began.
    private var now: Duration { Duration(NIODeadline.now() - self.begin) }

    /// Answers a request, or says where the answer comes from.
    func answer(_ request: Request) -> Outcome {
        let outcome = self.site.answer(request, document: self.state.document, now: self.now)
        if let message = self.site.takeMessage() { self.log(message) }
        if case .events(_, let fields) = outcome, self.streams.count >= self.limits.streams {
            return .response(.refusal(503, "there are too many streams of events; try again later", fields: fields))
        }
        return outcome
    }

    // MARK: Connections

    /// Notes whether a connection waits for a whole request.
    func note(_ connection: ConnectionHandler, waits: Bool) {
        self.waiting[ObjectIdentifier(connection)] = waits ? (connection, .now()) : nil
    }

    /// Closes the connection that has waited for longest; returns whether there is one.
    func makeRoom() -> Bool {
        guard let (id, oldest) = self.waiting.min(by: { $0.value.since < $1.value.since }) else { return false }
        self.waiting[id] = nil
        oldest.connection.close()
        return true
    }

    /// Takes other rules of who may ask; streams that a token of before let in are closed when there is another one.
    func apply(_ access: Access) {
        if self.site.apply(access) { for stream in self.streams.values { stream.close() } }
    }

    // MARK: States

    /// Takes a newer state.
    func show(_ line: [UInt8]) {
        self.state.set(line)
        self.event = nil
        self.fresh = []
        for stream in self.streams.values { stream.stateChanged() }
    }

    /// The newest state as an event.
    var newestEvent: ByteBuffer {
        if let event { return event }
        let event = ByteBuffer(bytes: self.state.event)
        self.event = event
        return event
    }

    func add(_ stream: ConnectionHandler) {
        self.streams[ObjectIdentifier(stream)] = stream
        if self.beat == nil { self.scheduleBeat() }
    }

    func remove(_ stream: ConnectionHandler) {
        self.streams[ObjectIdentifier(stream)] = nil
        // No client is woken for a client that is gone.
        if self.streams.isEmpty {
            self.beat?.cancel()
            self.beat = nil
        }
    }

    private func scheduleBeat() {
        self.beat = self.loop.assumeIsolated().scheduleTask(in: TimeAmount(self.limits.heartbeat)) { [weak self] in
            guard let self else { return }
            for stream in self.streams.values { stream.heartbeat() }
            self.beat = nil
            if !self.streams.isEmpty { self.scheduleBeat() }
        }
    }

    // MARK: Work

    /// Has something made that takes time.
    ///
    /// - Parameters:
    ///   - work: What.
    ///   - client: Who waits for it, until ``forget(_:)``.
    ///   - body: Receives it; nil when it cannot be made, or too much is kept for others already.
    func perform(_ work: Work, for client: ConnectionHandler, _ body: @escaping (SharedBytes?) -> Void) {
        if let known = self.fresh.first(where: { $0.work == work && $0.until > .now() }) { return body(known.shared) }
        let lane = self.lanes[work.lane] ?? WorkLane(self)
        self.lanes[work.lane] = lane
        lane.add(work, for: ObjectIdentifier(client), body)
    }

    /// Forgets a client that has gone.
    func forget(_ client: ConnectionHandler) {
        for lane in self.lanes.values { lane.forget(ObjectIdentifier(client)) }
    }

    /// Keeps what was made of a version of the state, for all that wait for it.
    ///
    /// - Returns: Nil when there is nothing, or too much is kept for those that do not read.
    func share(_ bytes: [UInt8]?, of work: Work, _ version: UInt64) -> SharedBytes? {
        self.fresh.removeAll { $0.until <= .now() || $0.work == work }
        guard var bytes, self.sharedBytes == 0 || self.sharedBytes + bytes.count <= self.limits.shared else {
            return nil
        }
        if case .metrics(let isOpen) = work {
            self.counters.streams = self.streams.count
            bytes += Array((self.counters.text(isOpenMetrics: isOpen) + (isOpen ? "# EOF\n" : "")).utf8)
        }
        let shared = SharedBytes(bytes, of: self)
        if case .history = work, version == self.state.version {
            if self.fresh.count >= Self.freshLimit { self.fresh.removeFirst() }
            self.fresh.append((work, shared, .now() + Self.freshness))
        }
        return shared
    }
}

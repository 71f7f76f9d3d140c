// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOPosix

/// What all connections share; of the server's thread alone.
final class ServerCore {
    /// How long an answer of the worker is good for others who ask the same: a page of many tabs asks for the same history.
    private static let freshness: TimeAmount = .seconds(2)

    let loop: any EventLoop
    var site: Site
    var counters = ServerCounters()
    private(set) var state: ServedState
    private let limits: ServeLimits
    private let worker: StatusServer.Worker
    private let pool = NIOThreadPool(numberOfThreads: 1)
    /// Those that wait for the same work.
    private var waiting: [Work: [([UInt8]?) -> Void]] = [:]
    private var fresh: [Work: (bytes: [UInt8], until: NIODeadline)] = [:]
    private var streams: [ObjectIdentifier: ConnectionHandler] = [:]
    /// The newest state as it is sent, in one piece of memory for all.
    private var event: ByteBuffer?
    private var beat: Scheduled<Void>?

    init(
        _ access: Access,
        limits: ServeLimits,
        document: [UInt8],
        loop: any EventLoop,
        worker: @escaping StatusServer.Worker
    ) {
        self.loop = loop
        self.limits = limits
        self.site = Site(access)
        self.state = ServedState(document: document)
        self.worker = worker
        self.pool.start()
    }

    // MARK: States

    /// Takes a newer state.
    func show(_ line: [UInt8]) {
        self.state.set(line)
        self.event = nil
        self.fresh = [:]
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
        self.counters.streams = self.streams.count
        if self.beat == nil { self.scheduleBeat() }
    }

    func remove(_ stream: ConnectionHandler) {
        self.streams[ObjectIdentifier(stream)] = nil
        self.counters.streams = self.streams.count
        // Nobody is woken for who is gone.
        if self.streams.isEmpty {
            self.beat?.cancel()
            self.beat = nil
        }
    }

    private func scheduleBeat() {
        self.beat = self.loop.assumeIsolated().scheduleTask(in: .of(self.limits.heartbeat)) { [weak self] in
            guard let self else { return }
            for stream in self.streams.values { stream.heartbeat() }
            self.beat = nil
            if !self.streams.isEmpty { self.scheduleBeat() }
        }
    }

    // MARK: Work

    /// Has something answered that takes time.
    func perform(_ work: Work, _ body: @escaping ([UInt8]?) -> Void) {
        if let known = self.fresh[work], known.until > .now() { return body(known.bytes) }
        self.waiting[work, default: []].append(body)
        guard self.waiting[work]?.count == 1 else { return }
        let done = NIOLoopBound(self, eventLoop: self.loop)
        let version = self.state.version
        self.pool.submit { [worker, loop] state in
            let bytes = state == .active ? worker(work) : nil
            loop.execute { done.value.finish(work, bytes, of: version) }
        }
    }

    private func finish(_ work: Work, _ bytes: [UInt8]?, of version: UInt64) {
        if case .history = work, let bytes, version == self.state.version {
            self.fresh = self.fresh.filter { $0.value.until > .now() }
            self.fresh[work] = (bytes, .now() + Self.freshness)
        }
        for body in self.waiting.removeValue(forKey: work) ?? [] { body(bytes) }
    }
}

extension TimeAmount {
    static func of(_ duration: Duration) -> TimeAmount {
        .nanoseconds(duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000)
    }
}

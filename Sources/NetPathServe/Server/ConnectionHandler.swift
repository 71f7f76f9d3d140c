// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOHTTP1

/// One connection: requests one after another, or one that gets events until it goes.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case waiting
        case receiving(HTTPRequestHead, body: [UInt8])
        /// It is being answered.
        case working(HTTPRequestHead)
        case streaming
        case closing
    }

    private let core: ServerCore
    private let peer: Request.Peer
    private let limits: ServeLimits
    private var phase = Phase.waiting
    private var events = EventClient()
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?

    init(_ core: ServerCore, peer: Request.Peer, limits: ServeLimits) {
        self.core = core
        self.peer = peer
        self.limits = limits
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.core.counters.connections += 1
        // Also of one that says nothing.
        self.expect(within: self.limits.request)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.core.counters.connections -= 1
        self.deadline?.cancel()
        self.context = nil
        if case .streaming = self.phase { self.core.remove(self) }
        self.phase = .closing
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (self.phase, error as? HTTPParserError) {
        case (.waiting, .headerOverflow?), (.receiving, .headerOverflow?):
            self.refuse(.refusal(431, "the header of the request is too long"))
        case (.waiting, _?), (.receiving, _?): self.refuse(.refusal(400, "that is not HTTP/1.1"))
        default: context.close(promise: nil)
        }
    }

    /// Closes the connection unless what is expected comes in time.
    private func expect(within duration: Duration) {
        self.deadline?.cancel()
        self.deadline = self.core.loop.assumeIsolated().scheduleTask(in: .of(duration)) { [weak self] in
            self?.context?.close(promise: nil)
        }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (self.unwrapInboundIn(data), self.phase) {
        case (.head(let head), .waiting):
            self.expect(within: self.limits.request)
            self.phase = .receiving(head, body: [])
        // Nobody needs that, and everything that waited would have to be kept.
        case (.head, .working): self.phase = .closing
        case (.body(let bytes), .receiving(let head, var body)):
            body += bytes.readableBytesView
            guard body.count <= self.limits.body else {
                return self.refuse(.refusal(413, "the body of the request is too long"))
            }
            self.phase = .receiving(head, body: body)
        case (.end, .receiving(let head, let body)): self.answer(head, body)
        default: break
        }
    }

    private func answer(_ head: HTTPRequestHead, _ body: [UInt8]) {
        self.phase = .working(head)
        let request = Request(
            head.method.rawValue,
            head.uri,
            fields: head.headers.map { ($0.name, $0.value) },
            body: body,
            peer: self.peer
        )
        switch self.core.site.answer(request, document: self.core.state.document) {
        case .response(let response): self.send(response, to: head)
        case .events(let lastEvent, let fields): self.stream(fields, lastEvent: lastEvent)
        case .work(let work, let type, let fields):
            self.core.perform(work) { [weak self] bytes in
                guard let self else { return }
                guard var bytes else {
                    return self.send(.refusal(503, "netpath run does not answer", fields: fields), to: head)
                }
                if case .metrics(let isOpen) = work {
                    bytes += Array((self.core.counters.text(isOpenMetrics: isOpen) + (isOpen ? "# EOF\n" : "")).utf8)
                }
                self.send(Response(200, type, bytes, fields: fields), to: head)
            }
        }
    }

    private func refuse(_ response: Response) {
        self.phase = .closing
        self.send(response, to: nil)
    }

    /// Sends an answer, and closes the connection unless more may follow.
    private func send(_ response: Response, to head: HTTPRequestHead?) {
        guard let context else { return }
        self.core.counters.count(response.status)
        var keepsOpen = false
        if case .working = self.phase, let head { keepsOpen = head.isKeepAlive }
        let bytes = response.bytes(withBody: head?.method != .HEAD, keepsOpen: keepsOpen)
        let sent = context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)))
        if keepsOpen {
            self.phase = .waiting
            self.expect(within: self.limits.idle)
        } else {
            self.phase = .closing
            // What does not read its answer is let go by the deadline.
            sent.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }

    // MARK: Events

    private func stream(_ fields: [(name: String, value: String)], lastEvent: String?) {
        self.core.counters.count(200)
        self.deadline?.cancel()
        self.phase = .streaming
        self.core.add(self)
        self.write(ByteBuffer(bytes: Response.streamHead(fields) + self.core.state.greeting(lastEvent: lastEvent)))
    }

    /// There is a newer state.
    func stateChanged() {
        if self.events.change() { self.write(self.core.newestEvent) }
    }

    /// Nothing came for a while.
    func heartbeat() {
        switch self.events.beat() {
        case .pass: break
        case .write: self.write(ByteBuffer(bytes: ServedState.heartbeat))
        case .close:
            self.core.counters.stalledStreams += 1
            self.context?.close(promise: nil)
        }
    }

    private func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        context.writeAndFlush(self.wrapOutboundOut(bytes)).assumeIsolated().whenSuccess { [weak self] in
            guard let self, self.events.written() else { return }
            self.write(self.core.newestEvent)
        }
    }
}

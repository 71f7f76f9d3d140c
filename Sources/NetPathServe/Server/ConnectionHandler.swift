// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOHTTP1

/// One connection: requests one after another, or one that gets events until it goes.
///
/// It is read from only while nothing is made for it and nothing waits to be written to it.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case waiting
        case receiving(HTTPRequestHead, body: [UInt8])
        /// An answer is being made.
        case working
        /// An answer is being written; whether another request may follow.
        case answering(keepsOpen: Bool)
        case streaming
        case closing
    }

    /// An answer is written in pieces of this size, the next one when the client took the last.
    private static let piece = 16_384

    private let core: ServerCore
    private let peer: Request.Peer
    private var limits: ServeLimits { self.core.limits }
    private var phase = Phase.waiting
    /// Whether a request came behind the body of one that is not answered, so that the connection ends after the answer.
    private var isOverrun = false
    /// What is not written of an answer.
    private var rest: ArraySlice<UInt8> = []
    private var shared: SharedBytes?
    private var events = EventClient()
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?

    init(_ core: ServerCore, peer: Request.Peer) {
        self.core = core
        self.peer = peer
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.core.counters.connections += 1
        self.core.note(self, waits: true)
        // Also of one that says nothing.
        self.expect(within: self.limits.request)
        if context.channel.isActive { context.read() }
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.core.counters.connections -= 1
        self.core.note(self, waits: false)
        self.deadline?.cancel()
        self.context = nil
        (self.rest, self.shared) = ([], nil)
        switch self.phase {
        case .streaming: self.core.remove(self)
        case .working: self.core.forget(self)
        default: break
        }
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
        self.deadline = self.core.loop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) { [weak self] in
            self?.context?.close(promise: nil)
        }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.wantsParts { self.take(self.unwrapInboundIn(data)) } else { self.isOverrun = true }
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.readOn() }

    private var wantsParts: Bool {
        switch self.phase {
        case .waiting, .receiving: true
        default: false
        }
    }

    /// Reads more, once what was read before is answered.
    private func readOn() {
        if self.wantsParts { self.context?.read() }
    }

    private func take(_ part: HTTPServerRequestPart) {
        switch (part, self.phase) {
        case (.head(let head), .waiting):
            self.expect(within: self.limits.request)
            self.phase = .receiving(head, body: [])
            if let refusal = self.refusal(of: head) { self.refuse(refusal) }
        case (.body(let bytes), .receiving(let head, var body)):
            body += bytes.readableBytesView
            guard body.count <= self.limits.body else { return self.refuse(Self.bodyIsTooLong) }
            self.phase = .receiving(head, body: body)
        case (.end, .receiving(let head, let body)): self.answer(head, body)
        default: break
        }
    }

    private static let bodyIsTooLong = Response.refusal(413, "the body of the request is too long")

    /// Why a request is refused before its body is read.
    private func refusal(of head: HTTPRequestHead) -> Response? {
        // Chunks of a byte each cost far more time than what they bring.
        if head.headers.contains(name: "Transfer-Encoding") {
            return .refusal(411, "send the body with its length (Content-Length), not in chunks")
        }
        let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        return length > (head.method == .POST ? self.limits.body : 0) ? Self.bodyIsTooLong : nil
    }

    private func answer(_ head: HTTPRequestHead, _ body: [UInt8]) {
        self.phase = .working
        self.core.note(self, waits: false)
        let request = Request(
            head.method.rawValue,
            head.uri,
            fields: head.headers.map { ($0.name, $0.value) },
            body: body,
            peer: self.peer
        )
        switch self.core.answer(request) {
        case .response(let response): self.send(response, to: head)
        case .events(let lastEvent, let fields): self.stream(fields, lastEvent: lastEvent)
        case .work(let work, let type, let fields):
            self.core.perform(work, for: self) { [weak self] shared in
                guard let self, self.context != nil else { return }
                guard let shared else {
                    return self.send(.refusal(503, "netpath run does not answer", fields: fields), to: head)
                }
                self.shared = shared
                self.send(Response(200, type, shared.bytes, fields: fields), to: head)
            }
        }
    }

    private func refuse(_ response: Response) {
        self.phase = .closing
        self.send(response, to: nil)
    }

    /// Sends an answer, and closes the connection unless more may follow.
    private func send(_ response: Response, to head: HTTPRequestHead?) {
        guard self.context != nil else { return }
        self.core.counters.count(response.status)
        let keepsOpen = head?.isKeepAlive == true && !self.isOverrun
        self.phase = .answering(keepsOpen: keepsOpen)
        self.rest = head?.method == .HEAD ? [] : response.body[...]
        self.writePiece(response.head(keepsOpen: keepsOpen))
    }

    private func writePiece(_ bytes: [UInt8]) {
        guard let context else { return }
        // One that takes too little of it is let go.
        self.expect(within: self.limits.piece)
        let part = self.rest.prefix(max(0, Self.piece - bytes.count))
        self.rest = self.rest.dropFirst(part.count)
        var buffer = context.channel.allocator.buffer(capacity: bytes.count + part.count)
        buffer.writeBytes(bytes)
        buffer.writeBytes(part)
        context.writeAndFlush(self.wrapOutboundOut(buffer)).assumeIsolated().whenComplete { [weak self] result in
            guard let self, case .answering(let keepsOpen) = self.phase, let context = self.context else { return }
            guard case .success = result else { return context.close(promise: nil) }
            if !self.rest.isEmpty { return self.writePiece([]) }
            self.finish(keepsOpen: keepsOpen, context)
        }
    }

    private func finish(keepsOpen: Bool, _ context: ChannelHandlerContext) {
        (self.rest, self.shared) = ([], nil)
        guard keepsOpen, !self.isOverrun else {
            self.phase = .closing
            return context.close(promise: nil)
        }
        self.phase = .waiting
        self.core.note(self, waits: true)
        self.expect(within: self.limits.idle)
        self.readOn()
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
            self.close()
        }
    }

    /// Lets the client go.
    func close() { self.context?.close(promise: nil) }

    private func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        context.writeAndFlush(self.wrapOutboundOut(bytes)).assumeIsolated().whenSuccess { [weak self] in
            guard let self, self.events.written() else { return }
            self.write(self.core.newestEvent)
        }
    }
}

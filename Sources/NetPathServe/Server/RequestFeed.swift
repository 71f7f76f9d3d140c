// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore

/// Gives the parser of HTTP one request at a time, however many a client sends at once.
///
/// It passes on what was read up to the end of a header, and the next part when the connection is ready for it and others
/// had their turn. So a client that pipelines requests costs no more time per turn than one that does not.
final class RequestFeed: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Never

    /// How long a request waits that was sent before the answer to the one before.
    private static let pause = TimeAmount.milliseconds(5)

    private var held = ByteBuffer()
    /// Whether the line that is being read has no byte yet, so that its end is the end of a header.
    private var isLineEmpty = false
    private var next: Scheduled<Void>?

    func handlerRemoved(context: ChannelHandlerContext) { self.next?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.held.writeBuffer(&bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.passOn(context) }

    func read(context: ChannelHandlerContext) {
        if self.held.readableBytes == 0 { return context.read() }
        guard self.next == nil else { return }
        self.next = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in
            self?.next = nil
            self?.passOn(context)
        }
    }

    private func passOn(_ context: ChannelHandlerContext) {
        if let part = self.held.readSlice(length: self.lengthOfPart()) {
            context.fireChannelRead(self.wrapInboundOut(part))
        }
        if self.held.readableBytes == 0 { self.held = ByteBuffer() }
        context.fireChannelReadComplete()
    }

    /// How many bytes there are up to the end of a header, or in all.
    private func lengthOfPart() -> Int {
        for (index, byte) in self.held.readableBytesView.enumerated() {
            switch byte {
            case UInt8(ascii: "\n") where self.isLineEmpty:
                self.isLineEmpty = false
                return index + 1
            case UInt8(ascii: "\n"): self.isLineEmpty = true
            case UInt8(ascii: "\r"): break
            default: self.isLineEmpty = false
            }
        }
        return self.held.readableBytes
    }
}

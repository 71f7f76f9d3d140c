// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOHTTP1
import NIOPosix
package import NetPathSystem
import Synchronization

/// Serves states over HTTP on one thread, and waits for no client.
///
/// Thread-safe. The program that watches the network only leaves a state here (``publish(_:)``): clients that are slow, many or dead
/// are the business of the server's own thread.
package final class StatusServer: Sendable {
    /// Answers what takes time, or says with nil that it cannot.
    ///
    /// Called on a thread that is not the server's, and on several at a time for work of different lanes.
    package typealias Worker = @Sendable (Work) -> [UInt8]?

    private let group: MultiThreadedEventLoopGroup
    private let entrance: LoopEntrance
    private let core: NIOLoopBoundBox<ServerCore>
    /// What is published and not sent yet.
    private let newest = Mutex<[UInt8]?>(nil)

    /// Makes a server that listens nowhere yet.
    ///
    /// - Parameters:
    ///   - access: Who may ask.
    ///   - limits: How much is taken of anybody.
    ///   - document: The state until one is published: a line of JSON.
    ///   - log: Receives what the administrator should know; called on the thread of the server.
    ///   - worker: Answers what takes time.
    package init(
        _ access: Access,
        limits: ServeLimits = ServeLimits(),
        document: [UInt8],
        log: @escaping @Sendable (String) -> Void = { _ in },
        worker: @escaping Worker
    ) {
        self.group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = self.group.next()
        loop.execute { ThreadPriority.giveWay() }
        self.entrance = LoopEntrance(loop)
        self.core = NIOLoopBoundBox.makeBoxSendingValue(
            ServerCore(access, limits: limits, document: document, entrance: self.entrance, worker: worker, log: log),
            eventLoop: loop
        )
    }

    /// Listens.
    ///
    /// - Returns: The address, with the port that the system chose where it was to choose one.
    /// - Throws: `SystemError` when the address is in use or not of this machine.
    package func listen(on address: ServeAddress) throws -> ServeAddress {
        do { return try self.bind(to: address) } catch let error as IOError {
            throw SystemError(action: "cannot listen on \(address)", errno: error.errnoCode)
        }
    }

    private func bind(to address: ServeAddress) throws -> ServeAddress {
        let core = self.core
        var isUnix = false
        if case .unix = address { isUnix = true }
        let bootstrap = ServerBootstrap(group: self.group)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Without descriptors it would accept in vain again and again.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            // What lies in the kernel's buffer is older than the newest state.
            .childChannelOption(.socketOption(.so_sndbuf), value: 16_384)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            // Each connection says when it is to be read from, and is not read from much at a time.
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4_096))
            .childChannelInitializer { [isUnix] channel in
                channel.eventLoop.makeCompletedFuture {
                    try core.value.accept(channel, isUnix: isUnix)
                }
            }
        switch address {
        case .internet(let host, let port):
            let channel = try bootstrap.bind(host: host, port: port).wait()
            return .internet(host: host, port: channel.localAddress?.port ?? port)
        case .unix(let path):
            let channel = try bootstrap.withBoundSocket(try UnixListener.open(path)).wait()
            channel.closeFuture.whenComplete { _ in UnixListener.remove(path) }
            return address
        }
    }

    /// How much later clients hear of a state than the program that watches the network beside the server.
    ///
    /// To write to a thousand of them takes longer than a program needs to look at the same change. Of several states in
    /// that time only the newest is sent.
    private static let publishDelay = TimeAmount.milliseconds(5)

    /// Shows everybody a state, which is a line of JSON, and returns at once.
    ///
    /// Of several that come faster than they can be sent the newest is.
    package func publish(_ line: [UInt8]) {
        guard self.newest.withLock({ exchange(&$0, with: line) }) == nil else { return }
        self.entrance.execute {
            self.core.value.loop.assumeIsolated().scheduleTask(in: Self.publishDelay) {
                let line = self.newest.withLock { $0.take() }
                if let line { self.core.value.show(line) }
            }
        }
    }

    /// Takes other rules of who may ask; with another token, streams are closed and sessions forgotten.
    package func apply(_ access: Access) {
        self.entrance.execute { self.core.value.apply(access) }
    }

    /// Lets everybody go; final.
    package func stop() {
        self.entrance.close()
        try? self.group.syncShutdownGracefully()
    }
}

extension ServerCore {
    /// Takes a new connection; where there are too many, another one makes room, or this one is closed.
    func accept(_ channel: any Channel, isUnix: Bool) throws {
        if self.counters.connections >= self.limits.connections {
            self.counters.refusedConnections += 1
            guard self.makeRoom() else { return channel.close(promise: nil) }
        }
        var heading = NIOHTTPDecoderLimitConfiguration()
        heading.maxHeaderFieldSize = self.limits.header
        heading.maxHeaderListSize = self.limits.header
        heading.maxHeaderFieldCount = self.limits.headerLines
        let peer = isUnix ? Request.Peer.unixSocket : .address(channel.remoteAddress?.ipAddress ?? "")
        try channel.pipeline.syncOperations.addHandlers([
            RequestFeed(),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: heading)),
            ConnectionHandler(self, peer: peer),
        ])
    }
}

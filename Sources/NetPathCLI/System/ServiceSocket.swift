// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import Synchronization

/// The socket that a service answers on: lines of JSON (``ServiceRequest``), and nothing that changes anything.
///
/// One thread serves all clients. It sleeps while nobody asks, and waits for no client: one that does not read gets the
/// newest state when it does, and one that says nothing sensible is let go.
final class ServiceSocket: Sendable {
    /// More clients than these are turned away.
    static let clientLimit = 64

    /// Who asks (SO_PEERCRED of unix(7)).
    struct Peer: Hashable, Sendable {
        /// Whether it may see what is private: root, whoever the service runs as, and the members of its group.
        var isTrusted: Bool
    }

    private struct State: Sendable {
        /// The newest state, for those that watch.
        var newest: [UInt8] = []
        var version: UInt64 = 0
        var watchers = 0
        var isStopped = false

        /// Counts somebody who watches from now on; returns what is the newest state.
        mutating func watch() -> UInt64 {
            self.watchers += 1
            return self.version
        }
    }

    private let listener: FileDescriptor
    private let path: String
    private let wakeUp: LoopWakeUp
    private let answer: @Sendable (ServiceRequest, Peer) -> [UInt8]
    private let state = Mutex(State())

    /// Opens the socket, in place of one that an earlier service left.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - answer: Answers a question; called on the thread of the socket.
    /// - Throws: `SystemError`.
    init(
        at path: String,
        answer: @escaping @Sendable (ServiceRequest, Peer) -> [UInt8]
    ) throws(SystemError) {
        guard let listener = FileDescriptor(socket(AF_UNIX, SocketType.stream, 0)) else {
            throw .last("cannot make a socket")
        }
        _ = unsafe unlink(path)
        guard unsafe UnixAddress(path).with({ unsafe bind(listener.number, $0, $1) }) == 0 else {
            throw .last("cannot open the socket \(path)")
        }
        // Who may not see all is told apart by who asks.
        guard unsafe chmod(path, 0o666) == 0, listen(listener.number, 16) == 0 else {
            throw .last("cannot open the socket \(path)")
        }
        self.listener = listener
        self.path = path
        self.answer = answer
        self.wakeUp = try LoopWakeUp()
    }

    /// Begins to answer.
    func start() -> Bool {
        BackgroundThread.start { self.serve() }
    }

    /// Whether anybody watches, so that making a state for them is worth it.
    var isWatched: Bool { self.state.withLock { $0.watchers > 0 } }

    /// Shows those that watch a new state.
    func publish(_ line: [UInt8]) {
        self.state.withLock { state in
            state.newest = line
            state.version += 1
        }
        self.wakeUp.wake(.output)
    }

    /// Lets all clients go, and removes the socket.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.wakeUp.wake(.stop)
        _ = unsafe unlink(self.path)
    }

    // MARK: The thread

    private func serve() {
        var clients: [ServiceClientConnection] = []
        while true {
            let (newest, version, isStopped) = self.state.withLock { ($0.newest, $0.version, $0.isStopped) }
            if isStopped { return }
            for client in clients { client.show(newest, version: version) }
            let count = clients.count
            let ready = FileDescriptor.poll(
                readable: [self.wakeUp.rawValue, self.listener.number] + clients.map(\.number),
                writable: clients.filter(\.hasOutput).map(\.number),
                timeout: nil
            )
            if ready[0] { _ = self.wakeUp.take() }
            for (index, client) in clients.enumerated() where ready[2 + index] {
                for request in client.takeRequests() {
                    // First, so that no change is missed that comes while the answer is made.
                    if request == .watch { self.state.withLock { client.watch(since: $0.watch()) } }
                    client.send(self.answer(request, client.peer))
                }
            }
            for client in clients where client.hasOutput { client.flush() }
            clients.removeAll(where: \.isGone)
            if ready[1] { self.accept(&clients) }
            if clients.count != count || clients.contains(where: \.watches) {
                let watchers = clients.count(where: \.watches)
                self.state.withLock { $0.watchers = watchers }
            }
        }
    }

    private func accept(_ clients: inout [ServiceClientConnection]) {
        while let socket = FileDescriptor(Glibc.accept(self.listener.number, nil, nil)) {
            _ = fcntl(socket.number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
            // Without a word: it could not be sent without waiting.
            if clients.count < Self.clientLimit { clients.append(ServiceClientConnection(socket)) }
        }
    }
}

/// One client of the socket; used by one thread.
private final class ServiceClientConnection {
    /// A question is shorter than this.
    private static let requestLimit = 1_024

    let peer: ServiceSocket.Peer
    private(set) var watches = false
    private(set) var isGone = false
    private let socket: FileDescriptor
    private var input: [UInt8] = []
    private var output: ArraySlice<UInt8> = []
    private var shownVersion: UInt64 = 0

    init(_ socket: FileDescriptor) {
        self.socket = socket
        self.peer = ServiceSocket.Peer(isTrusted: PeerCredentials.areTrusted(of: socket))
    }

    var number: Int32 { self.socket.number }
    var hasOutput: Bool { !self.output.isEmpty }

    /// Takes the questions that came.
    func takeRequests() -> [ServiceRequest] {
        guard let bytes = self.socket.read(limit: Self.requestLimit) else {
            if errno != EAGAIN, errno != EINTR { self.isGone = true }
            return []
        }
        // One that only closed its half may still read.
        if bytes.isEmpty, self.output.isEmpty { self.isGone = true }
        self.input += bytes
        var requests: [ServiceRequest] = []
        while let end = self.input.firstIndex(of: UInt8(ascii: "\n")) {
            requests.append(ServiceRequest(self.input[..<end]))
            self.input.removeSubrange(...end)
        }
        // Nobody who keeps to the protocol asks on before an answer has been read.
        if self.input.count > Self.requestLimit || requests.count > 4 || self.output.count > 64 << 20 {
            self.isGone = true
        }
        return requests
    }

    /// Shows the client what is newer than a state.
    func watch(since version: UInt64) {
        self.watches = true
        self.shownVersion = version
    }

    func send(_ bytes: [UInt8]) { self.output += bytes }

    /// Shows the newest state once what is under way is written.
    func show(_ line: [UInt8], version: UInt64) {
        guard self.watches, self.output.isEmpty, version > self.shownVersion else { return }
        self.shownVersion = version
        self.send(line)
        self.flush()
    }

    func flush() {
        while !self.output.isEmpty {
            let count = unsafe self.output.withUnsafeBytes { bytes in
                unsafe Glibc.send(self.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if errno != EAGAIN, errno != EINTR { self.isGone = true }
                return
            }
            self.output = self.output.dropFirst(count)
        }
    }
}

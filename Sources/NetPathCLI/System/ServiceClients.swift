// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// The clients of the service's socket; used by one thread.
struct ServiceClients {
    private struct Client {
        let number: UInt64
        let socket: FileDescriptor
        var connection: ServiceConnection
    }

    /// More connections than these are not accepted at a time, so that those that are there have their turn.
    private static let batch = 16

    private let limits: ServiceLimits
    private let identify: @Sendable (FileDescriptor) -> ServiceSocket.Peer
    private var clients: [Client] = []
    private var lastNumber: UInt64 = 0

    init(_ limits: ServiceLimits, identify: @escaping @Sendable (FileDescriptor) -> ServiceSocket.Peer) {
        self.limits = limits
        self.identify = identify
    }

    /// How many watch.
    var watchers: Int { self.clients.count { $0.connection.watches } }

    /// When the next one is to be let go.
    var deadline: MonotonicTime? { self.clients.compactMap(\.connection.deadline).min() }

    // MARK: Turns

    /// Whether a client has a question, and is served as soon as the others had their turn.
    var hasTurn: Bool { self.clients.contains(where: \.connection.hasQuestion) }

    /// Those whose questions are answered now, which go behind the others.
    ///
    /// One of each user, so that many clients of one user hold up no client of another.
    private mutating func turn() -> Range<Int> {
        var users: Set<UInt32> = []
        var (others, served): ([Client], [Client]) = ([], [])
        for client in self.clients {
            let isServed = client.connection.hasQuestion && users.insert(client.connection.peer.user).inserted
            if isServed { served.append(client) } else { others.append(client) }
        }
        if !served.isEmpty { self.clients = others + served }
        for user in users { self.makeRoom(for: user) }
        return others.count..<self.clients.count
    }

    /// Lets go of those for which most waits, until there is room for another answer: those that read go first.
    private mutating func makeRoom(for user: UInt32) {
        while true {
            let unsent = self.unsent
            let isOverOwn = unsent[user, default: 0] > self.limits.unsentPerUser
            guard isOverOwn || unsent.values.reduce(0, +) > self.limits.unsent else { return }
            let from = isOverOwn ? user : unsent.max { $0.value < $1.value }?.key
            let candidates = self.clients.indices.filter { self.clients[$0].connection.peer.user == from }
            let worst = candidates.max {
                self.clients[$0].connection.output.count < self.clients[$1].connection.output.count
            }
            guard let worst else { return }
            self.clients[worst].connection.end()
        }
    }

    /// The bytes that wait for the clients of each user.
    private var unsent: [UInt32: Int] {
        var sums: [UInt32: Int] = [:]
        for client in self.clients where !client.connection.output.isEmpty {
            sums[client.connection.peer.user, default: 0] += client.connection.output.count
        }
        return sums
    }

    private func hasRoom(for peer: ServiceSocket.Peer, _ unsent: [UInt32: Int]) -> Bool {
        unsent[peer.user, default: 0] <= self.limits.unsentPerUser
            && unsent.values.reduce(0, +) <= self.limits.unsent
    }

    // MARK: Questions and answers

    /// Has the questions answered whose turn it is.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - body: Answers a question.
    mutating func answer(now: MonotonicTime, _ body: (ServiceRequest, ServiceSocket.Peer) -> ServiceAnswer) {
        for index in self.turn() {
            guard let request = self.clients[index].connection.takeQuestion() else { continue }
            switch body(request, self.clients[index].connection.peer) {
            case .whole(let bytes): self.clients[index].connection.send(bytes, now: now)
            case .path(let line, let sequence, let watches):
                self.clients[index].connection.send(path: line, sequence: sequence, watches: watches, now: now)
            case .pages(let pages): self.clients[index].connection.send(pages)
            }
        }
    }

    /// Takes the pages that have to be made now.
    mutating func takePages() -> [PageTurns.Job] {
        self.clients.indices.compactMap { index in
            self.clients[index].connection.takePages().map { pages in
                PageTurns.Job(
                    client: self.clients[index].number,
                    peer: self.clients[index].connection.peer,
                    pages: pages
                )
            }
        }
    }

    /// Takes a page that was made for a client, which may have gone.
    mutating func take(_ page: [UInt8], rest: ServicePages?, for number: UInt64, now: MonotonicTime) {
        guard let index = self.clients.firstIndex(where: { $0.number == number }) else { return }
        self.clients[index].connection.take(page: page, rest: rest, now: now)
    }

    /// Shows those that watch a path, where they have seen none with its number or a higher one.
    mutating func show(_ line: [UInt8], sequence: UInt64, now: MonotonicTime) {
        let unsent = self.unsent
        for index in self.clients.indices where self.hasRoom(for: self.clients[index].connection.peer, unsent) {
            self.clients[index].connection.show(line, sequence: sequence, now: now)
        }
    }

    // MARK: The sockets

    /// Writes what goes without waiting.
    mutating func flush(now: MonotonicTime) {
        for index in self.clients.indices {
            while !self.clients[index].connection.isGone, !self.clients[index].connection.output.isEmpty {
                let count = self.clients[index].socket.send(self.clients[index].connection.output)
                if count > 0 {
                    self.clients[index].connection.wrote(count, now: now)
                } else {
                    if errno != EAGAIN, errno != EINTR { self.clients[index].connection.end() }
                    break
                }
            }
        }
    }

    /// Lets go of those that have gone, or took too long.
    ///
    /// - Returns: Their numbers.
    mutating func removeGone(now: MonotonicTime) -> [UInt64] {
        for index in self.clients.indices { self.clients[index].connection.expire(now: now) }
        let gone = self.clients.filter(\.connection.isGone).map(\.number)
        if !gone.isEmpty { self.clients.removeAll(where: \.connection.isGone) }
        return gone
    }

    /// Lets go of all of them.
    ///
    /// - Returns: Their numbers, which no other client gets: a page that is made for one of them is for nobody else.
    mutating func removeAll() -> [UInt64] {
        exchange(&self.clients, with: []).map(\.number)
    }

    /// Waits until a client or another descriptor is ready, and reads what clients sent that are to be read from.
    ///
    /// Each descriptor is there once: poll(2) refuses more than the process may have.
    ///
    /// - Parameters:
    ///   - others: Descriptors that are waited for, too; negative ones are passed over.
    ///   - deadline: How long to wait; nil to wait for ever.
    /// - Returns: Which of the others are ready; nil when the system refuses to wait.
    mutating func wait(_ others: [Int32], until deadline: MonotonicTime?) -> [Bool]? {
        var entries = others.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        for client in self.clients {
            let input = client.connection.wantsInput ? Int16(POLLIN) : 0
            let output = client.connection.output.isEmpty ? 0 : Int16(POLLOUT)
            entries.append(pollfd(fd: client.socket.number, events: input | output, revents: 0))
        }
        // Rounded up: waking before a deadline would only mean to wait once more.
        let rest = deadline.map { max(0, ($0 - .now()).inNanoseconds) }
        let milliseconds = rest.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) >= 0 else {
            return errno == EINTR ? others.map { _ in false } : nil
        }
        for (index, entry) in entries.dropFirst(others.count).enumerated() where entry.revents != 0 {
            self.read(index, Int32(entry.revents))
        }
        return entries.prefix(others.count).map { $0.revents != 0 }
    }

    private mutating func read(_ index: Int, _ events: Int32) {
        // That both halves are closed is told however little is asked for, and again and again.
        if events & (Int32(POLLERR) | Int32(POLLHUP) | Int32(POLLNVAL)) != 0 {
            return self.clients[index].connection.end()
        }
        guard events & Int32(POLLIN) != 0 else { return }
        if let bytes = self.clients[index].socket.read(limit: self.limits.question) {
            self.clients[index].connection.receive(bytes)
        } else if errno != EAGAIN, errno != EINTR {
            self.clients[index].connection.end()
        }
    }

    /// Accepts connections that wait; those that are too many are told so and closed.
    ///
    /// - Returns: Whether the process has the descriptors for it.
    mutating func accept(from listener: FileDescriptor, now: MonotonicTime) -> Bool {
        for _ in 0..<Self.batch {
            guard let socket = FileDescriptor(Glibc.accept(listener.number, nil, nil)) else {
                return [EAGAIN, EINTR, ECONNABORTED].contains(errno)
            }
            _ = fcntl(socket.number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
            var size = self.limits.buffer
            _ = unsafe setsockopt(socket.number, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            let peer = self.identify(socket)
            guard self.admits(peer) else {
                // There is always room for the first line.
                _ = socket.send(Array((ServiceRequest.tooManyConnections.line + "\n").utf8)[...])
                continue
            }
            self.lastNumber += 1
            let connection = ServiceConnection(peer, self.limits, now: now)
            self.clients.append(Client(number: self.lastNumber, socket: socket, connection: connection))
        }
        return true
    }

    /// Whether there is room for a client; while there are too many in all, the user with the most makes room for others.
    private mutating func admits(_ peer: ServiceSocket.Peer) -> Bool {
        let present = self.clients.filter { !$0.connection.isGone }
        let own = present.count { $0.connection.peer.user == peer.user }
        guard own < self.limits.clientsPerUser else { return false }
        // Those that look after the service are not shut out by the others.
        if present.count < self.limits.clients || peer.isTrusted { return true }
        var counts: [UInt32: Int] = [:]
        for client in present where !client.connection.peer.isTrusted {
            counts[client.connection.peer.user, default: 0] += 1
        }
        // Ended for one that then has as many, the same connection would come back and end that one.
        guard let most = counts.max(by: { $0.value < $1.value }), most.value > own + 1 else { return false }
        let newest = self.clients.indices.filter {
            let connection = self.clients[$0].connection
            return !connection.isGone && !connection.peer.isTrusted && connection.peer.user == most.key
        }.max { self.clients[$0].number < self.clients[$1].number }
        guard let newest else { return false }
        self.clients[newest].connection.end()
        return true
    }
}

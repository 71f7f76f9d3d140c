// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath
@testable import NetPathCLI

/// What clients may do to the service's socket: the next one is answered all the same.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServiceSocketTests {
    private let folder: TemporaryDirectory
    private let probe = Probe()
    private var path: String { self.folder["netpath.sock"] }

    /// What the thread of the socket was asked, and how busy it is.
    private final class Probe: Sendable {
        struct State: Sendable {
            var clock: clockid_t?
            var pages = 0
            var isHeld = false
            /// The processor time that a page takes.
            var cost: Duration = .zero
        }

        let state = Mutex(State())

        func answer(_ request: ServiceRequest) -> ServiceAnswer {
            self.state.withLock { state in
                var clock = clockid_t()
                if unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 { state.clock = clock }
            }
            while self.state.withLock({ $0.isHeld }) { usleep(1_000) }
            switch request {
            case .history: return .pages(self.pages(1_000))
            case .details: return .whole([UInt8](repeating: UInt8(ascii: "x"), count: 256 << 10))
            case .hooks: return .whole([UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20))
            case .watch: return .path(Array("{}\n".utf8), sequence: 1, watches: true)
            default: return .whole(Array("{}\n".utf8))
            }
        }

        /// Pages of 64 KiB.
        private func pages(_ count: Int) -> ServicePages {
            ServicePages {
                let cost = self.state.withLock { state in
                    state.pages += 1
                    return state.cost
                }
                let begin = CurrentThread.processorTime
                while CurrentThread.processorTime - begin < cost {}
                let page = [UInt8](repeating: UInt8(ascii: "x"), count: 65_535) + [UInt8(ascii: "\n")]
                return (page, count > 1 ? self.pages(count - 1) : nil)
            }
        }

        /// The processor time of the thread that answers.
        var busy: Duration {
            var time = timespec()
            guard let clock = self.state.withLock({ $0.clock }), unsafe clock_gettime(clock, &time) == 0 else {
                return .zero
            }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }

    init() throws {
        self.folder = try TemporaryDirectory()
    }

    private func socket(
        _ change: (inout ServiceLimits) -> Void = { _ in },
        identify: @escaping @Sendable (FileDescriptor) -> ServiceSocket.Peer = PeerCredentials.peer
    ) throws -> ServiceSocket {
        var limits = ServiceLimits()
        limits.clientsPerUser = 32
        change(&limits)
        let socket = try ServiceSocket(at: self.path, limits: limits, identify: identify) { [probe] request, _ in
            probe.answer(request)
        }
        #expect(socket.start())
        return socket
    }

    /// Asks as netpath does; it has to be answered at once.
    private func expectLife() throws {
        let client = try RawClient(self.path)
        client.send(ServiceRequest.status.line + "\n")
        #expect(client.read(1_000) == "{}\n")
    }

    private func until(_ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            if ContinuousClock.now > deadline { return false }
            usleep(5_000)
        }
        return true
    }

    /// What it missed in between it does not get, and the newest state it gets without asking.
    @Test func whoReadsLateGetsTheNewestPath() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let client = try RawClient(self.path)
        client.send(ServiceRequest.watch.line + "\n")
        #expect(client.read(3) == "{}\n")
        // More than the socket holds.
        let padding = String(repeating: "x", count: 200_000)
        for number: UInt64 in 2...40 {
            socket.publish(Array("\(padding)\(number)\n".utf8), sequence: number)
            usleep(2_000)
        }
        var last = ""
        while true {
            let text = client.read(1_000_000)
            if text.isEmpty { break }
            last = String(text.suffix(4))
            if last == "x40\n" { break }
        }
        #expect(last == "x40\n")
    }

    /// A page that is made for a client that a shortage let go must not reach the next one.
    @Test func clientsThatAreLetGoKeepTheirNumbers() throws {
        let listener = try #require(FileDescriptor(Glibc.socket(AF_UNIX, SocketType.stream, 0)))
        try #require(unsafe UnixAddress(self.path).with { unsafe bind(listener.number, $0, $1) } == 0)
        try #require(listen(listener.number, 4) == 0)
        var clients = ServiceClients(ServiceLimits()) { _ in ServiceSocket.Peer(isTrusted: true) }
        func accept() -> Bool { clients.accept(from: listener, now: .now()) }
        let first = try RawClient(self.path)
        try #require(accept())
        let former = clients.removeAll()
        #expect(former.count == 1)
        // Its connection is closed.
        #expect(first.read(1_000) == "")
        let second = try RawClient(self.path)
        try #require(accept())
        clients.take(Array("of the first\n".utf8), rest: nil, for: former[0], now: .now())
        clients.flush(now: .now())
        let latter = clients.removeAll()
        #expect(latter.count == 1 && latter != former)
        #expect(second.read(1_000) == "")
    }

    /// Each of them may read as one user may: all of them together get a second of a processor here, and a tenth of one then.
    @Test func manyUsersThatReadHistoriesForEverGetAPartOfAProcessor() throws {
        let users = Mutex<UInt32>(0)
        let socket = try self.socket(
            { $0.pageTime = .seconds(1) },
            identify: { _ in
                users.withLock { user in
                    user += 1
                    return ServiceSocket.Peer(user: user, isTrusted: false)
                }
            }
        )
        defer { socket.stop() }
        // Ten pages take what they may take at once.
        self.probe.state.withLock { $0.cost = .milliseconds(100) }
        let begin = ContinuousClock.now
        let clients = try (0..<100).map { _ in try RawClient(self.path) }
        for client in clients { client.send(ServiceRequest.history(since: 0).line + "\n") }
        let isUsedUp = self.until { self.probe.state.withLock { $0.pages } >= 10 }
        #expect(isUsedUp)
        for _ in 0..<20 {
            try self.expectLife()
            usleep(100_000)
        }
        let pages = self.probe.state.withLock { $0.pages }
        let most = 12 + Int((ContinuousClock.now - begin) / .seconds(1))
        #expect(pages <= most, "\(pages) rather than \(most)")
        withExtendedLifetime(clients) {}
    }

    @Test func pagesAreMadeForThoseThatRead() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let line = ServiceRequest.history(since: 0).line + "\n"
        let stuck = try (0..<31).map { _ in try RawClient(self.path) }
        for client in stuck { client.send(line) }
        // One each, of which a part is in the kernel's buffers, and no second one.
        let isMade = self.until { self.probe.state.withLock { $0.pages } == stuck.count }
        #expect(isMade)
        try self.expectLife()
        #expect(self.probe.state.withLock { $0.pages } == stuck.count)
        let busy = self.probe.busy
        usleep(500_000)
        #expect(self.probe.busy - busy < .milliseconds(100))
        // Who reads gets all.
        stuck[7].end()
        #expect(stuck[7].count() == 1_000 * 65_536)
        #expect(self.probe.state.withLock { $0.pages } == stuck.count - 1 + 1_000)
        withExtendedLifetime(stuck) {}
    }

    /// After the end of what a client sends, poll(2) tells again and again that it can be read from.
    @Test func halfClosedClientsCostNothing() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let clients = try (0..<10).map { _ in try RawClient(self.path) }
        for client in clients {
            client.send(ServiceRequest.details.line + "\n")
            client.end()
        }
        try self.expectLife()
        let busy = self.probe.busy
        usleep(1_000_000)
        #expect(self.probe.busy - busy < .milliseconds(200))
        #expect(clients[0].count() == 256 << 10)
        withExtendedLifetime(clients) {}
    }

    @Test func thoseThatDoNotReadAreLetGo() throws {
        let socket = try self.socket { $0.reading = .milliseconds(300) }
        defer { socket.stop() }
        let client = try RawClient(self.path)
        client.send(ServiceRequest.details.line + "\n")
        #expect(client.isClosed())
        try self.expectLife()
    }

    /// Of the clients of one user those that do not read make room for those that do.
    @Test func thoseThatReadGoFirst() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let stuck = try (0..<10).map { _ in try RawClient(self.path) }
        for client in stuck {
            client.send(ServiceRequest.hooks.line + "\n")
            try self.expectLife()
        }
        #expect(stuck[9].count(upTo: 4 << 20) == 4 << 20)
        withExtendedLifetime(stuck) {}
    }

    /// Also a path that is published while a client is told of it as the newest.
    @Test func aPathIsShownOnce() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        self.probe.state.withLock { $0.isHeld = true }
        let watching = try RawClient(self.path)
        watching.send(ServiceRequest.watch.line + "\n")
        #expect(self.until { self.probe.state.withLock { $0.clock != nil } })
        socket.publish(Array("{\"n\":1}\n".utf8), sequence: 1)
        self.probe.state.withLock { $0.isHeld = false }
        #expect(watching.read(3) == "{}\n")
        try self.expectLife()
        socket.publish(Array("{\"n\":2}\n".utf8), sequence: 2)
        #expect(watching.read(8) == "{\"n\":2}\n")
    }

    @Test func silentClientsLockNobodyOut() throws {
        let socket = try self.socket { $0.idle = .seconds(5) }
        defer { socket.stop() }
        let watching = try RawClient(self.path)
        watching.send(ServiceRequest.watch.line + "\n")
        #expect(watching.read(3) == "{}\n")
        let silent = try (0..<31).map { _ in try RawClient(self.path) }
        let refused = try RawClient(self.path)
        #expect(refused.read(1_000).contains("too many connections, of this user"))
        for client in silent { #expect(client.isClosed()) }
        try self.expectLife()
        // One that watches may be silent.
        socket.publish(Array("{\"n\":1}\n".utf8), sequence: 2)
        #expect(watching.read(8) == "{\"n\":1}\n")
    }

    /// A user takes nothing from another one: neither connections, nor turns.
    @Test func usersDoNotShareTheirLimits() throws {
        let user = Count()
        let identify = { @Sendable (_: FileDescriptor) in
            ServiceSocket.Peer(user: UInt32(user.value), isTrusted: false)
        }
        let socket = try self.socket({ $0.clients = 40 }, identify: identify)
        defer { socket.stop() }
        let line = ServiceRequest.status.line + "\n"
        let many = try (0..<32).map { _ in try RawClient(self.path) }
        for client in many { client.send(String(repeating: line, count: 40)) }
        #expect(many[31].read(3) == "{}\n")
        let refused = try RawClient(self.path)
        #expect(refused.read(1_000).contains("too many connections, of this user"))
        user.add()
        let others = try (0..<8).map { _ in try RawClient(self.path) }
        for client in others {
            client.send(line)
            #expect(client.read(3) == "{}\n")
        }
        // All are taken, and the user with the most makes room.
        user.add()
        let third = try RawClient(self.path)
        third.send(line)
        #expect(third.read(3) == "{}\n")
        withExtendedLifetime((many, others)) {}
    }

    /// Few users are enough to take all connections: the user with the most makes room, but not for one with as many.
    @Test func fewUsersDoNotTakeAllConnections() throws {
        let user = Count()
        let identify = { @Sendable (_: FileDescriptor) in
            ServiceSocket.Peer(user: UInt32(user.value), isTrusted: user.value == 4)
        }
        let socket = try self.socket({ $0.clients = 16 }, identify: identify)
        defer { socket.stop() }
        let watch = ServiceRequest.watch.line + "\n"
        func watching() throws -> RawClient {
            let client = try RawClient(self.path)
            client.send(watch)
            #expect(client.read(3) == "{}\n")
            return client
        }
        let first = try (0..<8).map { _ in try watching() }
        user.add()
        let second = try (0..<8).map { _ in try watching() }
        user.add()
        let third = try (0..<5).map { _ in try watching() }
        #expect(first[7].isClosed())
        #expect(second[7].isClosed())
        // Five and five and six, or the like: one more would be ended by the next of another user.
        #expect(try RawClient(self.path).read(1_000).contains("too many connections"))
        user.add()
        let fourth = try watching()
        user.add()
        // A member of the service's group takes nothing from others.
        let member = try watching()
        socket.publish(Array("{\"n\":1}\n".utf8), sequence: 2)
        for client in [first[0], second[0], third[0], fourth, member] { #expect(client.read(8) == "{\"n\":1}\n") }
    }

    @Test func subordinateUsersAreOne() throws {
        let file = self.folder["subuid"]
        let text = "me:100000:65536\n#x\nyou:165536:65536\nz:0:65536\nw:4294967000:999999\nv:x:1\n"
        try NewFile.replace(file, with: text)
        let users = SubordinateUsers(file)
        #expect(users.representative(of: 100_000) == 100_000)
        #expect(users.representative(of: 165_535) == 100_000)
        #expect(users.representative(of: 165_536) == 165_536)
        #expect(users.representative(of: 1_000) == 1_000)
        #expect(users.representative(of: 4_294_967_290) == 4_294_967_000)
        #expect(users.representative(of: 300_000) == 300_000)
        try NewFile.replace(file, with: "me:300000:65536\n")
        #expect(users.representative(of: 300_001) == 300_000)
        #expect(SubordinateUsers("/nonexistent").representative(of: 100_007) == 100_007)
    }

    /// What is sent without reading stays in the sender's kernel buffers.
    @Test func questionsWaitForTheAnswerBefore() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let client = try RawClient(self.path)
        // Refused by the kernel at some point: the socket does not read it.
        let sent = client.flood(ServiceRequest.details.line + "\n", limit: 4 << 20)
        #expect(sent < 1 << 20)
        try self.expectLife()
    }

    /// Many connections of one user are answered in turn, and so is one that asks once.
    @Test func manyQuestionsHoldNobodyUp() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let clients = try (0..<30).map { _ in try RawClient(self.path) }
        let line = String(repeating: ServiceRequest.status.line + "\n", count: 40)
        for client in clients { client.send(line) }
        try self.expectLife()
        for client in clients { #expect(client.read(40 * 3).utf8.count == 120) }
    }

    @Test func theWatchdogAsksTheThreadThatAnswers() throws {
        let socket = try self.socket()
        defer { socket.stop() }
        let confirmed = Count()
        socket.confirm { confirmed.add() }
        #expect(self.until { confirmed.value == 1 })
        self.probe.state.withLock { $0.isHeld = true }
        let client = try RawClient(self.path)
        client.send(ServiceRequest.status.line + "\n")
        #expect(self.until { self.probe.busy > .zero })
        socket.confirm { confirmed.add() }
        usleep(200_000)
        #expect(confirmed.value == 1)
        self.probe.state.withLock { $0.isHeld = false }
        #expect(self.until { confirmed.value == 2 })
    }

    private final class Count: Sendable {
        private let count = Mutex(0)
        var value: Int { self.count.withLock { $0 } }
        func add() { self.count.withLock { $0 += 1 } }
    }
}

/// A client that reads when it is told to, with a deadline for everything.
private final class RawClient: Sendable {
    private let socket: FileDescriptor

    init(_ path: String) throws {
        guard let socket = FileDescriptor(Glibc.socket(AF_UNIX, SocketType.blockingStream, 0)),
            unsafe UnixAddress(path).with({ unsafe connect(socket.number, $0, $1) }) == 0
        else { throw SystemError.last("cannot connect") }
        self.socket = socket
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(self.socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        #expect(count == bytes.count)
    }

    /// Sends a text again and again while that goes without waiting; returns how many bytes went.
    func flood(_ text: String, limit: Int) -> Int {
        let bytes = Array(text.utf8)
        var sum = 0
        // Not refused once only: the other side has time to read.
        var refusals = 0
        while sum < limit, refusals < 20 {
            let count = unsafe bytes.withUnsafeBytes {
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                return unsafe Glibc.send(self.socket.number, $0.baseAddress, $0.count, flags)
            }
            if count > 0 {
                sum += count
            } else {
                refusals += 1
                usleep(20_000)
            }
        }
        return sum
    }

    /// Says that nothing more is sent.
    func end() { _ = shutdown(self.socket.number, Int32(SHUT_WR)) }

    private func part(_ limit: Int) -> [UInt8] {
        guard FileDescriptor.poll(readable: [self.socket.number], timeout: .seconds(20))[0] else { return [] }
        return self.socket.read(limit: limit) ?? []
    }

    /// Reads until there is so much, or a line and nothing more.
    func read(_ count: Int) -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = self.part(count - bytes.count)
            if part.isEmpty { break }
            bytes += part
            if count >= 1_000, bytes.last == UInt8(ascii: "\n") { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads to the end, or so much; returns how much there was.
    func count(upTo limit: Int = .max) -> Int {
        var sum = 0
        while sum < limit {
            let part = self.part(1 << 20)
            if part.isEmpty { return sum }
            sum += part.count
        }
        return sum
    }

    /// Waits until the other side has closed the connection, without reading.
    func isClosed() -> Bool {
        var entry = pollfd(fd: self.socket.number, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 20_000) == 1 && Int32(entry.revents) & Int32(POLLHUP) != 0
    }
}

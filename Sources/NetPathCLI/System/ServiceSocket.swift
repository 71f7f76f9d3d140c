// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import Synchronization

/// The socket that a service answers on: lines of JSON (``ServiceRequest``), and nothing that changes anything.
///
/// One thread serves all clients. It sleeps while no client asks, waits for none, and reads nothing from a client that does
/// not read: ``ServiceLimits`` say how much is kept for one, for those of a user, and for all.
final class ServiceSocket: Sendable {
    /// Who asks (SO_PEERCRED of unix(7)).
    struct Peer: Hashable, Sendable {
        /// The user; of subordinate users (subuid(5)), which one person takes at will, the first of the range.
        var user: UInt32 = 0
        /// Whether it may see what is private: root, the user that the service runs as, and the members of its group.
        var isTrusted: Bool
    }

    private struct Page: Sendable {
        var job: PageTurns.Job
        var bytes: [UInt8]
        var rest: ServicePages?
        /// The processor time that it took.
        var cost: Duration
    }

    private struct State: Sendable {
        /// The newest path, for those that watch, and its number.
        var newest: [UInt8] = []
        var sequence: UInt64 = 0
        var watchers = 0
        var isStopped = false
        /// The page that was made.
        var page: Page?
        var errand: (@Sendable () -> Void)?
    }

    private let listener: FileDescriptor
    private let path: String
    private let limits: ServiceLimits
    private let identify: @Sendable (FileDescriptor) -> Peer
    private let wakeUp: LoopWakeUp
    private let answer: @Sendable (ServiceRequest, Peer) -> ServiceAnswer
    private let state = Mutex(State())

    /// Opens the socket, in place of one that an earlier service left.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - limits: How much is taken of clients.
    ///   - identify: Tells who is at the other end of a connection.
    ///   - answer: Answers a question; called on the thread of the socket.
    /// - Throws: `SystemError`.
    init(
        at path: String,
        limits: ServiceLimits = ServiceLimits().fitting(files: OpenFiles.limit),
        identify: @escaping @Sendable (FileDescriptor) -> Peer = PeerCredentials.peer,
        answer: @escaping @Sendable (ServiceRequest, Peer) -> ServiceAnswer
    ) throws(SystemError) {
        guard let listener = FileDescriptor(socket(AF_UNIX, SocketType.stream, 0)) else {
            throw .last("cannot make a socket")
        }
        _ = unsafe unlink(path)
        // Who may not see all is told apart by who asks. A longer queue is a longer wait: one user can fill any.
        guard unsafe UnixAddress(path).with({ unsafe bind(listener.number, $0, $1) }) == 0,
            unsafe chmod(path, 0o666) == 0, listen(listener.number, 128) == 0
        else { throw .last("cannot open the socket \(path)") }
        self.listener = listener
        self.path = path
        self.limits = limits
        self.identify = identify
        self.answer = answer
        self.wakeUp = try LoopWakeUp()
    }

    /// Begins to answer.
    func start() -> Bool {
        BackgroundThread.start { self.serve() }
    }

    /// Whether a client watches, so that making the line of a path is worth it.
    var isWatched: Bool { self.state.withLock { $0.watchers > 0 } }

    /// Shows those that watch a new path, by its number once.
    func publish(_ line: [UInt8], sequence: UInt64) {
        self.state.withLock { ($0.newest, $0.sequence) = (line, sequence) }
        self.wakeUp.wake(.output)
    }

    /// Calls a function on the thread that answers, in place of one that it has not called yet: to find out whether it does.
    func confirm(_ body: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.errand = body }
        self.wakeUp.wake(.work)
    }

    /// Lets all clients go, and removes the socket.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.wakeUp.wake(.stop)
        _ = unsafe unlink(self.path)
    }

    // MARK: The thread

    private func serve() {
        var turns = PageTurns(limit: self.limits.pageTime)
        var isMaking = false
        var clients = ServiceClients(self.limits, identify: self.identify)
        var acceptsFrom: MonotonicTime?
        while true {
            let orders = self.state.withLock { state in
                defer { (state.page, state.errand) = (nil, nil) }
                return state
            }
            if orders.isStopped { return }
            orders.errand?()
            var now = MonotonicTime.now()
            if let page = orders.page {
                isMaking = false
                turns.charge(page.job.peer, page.cost)
                clients.take(page.bytes, rest: page.rest, for: page.job.client, now: now)
            }
            clients.show(orders.newest, sequence: orders.sequence, now: now)
            clients.answer(now: now) { request, peer in
                // First, so that no change is missed that comes while the answer is made.
                if request == .watch { self.state.withLock { $0.watchers += 1 } }
                return self.answer(request, peer)
            }
            clients.flush(now: now)
            for job in clients.takePages() { turns.add(job) }
            for client in clients.removeGone(now: now) {
                turns.forget(client)
                // Its descriptor is for the next that waits: a queue of those that have gone would take a pause for each.
                acceptsFrom = nil
            }
            // Those that have just read what waited for them, perhaps an older path.
            clients.show(orders.newest, sequence: orders.sequence, now: now)
            let watchers = clients.watchers
            self.state.withLock { $0.watchers = watchers }

            var pause: Duration?
            if !isMaking {
                switch turns.next(now: now) {
                case .make(let job):
                    isMaking = true
                    self.make(job)
                case .wait(let time): pause = time
                case .end: break
                }
            }
            if let from = acceptsFrom, from <= now { acceptsFrom = nil }
            let deadline = [clients.deadline, acceptsFrom, pause.map { now + $0 }].compactMap { $0 }.min()
            let ready = clients.wait(
                [self.wakeUp.rawValue, acceptsFrom == nil ? self.listener.number : -1],
                until: clients.hasTurn ? now : deadline
            )
            now = .now()
            guard let ready else {
                // There are more descriptors than the process may have by now, and poll(2) takes none of them.
                acceptsFrom = now + self.limits.pause
                for client in clients.removeAll() { turns.forget(client) }
                _ = usleep(100_000)
                continue
            }
            if ready[0] { _ = self.wakeUp.take() }
            if ready[1], !clients.accept(from: self.listener, now: now) { acceptsFrom = now + self.limits.pause }
        }
    }

    /// Makes a page on a thread of its own; an empty last one where the system grants no thread.
    private func make(_ job: PageTurns.Job) {
        let isStarted = BackgroundThread.start {
            let (bytes, rest) = job.pages.make()
            self.receive(Page(job: job, bytes: bytes, rest: rest, cost: CurrentThread.processorTime))
        }
        if !isStarted { self.receive(Page(job: job, bytes: [], cost: .zero)) }
    }

    private func receive(_ page: Page) {
        self.state.withLock { $0.page = page }
        self.wakeUp.wake(.output)
    }
}

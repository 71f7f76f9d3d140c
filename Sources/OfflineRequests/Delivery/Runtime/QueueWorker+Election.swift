// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import Reachability
import Synchronization

/// Which process sends, and over which network.
///
/// Who sends one request only holds the lock of the sender only while that is on its way, so that no process that would send
/// the others has to wait for it.
extension QueueWorker {
    /// How long after a vain election the next one is.
    private static let electionPause: Duration = .seconds(1)

    /// Begins to send all requests, or one; once.
    func start(following monitor: NetworkMonitor, only id: UUID?) {
        guard self.pathFeed == nil else { return }
        self.only = id
        self.hosts.follow(monitor)
        self.pathFeed = PathFeed(monitor, telling: self.core)
    }

    // MARK: The network

    func network(is update: ConnectivityUpdate, at now: Moment) {
        self.hosts.networkChanged()
        let lost = self.network.change(to: update, at: now.monotonic)
        let isRestored = self.machine.path(self.network.facts, at: now)
        if let lost, lost.isEmpty || !self.core.transport.cancelRequests(from: Set(lost.map(\.description))) {
            // They wait for answers that cannot come, and would hold up their lanes until they time out. How far they
            // came decides whether the attempt counts.
            for flight in self.flights.values { flight.cancel() }
        }
        // After the requests that were cancelled, whose connections are idle now.
        if lost != nil || isRestored { self.core.transport.pathChanged() }
        if isRestored { self.core.observers.send([.connectivityRestored]) }
    }

    /// Packets to a host would take that way; nil for none.
    func host(_ host: String, is route: HostRoute?, at now: Moment) {
        self.network.host(host, isReachable: route != nil)
        self.machine.host(host, isBeyondRouter: route.map { !$0.isLocalOnly } ?? false, at: now)
        self.machine.path(self.network.facts, at: now)
    }

    /// Asks for the way to hosts while there is no path to the internet, and for nothing while there is one.
    func watchHosts(_ hosts: Set<String>, at now: Moment) {
        let hosts = self.network.isSatisfied ? [] : hosts
        self.hosts.set(hosts)
        self.network.forgetHosts(but: hosts)
        self.machine.forgetWays(but: hosts)
        self.machine.path(self.network.facts, at: now)
    }

    // MARK: Other processes

    /// Becomes the sender, unless another process is, or there is nothing for this one to send.
    func elect(at now: Moment) {
        guard self.pathFeed != nil, self.role != .sender, self.shutdowns.isEmpty,
            (self.retryAt ?? now.monotonic) <= now.monotonic
        else { return }
        self.electionAt = nil
        do throws(QueueError) {
            guard try self.mayGo(at: now) else { return }
            if self.lock == nil { self.lock = try self.openLock() }
            guard self.lock?.take() == true else {
                self.role = .waiting
                return
            }
        } catch {
            return self.failed(error)
        }
        self.role = .sender
        // What became too old meanwhile is found first.
        self.uselessAt = now.monotonic
        // What the last sender was at when it died; a server may have it.
        self.releasesRunning = true
        self.stopListening()
        // And what it wrote, but did not live to tell those who wait.
        self.core.store.notifyReaders()
        // Of programs that died between the copy of a body and its request. What is wrong with the file, the first
        // transaction says.
        if self.only == nil { _ = try? self.core.store.removeOrphanedBodies() }
    }

    private func openLock() throws(QueueError) -> SenderLock {
        let path = QueueFile.senderLock(of: self.core.file)
        let lock = try SenderLock(path: path)
        // Before the first try: an end between the two would not be heard.
        let paths = self.core.store.paths
        let watches: [(String, FileWatch.Event)] = [
            (path, .closedAfterWriting), (paths.lock, .read), (paths.database, .removed),
        ]
        for (path, event) in watches { try self.watch(path, event) }
        return lock
    }

    // MARK: One request

    /// Whether the only request could go now if this process sent; if not, says when to look again.
    private func mayGo(at now: Moment) throws(QueueError) -> Bool {
        guard let only = self.only else { return true }
        let maxAge = self.core.settings.maxAge
        self.role = .standby
        // Before the look, for what is written in between would not be heard.
        try self.listen()
        let (record, isPaused, rest) = try self.core.store.read {
            (try $0.record(only), $0.status.isPaused, try $0.rest(of: only, maxAge: maxAge))
        }
        self.machine.isPaused = isPaused
        guard let record, !record.state.isFinal else { return false }
        // Without a path, too, and whatever else it waits for.
        if let rest, rest <= .zero { return true }
        defer {
            if let rest { self.electionAt = min(self.electionAt ?? now.monotonic + rest, now.monotonic + rest) }
        }
        let gate = Gate(record.request)
        self.gates = [gate]
        self.watchHosts([gate.host], at: now)
        var due = self.notBefore
        if record.state == .backoff, let date = record.notBefore {
            due = max(due ?? now.monotonic, now.monotonic + .seconds(max(0, date.timeIntervalSince(now.wall))))
        }
        if let due, due > now.monotonic {
            self.electionAt = due
            return false
        }
        let isOpen = self.machine.waiting(for: gate, at: now) == nil
        // What a process that died was sending is running for ever until another process sends.
        if isOpen, [.ready, .backoff, .running].contains(record.state) { return true }
        self.electionAt = self.machine.nextWake(after: now, for: self.gates)
        return false
    }

    /// The only request, if it may go.
    func head(_ only: UUID, in store: StoreTransaction, at now: Moment) throws -> [ReadyRequest] {
        guard let ready = try store.ready(only) else { return [] }
        self.gates = [Gate(ready.record.request)]
        guard self.shutdowns.isEmpty else { return [] }
        return self.machine.choose(1, of: [[ready.record]], at: now).map { _ in ready }
    }

    /// Lets others send while the only request cannot go.
    ///
    /// - Returns: Whether it does from now on.
    func stepDown() -> Bool {
        guard self.only != nil, self.role == .sender, self.flights.isEmpty, self.completed.isEmpty else { return false }
        self.role = .standby
        // Hears of its own end, too, and looks again.
        self.lock = nil
        // What is being sent by then is another process's.
        self.releasesRunning = false
        let next = Moment.now().monotonic + Self.electionPause
        self.notBefore = next
        self.electionAt = next
        // What cannot be heard now is looked at by then.
        try? self.listen()
        return true
    }
}

/// Tells a queue how the network is, for as long as it is there.
final class PathFeed {
    private let updates: Task<Void, Never>
    private let restored: ConnectivityObservation

    init(_ monitor: NetworkMonitor, telling core: QueueCore) {
        // The sequence, because the calls of a monitor wait for a main thread that may be blocked.
        self.updates = Task(executorPreference: core.executor) {
            for await update in monitor.updates { core.post { worker, now in worker.network(is: update, at: now) } }
        }
        // Tells of an interruption that was over before the sequence could bring it.
        let isFirst = Atomic(true)
        self.restored = monitor.observe { isConnected in
            guard !isFirst.exchange(false, ordering: .relaxed), isConnected else { return }
            core.post { worker, _ in worker.machine.promote(.restored) }
        }
    }

    deinit {
        self.updates.cancel()
        self.restored.cancel()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import Synchronization

/// Which process sends, and over which network.
///
/// Who sends one request only holds the lock of the sender only while that is on its way, so that no process that would send
/// the others has to wait for it.
extension QueueWorker {
    /// How long after a vain election the next one is: of who sends one request only, and where the sender may just have ended.
    private static let electionPause: Duration = .seconds(1)

    func start(following monitor: NetworkMonitor, only id: UUID?) {
        guard self.pathFeed == nil else { return }
        self.only = id
        self.claim = id.flatMap { OwnSenders.join(for: $0, at: QueueFile.senderLock(of: self.core.file)) }
        self.hosts.follow(monitor)
        self.pathFeed = PathFeed(monitor, telling: self.core)
    }

    // MARK: The network

    func network(is update: ConnectivityUpdate, at now: Moment) {
        self.hosts.networkChanged()
        // What one request waits for may be there now.
        if self.only != nil, self.role == .standby { self.electionAt = nil }
        let lost = self.network.change(to: update, at: now.monotonic)
        let facts = PathFacts(update: update, nearHosts: self.machine.facts?.nearHosts ?? [])
        let isRestored = self.machine.path(facts, at: now)
        if let lost, lost.isEmpty || !self.core.transport.cancelRequests(from: Set(lost.map(\.description))) {
            // They wait for answers that cannot come, and would hold up their lanes until they time out. How far they
            // came decides whether the attempt counts.
            for flight in self.flights.values { flight.cancel() }
        }
        // After the requests that were cancelled, whose connections are idle now.
        if lost != nil || isRestored { self.core.transport.pathChanged() }
        if isRestored { self.core.observers.send([.connectivityRestored]) }
    }

    /// Asks for the way to hosts while there is no path to the internet, and for nothing while there is one.
    func watchHosts(_ hosts: Set<String>) {
        let hosts = self.machine.facts?.isSatisfied == true ? [] : hosts
        self.hosts.set(hosts)
        self.machine.forgetHosts(but: hosts)
    }

    // MARK: Other processes

    /// Becomes the sender, unless another process is, or there is nothing for this one to send.
    func elect(at now: Moment) {
        guard self.pathFeed != nil, self.role != .sender, self.shutdowns.isEmpty,
            (self.retryAt ?? now.monotonic) <= now.monotonic,
            self.only == nil || self.machine.facts != nil && (self.electionAt ?? now.monotonic) <= now.monotonic
        else { return }
        self.electionAt = nil
        do throws(QueueError) {
            if self.lock == nil { self.lock = try self.openLock() }
            guard try self.lock?.take(saying: SenderReport(only: self.only).bytes) == true else {
                self.role = .waiting
                // The kernel tells of the end of a process before it takes its locks away (`__fput` of fs/file_table.c).
                if self.senderMayHaveEnded { self.electionAt = now.monotonic + Self.electionPause }
                self.senderMayHaveEnded = false
                return
            }
        } catch {
            return self.failed(error)
        }
        self.role = .sender
        // What became too old meanwhile is found first.
        (self.tooOldAt, self.uselessAt) = (now.monotonic, now.monotonic)
        // What the last sender was at when it died; a server may have it.
        self.releasesRunning = true
        self.checkWaiters(all: true)
        // Of programs that died between the copy of a body and its request. What is wrong with the file, the first
        // transaction says.
        if self.only == nil {
            _ = try? self.core.store.check()
            _ = try? self.core.store.removeOrphanedBodies()
        }
    }

    private func openLock() throws(QueueError) -> FileLock {
        let path = QueueFile.senderLock(of: self.core.file)
        let lock = try FileLock(path)
        // Before the first try: an end between the two would not be heard.
        let paths = self.core.store.paths
        let watches: [(String, FileWatch.Event)] = [
            (path, .closedAfterWriting), (paths.lock, .read), (paths.database, .removed),
        ]
        for (path, event) in watches { try self.watch(path, event) }
        return lock
    }

    // MARK: One request

    func head(_ only: UUID, in store: StoreTransaction, at now: Moment) throws -> [ReadyRequest] {
        guard let ready = try store.ready(only) else { return [] }
        self.gates = [Gate(ready.record.request)]
        guard self.shutdowns.isEmpty else { return [] }
        return self.machine.choose(1, of: [[ready.record]], at: now).map { _ in ready }
    }

    /// Lets others send while the only request cannot go; returns whether it does from now on.
    func stepDown() -> Bool {
        guard self.only != nil, self.role == .sender, self.flights.isEmpty, self.completed.isEmpty else { return false }
        self.role = .standby
        // Hears of its own end, too.
        self.lock = nil
        // What is being sent by then is another process's.
        self.releasesRunning = false
        self.electionAt = Moment.now().monotonic + Self.electionPause
        return true
    }
}

/// Tells a queue how the network is, for as long as it is there.
final class PathFeed {
    private let updates: Task<Void, Never>
    private let restored: ObservationToken

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

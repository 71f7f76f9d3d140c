// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP

/// What the network and other processes mean for this one.
extension QueueWorker {
    // MARK: The network

    func network(is update: ConnectivityUpdate, at now: Moment) {
        let internet = self.network.facts?.internet
        let isOutdated = self.network.change(to: update, at: now.monotonic)
        self.forgetUpcoming()
        let isRestored = self.machine.path(self.network.facts, at: now)
        if isOutdated {
            // They wait for answers that cannot come, and would hold up their lanes until they time out. How far they
            // came decides whether the attempt counts.
            for flight in self.flights.values { flight.cancel() }
            self.lastOutdatedRun = self.lastRun
        }
        // After the requests that were cancelled, whose connections are idle now.
        if isOutdated || isRestored { self.core.transport.pathChanged() }
        // What somebody else has answered in the server's place need not wait for its time.
        let isFreed = [.portal, .unreachable].contains(internet) && self.network.facts?.internet == .reachable
        if isFreed, self.promotion == .due { self.promotion = .restored }
        guard isRestored else { return }
        if self.promotion == .due { self.promotion = .restored }
        self.core.observers.send([.connectivityRestored])
    }

    func host(_ host: String, isReachable: Bool, at now: Moment) {
        self.network.host(host, isReachable: isReachable)
        self.machine.path(self.network.facts, at: now)
    }

    // MARK: Other processes

    /// Becomes the sender, unless another process is; when that is to be asked.
    func standForElection(ifDue now: Moment) {
        guard self.isStarted, self.role != .sender, self.shutdown == nil, let due = self.electionAt,
            due <= now.monotonic
        else { return }
        self.electionAt = nil
        do throws(QueueError) {
            if try self.mayGo(at: now) { try self.standForElection() }
        } catch {
            self.failed(error)
            self.electionAt = self.retryAt
        }
    }

    private func standForElection() throws(QueueError) {
        let lock: SenderLock
        if let open = self.lock { lock = open } else { lock = try self.openLock() }
        self.lock = lock
        self.isStatusTrue = false
        guard lock.take() else {
            self.role = .waiting
            return
        }
        self.role = .sender
        // What the last sender was at when it died; a server may have it.
        self.releasesRunning = true
        self.isLookDue = true
        self.stopListening()
        if self.only != nil { return }
        // Of programs that died between the copy of a body and its request. What is wrong with the file, the first
        // transaction says.
        _ = try? self.core.store.removeOrphanedBodies()
        self.isReserveDue = true
    }

    private func openLock() throws(QueueError) -> SenderLock {
        let path = QueueFile.senderLock(of: self.core.file)
        let lock = try SenderLock(path: path)
        // Before the first try: an end between the two would not be heard.
        let paths = self.core.store.paths
        let watches: [(String, FileWatch.Event)] = [
            (path, .closedAfterWriting), (paths.lock, .read), (paths.database, .removed),
        ]
        for (path, event) in watches {
            guard self.sleep.files.add(path, event) != nil else {
                throw .io(path: path, reason: "it cannot be watched; see fs.inotify.max_user_watches")
            }
        }
        return lock
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP

/// What the network and other processes mean for this one.
extension QueueWorker {
    // MARK: The network

    func network(is update: ConnectivityUpdate, at now: Moment) {
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
        guard isRestored else { return }
        if self.promotion == .due { self.promotion = .restored }
        self.core.observers.send([.connectivityRestored])
    }

    func host(_ host: String, isReachable: Bool, at now: Moment) {
        self.network.host(host, isReachable: isReachable)
        self.machine.path(self.network.facts, at: now)
    }

    // MARK: Other processes

    /// Becomes the sender, unless another process is.
    func standForElection() {
        guard self.isStarted, self.role != .sender else { return }
        do throws(QueueError) {
            let lock: SenderLock
            if let open = self.lock { lock = open } else { lock = try self.openLock() }
            self.lock = lock
            guard lock.take() else {
                self.role = .waiting
                return
            }
            self.role = .sender
            // What the last sender was at when it died; a server may have it.
            self.releasesRunning = true
            self.stopListening()
            // Of programs that died between the copy of a body and its request. What is wrong with the file, the first
            // transaction says.
            _ = try? self.core.store.removeOrphanedBodies()
            self.isReserveDue = true
        } catch {
            self.core.observers.send([.failed(error)])
        }
    }

    private func openLock() throws(QueueError) -> SenderLock {
        let path = QueueFile.senderLock(of: self.core.file)
        let lock = try SenderLock(path: path)
        // Before the first try: an end between the two would not be heard.
        for (path, event) in [(path, FileWatch.Event.closedAfterWriting), (self.core.store.paths.lock, .read)] {
            guard self.sleep.files.add(path, event) != nil else {
                throw .io(path: path, reason: "it cannot be watched; see fs.inotify.max_user_watches")
            }
        }
        return lock
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Synchronization

/// What a service answers.
enum ServiceAnswer: Sendable {
    /// A line, or a few.
    case whole([UInt8])
    /// What takes long to make.
    case pages(ServicePages)
}

/// An answer that is made page by page: the next one when the client has read the last.
struct ServicePages: Sendable {
    /// Makes a page, which may be empty, and tells what makes the one after it; nil at the end.
    let make: @Sendable () -> (page: [UInt8], rest: ServicePages?)
}

/// Makes the pages of all clients on a thread of its own, which is there while there is something to make.
///
/// Each client waits for one page at most, so that what waits here is limited by the number of clients.
final class ServicePageMaker: Sendable {
    private struct Job: Sendable {
        var client: UInt64
        var user: UInt32
        var pages: ServicePages
    }

    private struct State: Sendable {
        var jobs: [Job] = []
        var isRunning = false
        /// Who got the last page.
        var lastUser: UInt32?

        /// Takes the next job, of another user than the last one where there is one.
        mutating func next() -> Job? {
            guard !self.jobs.isEmpty else {
                self.isRunning = false
                return nil
            }
            let job = self.jobs.remove(at: self.jobs.firstIndex { $0.user != self.lastUser } ?? 0)
            self.lastUser = job.user
            return job
        }
    }

    private let state = Mutex(State())
    private let onPage: @Sendable (_ client: UInt64, _ page: [UInt8], _ rest: ServicePages?) -> Void

    /// - Parameter onPage: Receives each page, on the thread that made it.
    init(onPage: @escaping @Sendable (_ client: UInt64, _ page: [UInt8], _ rest: ServicePages?) -> Void) {
        self.onPage = onPage
    }

    /// Has a page made for a client; an empty last one where the system grants no thread.
    func make(_ pages: ServicePages, for client: UInt64, of user: UInt32) {
        let isRunning = self.state.withLock { state in
            state.jobs.append(Job(client: client, user: user, pages: pages))
            defer { state.isRunning = true }
            return state.isRunning
        }
        guard !isRunning, !BackgroundThread.start({ self.run() }) else { return }
        let jobs = self.state.withLock { state in
            defer { (state.jobs, state.isRunning) = ([], false) }
            return state.jobs
        }
        for job in jobs { self.onPage(job.client, [], nil) }
    }

    /// Forgets what a client waits for that has gone.
    func forget(_ client: UInt64) {
        self.state.withLock { $0.jobs.removeAll { $0.client == client } }
    }

    private func run() {
        while let job = self.state.withLock({ $0.next() }) {
            let (page, rest) = job.pages.make()
            self.onPage(job.client, page, rest)
        }
    }
}

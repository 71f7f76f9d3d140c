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
/// Each client waits for one page at most, so that what waits here is limited by the number of clients; ``PageTurns`` says
/// whose page is the next one, and when.
final class ServicePageMaker: Sendable {
    private struct State: Sendable {
        var turns: PageTurns
        var isRunning = false

        mutating func next() -> PageTurns.Step {
            let step = self.turns.next(now: .now())
            if case .end = step { self.isRunning = false }
            return step
        }
    }

    /// How long the thread sleeps at a time: root and the group of the service do not wait for the pause of the others.
    private static let pause: Duration = .milliseconds(20)

    private let state: Mutex<State>
    private let onPage: @Sendable (_ client: UInt64, _ page: [UInt8], _ rest: ServicePages?) -> Void

    /// - Parameters:
    ///   - limits: How much processor time pages may take at once.
    ///   - onPage: Receives each page, on the thread that made it.
    init(
        _ limits: ServiceLimits,
        onPage: @escaping @Sendable (_ client: UInt64, _ page: [UInt8], _ rest: ServicePages?) -> Void
    ) {
        self.state = Mutex(State(turns: PageTurns(limit: limits.pageTime)))
        self.onPage = onPage
    }

    /// Has a page made for a client; an empty last one where the system grants no thread.
    func make(_ pages: ServicePages, for client: UInt64, of peer: ServiceSocket.Peer) {
        let isRunning = self.state.withLock { state in
            state.turns.add(PageTurns.Job(client: client, peer: peer, pages: pages))
            defer { state.isRunning = true }
            return state.isRunning
        }
        guard !isRunning, !BackgroundThread.start({ self.run() }) else { return }
        let clients = self.state.withLock { state in
            state.isRunning = false
            return state.turns.takeAll()
        }
        for client in clients { self.onPage(client, [], nil) }
    }

    /// Forgets what a client waits for that has gone.
    func forget(_ client: UInt64) {
        self.state.withLock { $0.turns.forget(client) }
    }

    private func run() {
        while true {
            switch self.state.withLock({ $0.next() }) {
            case .end: return
            case .wait(let time): _ = FileDescriptor.poll(readable: [], timeout: min(time, Self.pause))
            case .make(let job):
                let begin = CurrentThread.processorTime
                let (page, rest) = job.pages.make()
                let cost = CurrentThread.processorTime - begin
                self.state.withLock { $0.turns.charge(job.peer, cost) }
                self.onPage(job.client, page, rest)
            }
        }
    }
}

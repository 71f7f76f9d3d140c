// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Whose page is made next, and when, as a value.
///
/// Pages take processor time, and questions for them cost a client nothing. All users together get a share of one processor
/// for them, and so do those that look after the service; the user that has had least goes first.
struct PageTurns: Sendable {
    /// A page that a client waits for.
    struct Job: Sendable {
        var client: UInt64
        var peer: ServiceSocket.Peer
        var pages: ServicePages
    }

    /// What to do now.
    enum Step: Sendable {
        case make(Job)
        /// Everything that waits has to wait so long.
        case wait(Duration)
        case end
    }

    /// Time that may be taken: what was not taken is kept up to a limit.
    private struct Budget: Sendable {
        /// One part in so many of the time that passes.
        private static let part = 10
        private let limit: Duration
        private var credit: Duration
        private var updated = MonotonicTime(nanoseconds: 0)

        init(limit: Duration) {
            self.limit = limit
            self.credit = limit
        }

        mutating func refill(now: MonotonicTime) {
            self.credit = min(self.limit, self.credit + max(.zero, now - self.updated) / Self.part)
            self.updated = max(self.updated, now)
        }

        mutating func take(_ cost: Duration) { self.credit -= cost }

        /// How long nothing may be taken.
        var pause: Duration { max(.zero, .zero - self.credit) * Self.part }
    }

    private var jobs: [Job] = []
    /// What each user has had since something waits.
    private var costs: [UInt32: Duration] = [:]
    private var budgets: (trusted: Budget, others: Budget)

    /// - Parameter limit: How much processor time may be taken at once, after a while in which none was.
    init(limit: Duration) {
        self.budgets = (Budget(limit: limit), Budget(limit: limit))
    }

    mutating func add(_ job: Job) { self.jobs.append(job) }

    /// Forgets what a client waits for that has gone.
    mutating func forget(_ client: UInt64) { self.jobs.removeAll { $0.client == client } }

    /// Takes the next job.
    mutating func next(now: MonotonicTime) -> Step {
        self.budgets.trusted.refill(now: now)
        self.budgets.others.refill(now: now)
        guard !self.jobs.isEmpty else {
            self.costs = [:]
            return .end
        }
        var pauses: [Duration] = []
        for isTrusted in [true, false] {
            let waiting = self.jobs.indices.filter { self.jobs[$0].peer.isTrusted == isTrusted }
            let pause = (isTrusted ? self.budgets.trusted : self.budgets.others).pause
            guard let first = waiting.min(by: { self.cost(of: $0) < self.cost(of: $1) }) else { continue }
            if pause == .zero { return .make(self.jobs.remove(at: first)) }
            pauses.append(pause)
        }
        return .wait(pauses.min() ?? .zero)
    }

    private func cost(of index: Int) -> Duration { self.costs[self.jobs[index].peer.user, default: .zero] }

    /// Notes what a page took.
    mutating func charge(_ peer: ServiceSocket.Peer, _ cost: Duration) {
        self.costs[peer.user, default: .zero] += cost
        if peer.isTrusted { self.budgets.trusted.take(cost) } else { self.budgets.others.take(cost) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What may be sent now, and until when it may not.
///
/// Places are counted in sixteenths: the longer an attempt has run without an end, the less of a place it takes, so that
/// hosts that never answer do not hold all of them for as long as their time-outs last.
extension DeliveryMachine {
    /// How much of a place attempts take by how long they have run.
    struct Shares: Sendable {
        static let whole = 16
        /// Each from a time on, until the next.
        private let steps: [(after: Duration, share: Int)]

        /// Of the places of the queue.
        static let ofQueue = Shares(steps: [(.zero, whole), (.seconds(1), whole / 4), (.seconds(10), 1)])
        /// Of those of a host: larger, since a server that works at its answers is to get no more at once than it was meant
        /// to.
        static let ofHost = Shares(steps: [(.zero, whole), (.seconds(10), whole / 4)])

        func share(after duration: Duration) -> Int {
            self.steps.last { $0.after <= duration }?.share ?? Self.whole
        }

        /// How much less than now an attempt takes that runs on, and when.
        func reliefs(of start: MonotonicTime, after now: MonotonicTime) -> [(time: MonotonicTime, relief: Int)] {
            zip(self.steps, self.steps.dropFirst()).map { former, step in
                (time: start + step.after, relief: former.share - step.share)
            }.filter { $0.time > now }
        }
    }

    /// How much longer the hosts that are left alone wait for one another, for each of them: a turn looks at all, so that
    /// it costs the more the more there are.
    private static let pacePerHost: Duration = .milliseconds(1)

    private struct Obstacle {
        var reason: WaitingReason
        /// When it may be gone by the passing of time alone; nil for never.
        var until: MonotonicTime?
    }

    /// How many requests may be started now, if their gates are open.
    func slots(at now: Moment) -> Int {
        let isReconnecting = self.opensAt.map { $0 > now.monotonic } ?? false
        guard !self.isPaused, self.facts?.leadsSomewhere == true, !isReconnecting else { return 0 }
        return max(0, self.limit(at: now) * Shares.whole - self.load(at: now, .ofQueue)) / Shares.whole
    }

    /// Why a request with that gate may not be started now; nil when it may.
    func waiting(for gate: Gate, at now: Moment) -> WaitingReason? { self.obstacle(for: gate, at: now)?.reason }

    /// When one of these gates, those of the requests that are ready, may open by the passing of time alone; nil for
    /// never, and then no timer is needed.
    func nextWake(after now: Moment, for gates: some Sequence<Gate>) -> MonotonicTime? {
        gates.lazy.compactMap { self.obstacle(for: $0, at: now)?.until }.min()
    }

    /// How many more requests may be sent to a host at the same time.
    func places(of host: String, at now: Moment) -> Int {
        max(0, self.limit(of: host) * Shares.whole - self.load(at: now, .ofHost) { $0.host == host }) / Shares.whole
    }

    func running(on host: String) -> Int { self.running.values.count { $0.host == host } }

    /// How many requests may be sent to a host at the same time: to one that fails one, which finds out whether it works
    /// again.
    private func limit(of host: String) -> Int {
        self.hosts[host] == nil ? Self.places(self.settings.perHostConcurrency) : 1
    }

    private func obstacle(for gate: Gate, at now: Moment) -> Obstacle? {
        if self.isPaused { return Obstacle(reason: .paused) }
        guard let facts = self.facts else { return Obstacle(reason: .noPath("nothing is known of the network yet")) }
        if let lack = facts.lacks(gate) { return Obstacle(reason: lack) }
        if let until = self.nearFrom(gate.host, at: now) { return Obstacle(reason: .reconnecting, until: until) }
        let pause = self.hosts[gate.host]?.pause(at: now.monotonic)
        if let opensAt, opensAt > now.monotonic {
            return Obstacle(reason: .reconnecting, until: max(opensAt, pause ?? opensAt))
        }
        if let pause { return Obstacle(reason: .hostPaused(gate.host, until: now.wall(at: pause)), until: pause) }
        return self.lackOfPlaces(for: gate.host, at: now)
    }

    private func lackOfPlaces(for host: String, at now: Moment) -> Obstacle? {
        let limit = self.limit(at: now)
        if let relief = self.lack(of: limit, at: now) {
            let reason: WaitingReason = limit < self.concurrency ? .reconnecting : .concurrency
            return Obstacle(reason: reason, until: [relief.until, self.nextStep(after: now)].compactMap { $0 }.min())
        }
        let lack = self.lack(of: self.limit(of: host), at: now, .ofHost) { $0.host == host }
        if let lack { return lack }
        // Many hosts that never answer look like new ones until their attempts time out.
        let isIdle = self.running(on: host) == 0
        let reserved = !isIdle ? self.lastPlaces : self.proven.contains(host) ? 0 : (self.lastPlaces + 1) / 2
        if let relief = self.lack(of: self.concurrency - reserved, at: now) { return relief }
        guard let health = self.hosts[host] else { return nil }
        let relief = self.lack(of: max(1, self.concurrency / 4), at: now) { self.hosts[$0.host] != nil }
        if let relief { return relief }
        guard health.pauses > 0, let probedAt, probedAt != now.monotonic else { return nil }
        let next = probedAt + Self.pacePerHost * self.hosts.count
        return next > now.monotonic ? Obstacle(reason: .concurrency, until: next) : nil
    }

    var concurrency: Int { Self.places(self.settings.concurrency) }

    /// How many places are for hosts that nothing is being sent to, half of them for those that have answered before.
    private var lastPlaces: Int { self.concurrency > 1 ? max(1, self.concurrency / 4) : 0 }

    /// That no place is left of so many, and when one may be.
    private func lack(
        of places: Int,
        at now: Moment,
        _ shares: Shares = .ofQueue,
        among isMeant: (Attempt) -> Bool = { _ in true }
    ) -> Obstacle? {
        var excess = self.load(at: now, shares, of: isMeant) + Shares.whole - places * Shares.whole
        guard excess > 0 else { return nil }
        guard self.concurrency > 1 else { return Obstacle(reason: .concurrency) }
        let reliefs = self.running.values.filter(isMeant).flatMap { shares.reliefs(of: $0.since, after: now.monotonic) }
        for (time, relief) in reliefs.sorted(by: { $0.time < $1.time }) {
            excess -= relief
            if excess <= 0 { return Obstacle(reason: .concurrency, until: time) }
        }
        return Obstacle(reason: .concurrency)
    }

    /// How many sixteenths of places are taken.
    private func load(at now: Moment, _ shares: Shares, of isMeant: (Attempt) -> Bool = { _ in true }) -> Int {
        self.running.values.reduce(0) { load, attempt in
            guard isMeant(attempt) else { return load }
            return load + (self.concurrency > 1 ? shares.share(after: now.monotonic - attempt.since) : Shares.whole)
        }
    }
}

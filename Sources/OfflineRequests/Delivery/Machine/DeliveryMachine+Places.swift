// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What may be sent now, and until when it may not.
///
/// Places are counted in quarters: an attempt that has run for long without an end takes a quarter of a place, so that
/// hosts that never answer do not hold all of them for as long as their time-outs last.
extension DeliveryMachine {
    /// How long an attempt takes a whole place.
    static let wholePlace: Duration = .seconds(1)
    /// How long it takes a whole one of those of its host: longer, since a server that works at its answers is to get no more
    /// at once than it was meant to.
    static let wholePlaceOfHost: Duration = .seconds(10)
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
        return max(0, self.limit(at: now) * 4 - self.load(at: now, Self.wholePlace)) / 4
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
        max(0, self.limit(of: host) * 4 - self.load(at: now, Self.wholePlaceOfHost) { $0.host == host }) / 4
    }

    func running(on host: String) -> Int { self.running.values.count { $0.host == host } }

    /// How many requests may be sent to a host at the same time: to one that fails one, which finds out whether it works
    /// again.
    private func limit(of host: String) -> Int {
        self.hosts[host] == nil ? max(1, self.settings.perHostConcurrency) : 1
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
            let reason: WaitingReason = limit < self.settings.concurrency ? .reconnecting : .concurrency
            return Obstacle(reason: reason, until: [relief.until, self.nextStep(after: now)].compactMap { $0 }.min())
        }
        let lack = self.lack(of: self.limit(of: host), at: now, Self.wholePlaceOfHost) { $0.host == host }
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

    var concurrency: Int { max(1, self.settings.concurrency) }

    /// How many places are for hosts that nothing is being sent to, half of them for those that have answered before.
    private var lastPlaces: Int { self.concurrency > 1 ? max(1, self.concurrency / 4) : 0 }

    /// That no place is left of so many, and when one may be.
    private func lack(
        of places: Int,
        at now: Moment,
        _ wholePlace: Duration = Self.wholePlace,
        among isMeant: (Attempt) -> Bool = { _ in true }
    ) -> Obstacle? {
        let excess = self.load(at: now, wholePlace, of: isMeant) + 4 - places * 4
        guard excess > 0 else { return nil }
        let ends = self.running.values.filter(isMeant).map { $0.since + wholePlace }.filter { $0 > now.monotonic }
        // Each of them frees three quarters.
        let count = (excess + 2) / 3
        let isEnough = self.concurrency > 1 && ends.count >= count
        return Obstacle(reason: .concurrency, until: isEnough ? ends.sorted()[count - 1] : nil)
    }

    /// How many quarters of places are taken.
    private func load(at now: Moment, _ wholePlace: Duration, of isMeant: (Attempt) -> Bool = { _ in true }) -> Int {
        self.running.values.reduce(0) { load, attempt in
            guard isMeant(attempt) else { return load }
            let isLong = self.concurrency > 1 && attempt.since + wholePlace <= now.monotonic
            return load + (isLong ? 1 : 4)
        }
    }
}

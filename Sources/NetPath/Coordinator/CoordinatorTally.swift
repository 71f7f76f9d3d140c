// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Counts of what happened to a coordinator, for metrics.
///
/// Kept under the coordinator's lock, and only where metrics are served: a report costs one look into a dictionary.
package struct CoordinatorTally: Sendable {
    /// What one backend did.
    package struct Backend: Sendable {
        /// How often it reported.
        package var reports = 0
        /// How many of those changed no path: it was woken for nothing.
        package var reportsWithoutChange = 0
        /// From the beginning of a reading to the path that it led to.
        package var latency = TimeHistogram(bounds: [
            100_000, 250_000, 500_000, 1_000_000, 5_000_000, 25_000_000, 100_000_000, 1_000_000_000,
        ])
    }

    /// What became of one target of probes.
    package struct Target: Sendable {
        /// So many round trips are kept.
        package static let kept = 32

        /// How often each result was seen, by its name.
        package var results: [ProbeOutcome.Result: Int] = [:]
        package var roundTrips = TimeHistogram(bounds: [
            1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 1_000_000_000,
            3_000_000_000,
        ])
        /// The latest round trips, the oldest first; nil where there was no answer.
        package var latest: [Duration?] = []
        fileprivate var seenAt: MonotonicTime?
        fileprivate var last: ProbeOutcome?
    }

    /// The backends by their names.
    package private(set) var backends: [String: Backend] = [:]
    /// The targets of probes as they are configured.
    package private(set) var targets: [String: Target] = [:]
    /// How many paths were published.
    package private(set) var paths = 0
    /// How often the status became which one.
    package private(set) var changes: [PathStatus: Int] = [:]
    /// How long the status was which one, up to the last change.
    private var inStatus: [PathStatus: Duration] = [:]
    /// How long there was no path, by the reason, up to the last change.
    private var down: [PathReason.Code: Duration] = [:]
    /// What is published, and since when.
    private var current: (status: PathStatus, reason: PathReason.Code, since: MonotonicTime)?
    /// When the status was another one last.
    private var statusSince: MonotonicTime?

    init(_ path: NetworkPath?, at now: MonotonicTime) {
        self.show(path, at: now)
    }

    /// How long there was no path up to now, by the reason.
    package func downtime(at now: MonotonicTime) -> [PathReason.Code: Duration] {
        var down = self.down
        if let current, current.status != .satisfied {
            down[current.reason, default: .zero] += max(.zero, now - current.since)
        }
        return down
    }

    /// How long the status was which one, up to now.
    package func time(in status: PathStatus, at now: MonotonicTime) -> Duration {
        var time = self.inStatus[status, default: .zero]
        if let current, current.status == status { time += max(.zero, now - current.since) }
        return time
    }

    /// How long the status has been what it is; nil while there is none.
    package func statusAge(at now: MonotonicTime) -> Duration? { self.statusSince.map { max(.zero, now - $0) } }

    // MARK: Counting

    mutating func count(
        _ input: CoordinatorInput,
        _ actions: [CoordinatorStateMachine.Action],
        at now: MonotonicTime,
        name: (Int) -> String?
    ) {
        var published: NetworkPath?
        for case .publish(let path) in actions { published = path.value }
        if let published {
            self.paths += 1
            self.show(published, at: now)
        }
        guard case .report(let id, _, let evidence) = input, let name = name(id) else { return }
        self.backends[name, default: Backend()].count(evidence, hasChanged: published != nil, at: now)
        for outcome in evidence.probes?.outcomes ?? [] {
            self.targets[outcome.target, default: Target()].count(outcome, of: evidence.observedAt)
        }
    }

    private mutating func show(_ path: NetworkPath?, at now: MonotonicTime) {
        self.down = self.downtime(at: now)
        if let status = self.current?.status { self.inStatus[status] = self.time(in: status, at: now) }
        if path?.status != self.current?.status {
            self.statusSince = path.map { _ in now }
            // The first one is no change.
            if let path, self.current != nil { self.changes[path.status, default: 0] += 1 }
        }
        self.current = path.map { ($0.status, $0.reason.code, now) }
    }
}

extension CoordinatorTally.Backend {
    fileprivate mutating func count(_ evidence: Evidence, hasChanged: Bool, at now: MonotonicTime) {
        self.reports += 1
        guard hasChanged else {
            self.reportsWithoutChange += 1
            return
        }
        // Of a probe the time of a reading is that of the whole round.
        if evidence.probes == nil { self.latency.add(max(.zero, now - evidence.observedAt)) }
    }
}

extension CoordinatorTally.Target {
    fileprivate mutating func count(_ outcome: ProbeOutcome, of round: MonotonicTime) {
        // A probe reports its last round again at every refresh.
        if self.seenAt == round, self.last == outcome, self.last?.roundTrip == outcome.roundTrip { return }
        if outcome.roundTrip != nil, self.last?.roundTrip == outcome.roundTrip { return }
        self.seenAt = round
        self.last = outcome
        self.results[outcome.result, default: 0] += 1
        if let roundTrip = outcome.roundTrip { self.roundTrips.add(roundTrip) }
        self.latest.append(outcome.roundTrip)
        if self.latest.count > Self.kept { self.latest.removeFirst() }
    }
}

/// How often times were how long.
package struct TimeHistogram: Sendable {
    /// The upper bounds in nanoseconds, the smallest first.
    package let bounds: [Int64]
    /// How many were at most as long as each bound and longer than the one before; the last number is that of all others.
    package private(set) var counts: [Int]
    /// All of them together.
    package private(set) var sum: Duration = .zero

    package init(bounds: [Int64]) {
        self.bounds = bounds
        self.counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Whether nothing was counted.
    package var isEmpty: Bool { self.counts.allSatisfy { $0 == 0 } }

    /// Counts a time.
    package mutating func add(_ time: Duration) {
        let place = self.bounds.firstIndex { time <= .nanoseconds($0) } ?? self.bounds.count
        self.counts[place] += 1
        self.sum += time
    }
}

extension PathCoordinator {
    /// Counts from now on; a second call changes nothing.
    package func keepTally() {
        self.state.withLock { state in
            if state.tally == nil { state.tally = CoordinatorTally(state.machine.path, at: self.clock.now()) }
        }
    }

    /// What was counted, and the moment; nil where nothing is.
    package var tally: (counts: CoordinatorTally, now: MonotonicTime)? {
        self.state.withLock { state in state.tally.map { ($0, self.clock.now()) } }
    }
}

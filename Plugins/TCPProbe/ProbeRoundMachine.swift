// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// One round over all targets, without input and output: what happens in, what to do out (RFC 8305, "happy eyeballs").
///
/// Attempts, lookups of names among them, start one after the other, each `stagger` after the one before or as soon as
/// one has failed or a name is resolved, alternating between targets and families. What answered last time comes
/// first, then addresses, which need no lookup. The first answer ends the round and abandons the rest; without one the
/// round ends when every address of every target has failed. A round after one that failed sends little: of each target
/// one address at a time until one is silent, and the next round begins with the next address.
struct ProbeRoundMachine: Sendable {
    /// What the performer has to do.
    enum Action: Hashable, Sendable {
        /// Look up the addresses of a name.
        case resolve(name: String)
        /// Start to connect.
        case connect(attempt: Int, ProbeEndpoint)
        /// Give an attempt up.
        case close(attempt: Int)
    }

    /// Of the addresses of a name only so many are tried.
    static let addressLimit = 8

    private enum Lookup: Hashable, Sendable {
        case needed
        case underWay(until: MonotonicTime)
        /// The addresses are known, or that there are none.
        case done
    }

    private struct Target: Sendable {
        let target: ProbeTarget
        var lookup: Lookup
        /// Whether one address is tried at a time, and none after one that was silent.
        let isSparing: Bool
        var waiting: [ProbeEndpoint] = []
        var tried = 0
        var inFlight = 0
        /// The outcome so far; final once nothing is waiting or in flight.
        var outcome: ProbeOutcome?

        var isDone: Bool { self.lookup == .done && self.waiting.isEmpty && self.inFlight == 0 }
        /// Whether there is something to start.
        var canStart: Bool {
            self.lookup == .needed || !self.waiting.isEmpty && !(self.isSparing && self.inFlight > 0)
        }
        var lookupDeadline: MonotonicTime? { if case .underWay(let until) = self.lookup { until } else { nil } }
    }

    private struct Attempt: Sendable {
        let target: Int
        let endpoint: ProbeEndpoint
        let startedAt: MonotonicTime
        let deadline: MonotonicTime
    }

    let startedAt: MonotonicTime
    private let timeout: Duration
    private let stagger: Duration
    private var targets: [Target]
    private var attempts: [Int: Attempt] = [:]
    /// Counts on from round to round, so that late words about an earlier round's attempts are told apart.
    private(set) var nextAttempt: Int
    /// Who answered last time, tried first: what works is confirmed with a single packet.
    private var preferred: ProbeWinner?
    private var nextStartAt: MonotonicTime
    private var lastFamily: AddressFamily?
    /// Who answered.
    private(set) var winner: ProbeWinner?
    /// Whether nothing came back of an attempt, or of the lookup of a name.
    private(set) var metSilence = false
    /// How many rounds in a row have failed before this one.
    private let failures: Int

    /// Begins a round.
    ///
    /// - Parameters:
    ///   - options: Whom to ask, and how long to wait.
    ///   - preferred: Who answered last time.
    ///   - pendingLookups: The names that are being looked up already; what comes of it is waited for.
    ///   - failures: How many rounds in a row have failed before this one.
    ///   - firstAttempt: The number of the first attempt.
    ///   - now: The time.
    init(
        _ options: TCPProbeMonitor.Options,
        preferred: ProbeWinner?,
        pendingLookups: Set<String>,
        failures: Int = 0,
        firstAttempt: Int,
        now: MonotonicTime
    ) {
        self.startedAt = now
        self.timeout = options.timeout
        self.stagger = options.stagger
        self.preferred = preferred
        self.failures = failures
        self.nextAttempt = firstAttempt
        self.nextStartAt = now
        self.targets = options.targets.map { target in
            switch target.host {
            case .address(let address, let zone):
                Target(
                    target: target,
                    lookup: .done,
                    isSparing: failures > 0,
                    waiting: [ProbeEndpoint(address: address, zone: zone, port: target.port)]
                )
            case .name(let name):
                Target(
                    target: target,
                    lookup: pendingLookups.contains(name) ? .underWay(until: now + options.timeout) : .needed,
                    isSparing: failures > 0
                )
            }
        }
    }

    /// Whether an endpoint answered, or everything has failed.
    var isFinished: Bool { self.winner != nil || self.targets.allSatisfy(\.isDone) }

    /// What is known; complete when every target was tried.
    var result: ProbeRound {
        let known = self.targets.filter { $0.isDone || $0.outcome?.result.isAnswer == true }
        return ProbeRound(outcomes: known.compactMap(\.outcome), isComplete: known.count == self.targets.count)
    }

    /// Whether the round waits for the addresses of a name.
    func isResolving(_ name: String) -> Bool { !self.targets(resolving: name).isEmpty }

    private func targets(resolving name: String) -> [Int] {
        self.targets.indices.filter { self.targets[$0].target.name == name && self.targets[$0].lookupDeadline != nil }
    }

    /// When to call ``proceed(now:budget:)`` if nothing happens.
    func nextDeadline(now: MonotonicTime, budget: AttemptBudget) -> MonotonicTime? {
        guard !self.isFinished else { return nil }
        var deadlines = self.targets.compactMap(\.lookupDeadline) + self.attempts.values.map(\.deadline)
        if self.targets.contains(where: \.canStart) {
            deadlines.append(max(self.nextStartAt, budget.available(now: now)))
        }
        return deadlines.min()
    }

    // MARK: Inputs

    /// Takes the addresses of a name, or why there are none.
    mutating func resolved(_ name: String, _ lookup: NameLookup, now: MonotonicTime) {
        self.nextStartAt = now
        for index in self.targets(resolving: name) {
            self.targets[index].lookup = .done
            let port = self.targets[index].target.port
            switch lookup {
            case .addresses(let addresses) where !addresses.isEmpty:
                let endpoints = Self.interleaved(addresses).prefix(Self.addressLimit).map {
                    ProbeEndpoint(address: $0, port: port)
                }
                let first = self.failures % endpoints.count
                self.targets[index].waiting = Array(endpoints[first...] + endpoints[..<first])
            case .addresses, .failed: self.fail(index, .notResolved)
            }
        }
    }

    /// Has a name looked up once more, what came of the first time being of no use.
    mutating func lookUpAgain(_ name: String, now: MonotonicTime) {
        self.nextStartAt = now
        for index in self.targets(resolving: name) { self.targets[index].lookup = .needed }
    }

    /// Takes the result of an attempt.
    mutating func ended(attempt: Int, _ result: ProbeOutcome.Result, now: MonotonicTime) -> [Action] {
        guard let ended = self.attempts.removeValue(forKey: attempt) else { return [] }
        self.targets[ended.target].inFlight -= 1
        guard result.isAnswer else {
            self.fail(ended.target, result)
            if result == .timedOut {
                self.metSilence = true
                if self.targets[ended.target].isSparing { self.targets[ended.target].waiting = [] }
            }
            // The next one need not wait for its turn.
            self.nextStartAt = now
            return []
        }
        self.winner = ProbeWinner(target: self.targets[ended.target].target, endpoint: ended.endpoint)
        self.targets[ended.target].outcome = ProbeOutcome(
            target: self.targets[ended.target].target.text,
            result: result,
            roundTrip: now - ended.startedAt
        )
        return self.abandon()
    }

    /// Gives everything up that is under way.
    mutating func abandon() -> [Action] {
        defer { self.attempts = [:] }
        return self.attempts.keys.sorted().map { .close(attempt: $0) }
    }

    /// Ends what has taken too long, and starts what is due and within the budget.
    mutating func proceed(now: MonotonicTime, budget: AttemptBudget) -> [Action] {
        guard self.winner == nil else { return [] }
        var actions: [Action] = []
        for (id, attempt) in self.attempts.sorted(by: { $0.key < $1.key }) where attempt.deadline <= now {
            actions.append(.close(attempt: id))
            actions += self.ended(attempt: id, .timedOut, now: now)
        }
        for index in self.targets.indices {
            guard let deadline = self.targets[index].lookupDeadline, deadline <= now else { continue }
            self.targets[index].lookup = .done
            self.metSilence = true
            self.fail(index, .notResolved)
        }
        while self.nextStartAt <= now, let index = self.nextTarget() {
            let target = self.targets[index].target
            if self.targets[index].lookup == .needed, let name = target.name, let lookup = target.lookup {
                guard budget.take(lookup, now: now) else { break }
                actions.append(self.lookUp(name, now: now))
            } else {
                guard budget.take(target.connection, now: now) else { break }
                actions.append(self.connect(index, now: now))
            }
        }
        return actions
    }

    // MARK: Choosing

    /// The target with the next thing to try: one with addresses, that was tried least, and the family that was not
    /// tried last.
    private func nextTarget() -> Int? {
        let candidates = self.targets.indices.filter { self.targets[$0].canStart }
        if let preferred, let target = candidates.first(where: { self.targets[$0].target == preferred.target }) {
            return target
        }
        return candidates.min { left, right in
            let (left, right) = (self.targets[left], self.targets[right])
            if left.lookup != right.lookup { return right.lookup == .needed }
            if left.tried != right.tried { return left.tried < right.tried }
            return self.isSameFamily(right) && !self.isSameFamily(left)
        }
    }

    private func isSameFamily(_ target: Target) -> Bool { target.waiting.first?.address.family == self.lastFamily }

    private mutating func lookUp(_ name: String, now: MonotonicTime) -> Action {
        self.nextStartAt = now + self.stagger
        for index in self.targets.indices where self.targets[index].target.name == name {
            self.targets[index].lookup = .underWay(until: now + self.timeout)
        }
        return .resolve(name: name)
    }

    private mutating func connect(_ index: Int, now: MonotonicTime) -> Action {
        let preferred = self.preferred.flatMap { self.targets[index].waiting.firstIndex(of: $0.endpoint) }
        let endpoint = self.targets[index].waiting.remove(at: preferred ?? 0)
        // Only once: it is one address among others now, and its target one among others.
        if self.preferred?.target == self.targets[index].target { self.preferred = nil }
        self.targets[index].tried += 1
        self.targets[index].inFlight += 1
        self.lastFamily = endpoint.address.family
        self.nextStartAt = now + self.stagger
        let id = self.nextAttempt
        self.nextAttempt += 1
        self.attempts[id] = Attempt(target: index, endpoint: endpoint, startedAt: now, deadline: now + self.timeout)
        return .connect(attempt: id, endpoint)
    }

    private mutating func fail(_ index: Int, _ result: ProbeOutcome.Result) {
        let known = self.targets[index].outcome?.result
        guard known.map({ $0.weight < result.weight }) ?? true else { return }
        self.targets[index].outcome = ProbeOutcome(target: self.targets[index].target.text, result: result)
    }

    /// Alternates the families, beginning with the resolver's first choice (RFC 8305 section 4).
    static func interleaved(_ addresses: [InternetAddress]) -> [InternetAddress] {
        var seen: Set<InternetAddress> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        let first = unique.filter { $0.family == unique.first?.family }
        let second = unique.filter { $0.family != unique.first?.family }
        let common = min(first.count, second.count)
        return zip(first, second).flatMap { [$0, $1] } + first.dropFirst(common) + second.dropFirst(common)
    }
}

extension ProbeOutcome.Result {
    /// Whether a host answered, be it with a refusal.
    var isAnswer: Bool { self == .connected || self == .refused }

    /// Which of several failures of one target says most: silence of the network, its refusal, and last what this host
    /// says of itself, such as that it has no IPv6.
    fileprivate var weight: Int {
        switch self {
        case .unreachable(let error): error == SystemError.networkUnreachable.errno ? 0 : 1
        default: 2
        }
    }
}

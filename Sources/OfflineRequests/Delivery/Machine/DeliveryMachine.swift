// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP

/// Decides what may be sent when, and what becomes of a request after an attempt.
///
/// It does nothing itself: its owner sends what it allows, writes down what it says, and looks again at the time
/// it names. It knows the requests that are being sent and nothing of those that wait, however many they are.
///
/// What must stay true: time without a path and attempts that did not leave this host cost no request anything, and
/// yet nothing is tried in a circle without a pause.
struct DeliveryMachine: Sendable {
    let settings: QueueSettings
    var random: any RandomNumberGenerator & Sendable

    /// Which of those that wait for their time go now.
    enum Promotion: Comparable, Sendable {
        case due
        case restored
        case all
    }

    var isPaused = false
    /// Which of those that wait for their time go now, once there is a path; `due` when that has been done.
    var promotion = Promotion.due
    private(set) var facts: PathFacts?
    /// When hosts beyond a router that are reached without a path to the internet have been so for long enough.
    private var nearFrom: [String: MonotonicTime] = [:]
    /// When a path that returned has proved itself; may have passed.
    private(set) var opensAt: MonotonicTime?
    /// How many requests may be sent at the same time: few after a path returned, then more with every success.
    private var limit: Int
    private(set) var running: [UUID: Attempt] = [:]
    /// The hosts whose last attempt failed: a queue that has sent to a million hosts remembers none that works.
    private(set) var hosts: [String: HostHealth] = [:]
    /// Hosts that have answered and not failed since; not all of them, if they are many.
    private(set) var proven: Set<String> = []
    /// When hosts that were left alone were last tried again.
    private(set) var probedAt: MonotonicTime?
    var turns = 0

    struct Attempt: Hashable, Sendable {
        var host: String
        var since: MonotonicTime
    }

    init(
        settings: QueueSettings = QueueSettings(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.settings = settings
        self.random = random
        self.limit = Self.places(settings.concurrency)
    }

    /// As many places as settings name: at least one, and as many as can be counted where there is to be no limit.
    static func places(_ count: Int) -> Int { min(max(1, count), 1 << 16) }

    // MARK: What happens

    /// The network changed; returns whether the path has returned.
    ///
    /// Where nothing is known any more what was known before is left: a broken backend does not mean offline.
    @discardableResult
    mutating func path(_ facts: PathFacts, at now: Moment) -> Bool {
        guard facts.update.path != nil || self.facts == nil else { return false }
        // A path that was there when the queue was opened has not returned.
        let isRestored = facts.isSatisfied && self.facts?.isSatisfied == false
        // What another host has answered in the server's place need not wait for its time either.
        let isFreed =
            [.portal, .unreachable].contains(self.facts?.update.internet) && facts.update.internet == .reachable
        self.facts = facts
        if isRestored || isFreed { self.promote(.restored) }
        guard isRestored else { return false }
        self.opensAt = self.settled(after: now)
        self.limit = 1
        // What failed over the path that went away says nothing about the hosts.
        self.hosts = [:]
        return true
    }

    /// When what returned now has proved itself, at another time for each of a fleet.
    private mutating func settled(after now: Moment) -> MonotonicTime {
        let jitter = Int64.random(in: 0...max(0, self.settings.reconnectJitter.inNanoseconds), using: &self.random)
        return now.monotonic + max(.zero, self.settings.minimumOnline) + .nanoseconds(jitter)
    }

    /// There is a way to a host, or none any more; beyond a router the path to the internet may be about to return.
    mutating func host(_ host: String, isReachable: Bool, isBeyondRouter: Bool, at now: Moment) {
        if isReachable { self.facts?.nearHosts.insert(host) } else { self.facts?.nearHosts.remove(host) }
        if !isBeyondRouter {
            self.nearFrom[host] = nil
        } else if self.nearFrom[host] == nil {
            self.nearFrom[host] = self.settled(after: now)
        }
    }

    /// Nothing is asked about other hosts any more.
    mutating func forgetHosts(but hosts: Set<String>) {
        self.facts?.nearHosts.formIntersection(hosts)
        self.nearFrom = self.nearFrom.filter { hosts.contains($0.key) }
    }

    /// Until when a host is not sent to that has just been found near.
    func nearFrom(_ host: String, at now: Moment) -> MonotonicTime? {
        self.facts?.isSatisfied == true ? nil : self.nearFrom[host].flatMap { $0 > now.monotonic ? $0 : nil }
    }

    /// More of those that wait for their time go now.
    mutating func promote(_ promotion: Promotion) { self.promotion = max(self.promotion, promotion) }

    /// A caller does not want to wait: what waits only by its settings goes now.
    mutating func force() {
        self.promote(.all)
        self.opensAt = nil
        self.limit = self.concurrency
        self.hosts = [:]
    }

    /// A caller does not want to wait for a host: it is left alone no longer.
    mutating func force(host: String) {
        self.hosts[host] = nil
    }

    mutating func started(_ id: UUID, gate: Gate, at now: Moment) {
        let attempt = Attempt(host: gate.host, since: now.monotonic)
        precondition(self.running.updateValue(attempt, forKey: id) == nil, "\(id) is being sent already")
        guard var health = self.hosts[gate.host] else { return }
        health.probes += 1
        if health.pauses > 0 { self.probedAt = now.monotonic }
        self.hosts[gate.host] = health
    }

    /// A request is not being sent any more, and its end does not matter, for example because it was removed.
    mutating func dropped(_ id: UUID) {
        self.running[id] = nil
    }

    /// An attempt ended; says what becomes of the request, which has the attempts that counted before this one.
    mutating func finished(
        _ id: UUID,
        request: RetryableRequest,
        result: AttemptResult,
        at now: Moment
    ) -> Disposition {
        let (outcome, host) = self.settings.outcome(of: result, for: request, at: now.wall)
        self.learn(host, from: self.running[id]?.host, at: now)
        self.dropped(id)
        return switch outcome {
        case .succeeded: .succeeded
        case .notSent: .waitForPath
        case .again(let retryAfter): self.again(request, failure: result.failure(of: request), retryAfter: retryAfter)
        case .hold(let reason): .hold(reason)
        case .misled(let reason): self.misled(request, reason, failure: result.failure(of: request))
        case .final: .dead(reason: result.failure(of: request))
        }
    }

    /// What prepares a request before it is sent failed: nothing left this host.
    ///
    /// The wait grows with `attempts`, how many were begun in all, this one among them.
    mutating func prepareFailed(_ id: UUID, attempts: Int) -> Disposition {
        self.dropped(id)
        return .retry(after: self.pause(attempt: attempts - 1), countsAttempt: false)
    }

    /// How many requests may be sent at the same time: few after a path returned, then twice as many with every answer,
    /// and with every few seconds, since a server that does not answer must not keep the others waiting.
    func limit(at now: Moment) -> Int {
        guard let opensAt, self.limit < self.concurrency else { return self.limit }
        return min(self.limit << min(Self.steps(from: opensAt, to: now), 32), self.concurrency)
    }

    func nextStep(after now: Moment) -> MonotonicTime? {
        guard let opensAt, self.limit(at: now) < self.concurrency else { return nil }
        return opensAt + .nanoseconds((Self.steps(from: opensAt, to: now) + 1) * Self.rampInterval.inNanoseconds)
    }

    private static let rampInterval: Duration = .seconds(3)

    private static func steps(from opensAt: MonotonicTime, to now: Moment) -> Int64 {
        max(0, (now.monotonic - opensAt).inNanoseconds / Self.rampInterval.inNanoseconds)
    }
}

extension DeliveryMachine {
    private mutating func learn(_ lesson: Outcome.Host, from host: String?, at now: Moment) {
        if lesson == .works { self.limit = min(self.limit * 2, self.concurrency) }
        guard let host, lesson != .unknown else { return }
        if lesson == .works {
            self.hosts[host] = nil
            return self.prove(host)
        }
        self.proven.remove(host)
        if self.hosts[host] == nil, self.hosts.count >= 256 {
            // Those that nothing has been sent to for so long have nothing left that waits for them.
            let longest = self.settings.maxBackoff + .seconds(3600)
            self.hosts = self.hosts.filter { $1.leftAlone.map { $0 + longest > now.monotonic } ?? true }
        }
        var health = self.hosts[host] ?? HostHealth()
        switch lesson {
        case .unknown, .works: ()
        case .faulted:
            // The shortest pause, however often: it was reached, and the next request may be another matter.
            if health.faulted(at: now.monotonic, self.settings) {
                health.pause(until: now.monotonic + self.pause(attempt: 0), isReached: true)
            }
        case .failed, .notReached:
            guard health.failed(pausesAtOnce: lesson == .notReached, at: now.monotonic, self.settings) else { break }
            let retryAfter: Duration? = if case .failed(let time) = lesson { time } else { nil }
            let pause = max(self.pause(attempt: health.pauses), min(retryAfter ?? .zero, self.settings.maxBackoff))
            health.pause(until: now.monotonic + pause, isReached: false)
        }
        self.hosts[host] = health
    }

    /// Remembers that a host works, of some thousand hosts at most.
    private mutating func prove(_ host: String) {
        if self.proven.count >= 1_024 { _ = self.proven.popFirst() }
        self.proven.insert(host)
    }

    /// The request is tried again, unless this was its last attempt.
    private mutating func again(_ request: RetryableRequest, failure: String, retryAfter: Duration?) -> Disposition {
        guard request.retryCount < request.maxRetries else {
            let attempts = request.retryCount == 0 ? "1 attempt" : "\(request.retryCount + 1) attempts"
            return .dead(reason: "given up after \(attempts): \(failure)")
        }
        let backoff = self.settings.fullJitter(attempt: request.retryCount, using: &self.random)
        return .retry(after: max(backoff, retryAfter ?? .zero), countsAttempt: true)
    }

    /// Another host may have answered: it waits as long as that is likely, and then for a decision.
    private mutating func misled(
        _ request: RetryableRequest,
        _ reason: WaitingReason,
        failure: String
    ) -> Disposition {
        // What came over TLS came from the server, and would come again.
        switch Gate(request).isPlain ? self.facts?.update.internet ?? .unknown : .reachable {
        case .portal, .unreachable: return .retry(after: self.pause(attempt: 5), countsAttempt: false)
        case .unknown where request.retryCount < request.maxRetries:
            return self.again(request, failure: failure, retryAfter: nil)
        case .unknown, .reachable: break
        }
        // A lane that is not to stand still goes on.
        let isLane = request.orderingKey != nil && request.onFailure != .hold
        return isLane ? .dead(reason: "\(failure); \(reason)") : .hold(reason)
    }

    /// A wait that is never none.
    private mutating func pause(attempt: Int) -> Duration {
        self.settings.equalJitter(attempt: attempt, using: &self.random)
    }
}

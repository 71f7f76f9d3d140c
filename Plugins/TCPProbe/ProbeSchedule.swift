// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// When rounds run and what of them is reported, without input and output: what happens in, what to do out.
///
/// A round runs at the start, on every refresh, and every `interval`, or `meteredInterval`; after a failure sooner, from
/// 1 s doubling up to `interval`, and up to `backoff` while nothing comes back: then packets are all that a round brings.
/// What the last finished round brought is reported until the next one ends or `validFor` has passed: a
/// change of the network makes it doubtful, not wrong, and forgetting it at once would make every event a flap. It is
/// also what a refresh is answered with, with the time at which it ended, be there a round that the budget allows or not;
/// and what a monitor that is started anew begins with.
///
/// A refresh during a round means that the network changed under it. The round gets a moment to end, twice as long for
/// each round in a row that was disturbed; then it is replaced. A disturbed round that ends without an answer says
/// nothing about the new network and is repeated at once, but after a few of them it counts: a network that never
/// comes to rest has to be told about too.
struct ProbeSchedule: Sendable {
    /// What the performer has to do.
    enum Action: Hashable, Sendable {
        /// A step of the running round.
        case round(ProbeRoundMachine.Action)
        /// Report what is known.
        case report(ProbeRound, at: MonotonicTime)
    }

    /// The first report waits this long for the first round, which is all that one-shot commands see.
    ///
    /// The coordinator gives every backend 2 s.
    static let firstReportLimit: Duration = .milliseconds(1500)
    /// How long a disturbed round may go on, for the first in a row.
    static let disturbedLimit: Duration = .milliseconds(250)
    /// So many disturbed rounds in a row are not reported when they fail.
    static let disturbedRounds = 4
    /// The first pause after a failure.
    static let firstPause: Duration = .seconds(1)

    private let options: TCPProbeMonitor.Options
    private var random: any RandomNumberGenerator & Sendable
    private let ledger: ProbeLedger
    private let budget: AttemptBudget
    private var round: ProbeRoundMachine?
    private var nextRoundAt: MonotonicTime
    private var nextAttempt = 0
    /// Whether the path is metered or constrained.
    var isMetered = false
    /// Whether the network changed since the last round began.
    private var isTriggered = false
    private var disturbed = 0
    private var failures = 0
    /// The last finished round, be it of an earlier run; nil when it does not count any more.
    private var last: ProbeLedger.Finding?
    /// Who answered the last finished round.
    private var preferred: ProbeWinner?
    /// When to speak even though nothing is known; nil after the first report.
    private var firstReportAt: MonotonicTime?
    /// The lookups that were asked for and have not come back; true when in the running round.
    private var lookups: [String: Bool] = [:]

    init(
        _ options: TCPProbeMonitor.Options,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        ledger: ProbeLedger,
        now: MonotonicTime
    ) {
        self.options = options
        self.random = random
        self.ledger = ledger
        self.budget = AttemptBudget(options.targets, perMinute: options.maxPerMinute, ledger: ledger)
        self.nextRoundAt = now
        self.last = ledger.finding(options.question, now: now)
        self.preferred = self.last?.winner
        self.firstReportAt = self.last == nil ? now + Self.firstReportLimit : now
    }

    /// When to call ``proceed(now:)`` if nothing happens.
    func nextDeadline(now: MonotonicTime) -> MonotonicTime {
        var deadlines = [self.firstReportAt, self.last?.until].compactMap { $0 }
        if let round {
            if let next = round.nextDeadline(now: now, budget: self.budget) { deadlines.append(next) }
            if self.isTriggered { deadlines.append(self.replaceAt(round, now: now)) }
        } else {
            deadlines.append(self.beginAt(now: now))
        }
        return deadlines.min() ?? self.nextRoundAt
    }

    // MARK: Inputs

    /// The network may have changed: tells what is known at once, and finds out anew.
    mutating func refresh(now: MonotonicTime) -> [Action] {
        self.isTriggered = true
        self.failures = 0
        if self.round == nil { self.nextRoundAt = now }
        // Before the first word no client waits for an answer.
        let answer = self.firstReportAt == nil ? [self.report(now: now)] : []
        return answer + self.proceed(now: now)
    }

    /// A lookup came back.
    mutating func resolved(_ name: String, _ lookup: NameLookup, now: MonotonicTime) -> [Action] {
        let isCurrent = self.lookups.removeValue(forKey: name) ?? false
        guard self.round?.isResolving(name) == true else { return [] }
        if case .failed = lookup, !isCurrent {
            // It was asked on another network; an address would do, but not a failure.
            self.round?.lookUpAgain(name, now: now)
        } else {
            self.round?.resolved(name, lookup, now: now)
        }
        return self.proceed(now: now)
    }

    /// An attempt has ended.
    mutating func ended(attempt: Int, _ result: ProbeOutcome.Result, now: MonotonicTime) -> [Action] {
        let actions = self.round?.ended(attempt: attempt, result, now: now) ?? []
        return actions.map(Action.round) + self.proceed(now: now)
    }

    /// Does what is due.
    mutating func proceed(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let round, self.isTriggered, self.replaceAt(round, now: now) <= now {
            self.disturbed += 1
            actions += self.round?.abandon().map(Action.round) ?? []
            self.close()
            self.nextRoundAt = now
        }
        if self.round == nil, self.beginAt(now: now) <= now { self.begin(now: now) }
        let budget = self.budget
        let steps = self.round?.proceed(now: now, budget: budget) ?? []
        for action in steps {
            if case .resolve(let name) = action { self.lookups[name] = true }
            actions.append(.round(action))
        }
        if let round, round.isFinished { actions += self.finish(round, now: now) }
        if let last, last.until <= now {
            self.last = nil
            actions.append(self.report(now: now))
        }
        if let firstReportAt, firstReportAt <= now { actions.append(self.report(now: now)) }
        return actions
    }

    // MARK: Rounds

    /// When the next round begins.
    private func beginAt(now: MonotonicTime) -> MonotonicTime {
        max(self.nextRoundAt, self.budget.nextRound(taking: self.options.attemptsToAnswer, now: now))
    }

    /// When a round under which the network has changed is replaced.
    ///
    /// Not before there is enough for the whole of the new one: where attempts are scarce they are for the round that
    /// runs, or none would come to its end.
    private func replaceAt(_ round: ProbeRoundMachine, now: MonotonicTime) -> MonotonicTime {
        max(
            round.startedAt + Self.disturbedLimit * (1 << min(self.disturbed, 10)),
            self.beginAt(now: now),
            self.budget.available(self.options.attemptsOfWholeRound, now: now)
        )
    }

    private mutating func begin(now: MonotonicTime) {
        self.isTriggered = false
        for name in self.lookups.keys { self.lookups[name] = false }
        self.round = ProbeRoundMachine(
            self.options,
            preferred: self.preferred,
            pendingLookups: Set(self.lookups.keys),
            // Where rounds are wanted as often as ever, they are wanted whole.
            failures: self.options.longestBackoff > self.options.interval ? self.failures : 0,
            firstAttempt: self.nextAttempt,
            now: now
        )
    }

    private mutating func close() {
        self.nextAttempt = self.round?.nextAttempt ?? self.nextAttempt
        self.round = nil
    }

    private mutating func finish(_ round: ProbeRoundMachine, now: MonotonicTime) -> [Action] {
        self.close()
        self.preferred = round.winner
        if round.winner == nil, self.isTriggered, self.disturbed < Self.disturbedRounds {
            self.disturbed += 1
            self.nextRoundAt = now
            return []
        }
        self.disturbed = 0
        self.failures = round.winner == nil ? self.failures + 1 : 0
        let pause = self.pause(after: round)
        let finding = ProbeLedger.Finding(
            round: round.result,
            endedAt: now,
            until: now + self.options.validFor * max(1, pause / self.options.interval),
            winner: round.winner
        )
        self.last = finding
        self.ledger.keep(finding, of: self.options.question)
        // A fleet of devices that lost the same thing must not come back in step.
        let jitter = Double.random(in: 0.9...1.1, using: &self.random)
        self.nextRoundAt = self.isTriggered ? now : now + pause * jitter
        return [self.report(now: now)]
    }

    private func pause(after round: ProbeRoundMachine) -> Duration {
        let usual = self.options.usualPause(isMetered: self.isMetered)
        if self.failures == 0 { return usual }
        let longest = round.metSilence ? max(usual, self.options.longestBackoff) : usual
        return min(longest, Self.firstPause * (1 << min(self.failures - 1, 20)))
    }

    private mutating func report(now: MonotonicTime) -> Action {
        self.firstReportAt = nil
        guard let last else { return .report(ProbeRound(outcomes: [], isComplete: false), at: now) }
        return .report(last.round, at: last.endedAt)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// When a wait ends and why, without input and output.
///
/// Every input takes the time; the caller wakes the machine at ``nextDeadline``. With an ``outcome`` nothing changes any
/// more.
struct WaitMachine: Sendable {
    /// How a wait ends.
    enum Outcome: Hashable, Sendable {
        /// The conditions are met, and have been for as long as they had to be.
        case met
        /// They were not in time.
        case timedOut
        /// Nothing that is there now can come up, with the reason.
        case hopeless(String)
    }

    /// What ends it.
    struct Terms: Sendable {
        var conditions: WaitConditions
        /// How long they have to be met without a break.
        var stable: Duration = .zero
        /// How long to wait; nil for as long as it takes.
        var timeout: Duration?
        /// Whether to end early when nothing that is there now can come up.
        var failsFast = false
    }

    /// However short the time is, there is so much of it for the first answer.
    static let firstLook: Duration = .seconds(1)

    let terms: Terms
    let startedAt: MonotonicTime
    private(set) var view: WaitView
    private(set) var outcome: Outcome?
    /// Since when the conditions are met; nil while they are not.
    private var heldSince: MonotonicTime?
    private var prospects = WaitProspects()

    init(_ terms: Terms, policy: EvaluationPolicy = EvaluationPolicy(), now: MonotonicTime) {
        self.terms = terms
        self.startedAt = now
        self.view = WaitView(policy: policy)
    }

    // MARK: Inputs

    /// Takes what has become known.
    mutating func take(at now: MonotonicTime, _ change: (inout WaitView) -> Void) {
        guard self.outcome == nil else { return }
        change(&self.view)
        // What has been missing for too long may be called otherwise now.
        if self.terms.failsFast { self.prospects.update(self.view, at: now) }
        self.decide(at: now)
    }

    /// Does what is due.
    mutating func wake(at now: MonotonicTime) { self.take(at: now) { _ in } }

    private mutating func decide(at now: MonotonicTime) {
        let value = self.terms.conditions.isMet(in: self.view)
        self.heldSince = value == true ? self.heldSince ?? now : nil
        if let heldSince, heldSince + self.terms.stable <= now {
            self.outcome = .met
        } else if self.isOver(at: now, isKnown: value != nil) {
            self.outcome = .timedOut
        } else if self.terms.failsFast, self.heldSince == nil,
            let reason = self.prospects.unmeetableReason(of: self.terms.conditions, in: self.view, at: now)
        {
            self.outcome = .hopeless(reason)
        }
    }

    private func isOver(at now: MonotonicTime, isKnown: Bool) -> Bool {
        guard let deadline, deadline <= now else { return false }
        return isKnown || self.startedAt + Self.firstLook <= now
    }

    private var deadline: MonotonicTime? { self.terms.timeout.map { self.startedAt + $0 } }

    /// When to wake the machine; nil when only news can change anything.
    func nextDeadline(after now: MonotonicTime) -> MonotonicTime? {
        guard self.outcome == nil else { return nil }
        let moments = [
            self.heldSince.map { $0 + self.terms.stable },
            self.deadline.map { now < $0 ? $0 : self.startedAt + Self.firstLook },
            self.terms.failsFast ? self.prospects.nextDeadline(after: now) : nil,
        ]
        return moments.compactMap(\.self).min()
    }

    // MARK: For people

    /// What is missing now; nil when nothing is.
    func missing(at now: MonotonicTime) -> String? {
        if self.outcome == nil, let heldSince {
            return "met for \(seconds(now - heldSince)) of \(DurationText.format(self.terms.stable))"
        }
        return self.terms.conditions.missing(in: self.view, at: now)
    }

    /// The line that a terminal shows: what is missing, and for how long the wait has lasted.
    func progress(at now: MonotonicTime) -> String {
        "\(self.missing(at: now) ?? "done"), \(seconds(now - self.startedAt))"
    }

    /// When that line reads otherwise although nothing happened.
    func nextSecond(after now: MonotonicTime) -> MonotonicTime {
        let seconds = (now - self.startedAt).inNanoseconds / 1_000_000_000
        return self.startedAt + .seconds(seconds + 1)
    }
}

private func seconds(_ duration: Duration) -> String { "\(duration.inNanoseconds / 1_000_000_000) s" }

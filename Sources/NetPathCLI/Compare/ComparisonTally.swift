// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Counts which of several backends noticed what, and when, without input and output.
///
/// No source is known to be right, so the backends are measured against one another:
///
/// - A *change* begins when the status of a backend changes. The same transition of another backend belongs to
///   it while the change is the latest one, or began no longer than ``window`` ago. The status alone counts: the
///   reasons for one status may rightly differ.
/// - A backend has *seen* a change when its own transition belongs to it; its *delay* is the time since the change
///   began, zero for the backend that was first.
/// - A backend that had a verdict when a change began has *missed* it when the window is over without its transition.
///   A transition that comes later, while the change is still the latest one, makes it seen after all.
/// - A transition is *false* when the backend takes it back within the window, no other backend made it, and another
///   one reported the old status in between. It is no change then, and no backend can miss it.
struct ComparisonTally: Hashable, Sendable {
    /// What is counted of one backend.
    struct Counts: Hashable, Sendable {
        /// Whether it has a verdict now.
        fileprivate var hasVerdict = false
        /// That of the last verdict it had.
        fileprivate var status: PathStatus?
        /// How long after the first to notice each change was seen.
        fileprivate(set) var delays: [Duration] = []
        /// The number of changes not noticed in time.
        fileprivate(set) var missed = 0
        /// The number of transitions that it took back and no other backend shared.
        fileprivate(set) var falseTransitions = 0
        /// The number of changes seen for another reason than the first to notice gave.
        fileprivate(set) var otherReasons = 0

        /// The number of changes noticed.
        var seen: Int { self.delays.count }

        /// The lower median of the delays; nil when nothing was seen.
        var medianDelay: Duration? {
            self.delays.isEmpty ? nil : self.delays.sorted()[(self.delays.count - 1) / 2]
        }
    }

    private struct Change: Hashable, Sendable {
        let former: PathStatus
        let status: PathStatus
        let reason: PathReason.Code
        let opener: String
        let beganAt: MonotonicTime
        /// Those who had a verdict then, and so should notice.
        let expected: [String]
        /// When each backend noticed.
        var noticed: [String: MonotonicTime]
        /// Whether another backend reported anew what had been before.
        var isContradicted = false
    }

    /// How long the others may take to notice a change.
    static let window: Duration = .seconds(5)

    private var backends: [String: Counts] = [:]
    /// When each backend had its first verdict.
    private var beginnings: [String: MonotonicTime] = [:]
    /// Those that may still be noticed, in the order in which they began.
    private var changes: [Change] = []
    private var settledCount = 0

    /// Takes what a backend reported, also when it says the same again.
    ///
    /// - Parameters:
    ///   - name: The backend.
    ///   - verdict: What it says; nil when it has no verdict.
    ///   - now: When it said so.
    mutating func record(_ name: String, _ verdict: Verdict?, at now: MonotonicTime) {
        while self.changes.count > 1, now - self.changes[0].beganAt > Self.window {
            self.count(self.changes.removeFirst(), at: now)
        }
        self.backends[name, default: Counts()].hasVerdict = verdict != nil
        guard let verdict else { return }
        switch self.backends[name]?.status {
        case nil: self.beginnings[name] = now
        case verdict.status:
            for position in self.changes.indices
            where self.changes[position].former == verdict.status && self.changes[position].opener != name {
                self.changes[position].isContradicted = true
            }
        case let former?: self.turn(name, from: former, to: verdict, at: now)
        }
        self.backends[name]?.status = verdict.status
    }

    /// Takes a transition for the end of a false one, for a part of the latest change that fits, or for a new change.
    private mutating func turn(_ name: String, from former: PathStatus, to verdict: Verdict, at now: MonotonicTime) {
        let last = self.changes.lastIndex { $0.noticed[name] != nil }
        if let last, case let change = self.changes[last], change.opener == name, change.former == verdict.status,
            change.isContradicted, change.noticed.count == 1, now - change.beganAt <= Self.window
        {
            self.changes.remove(at: last)
            self.backends[name]?.falseTransitions += 1
            return
        }
        let later = self.changes.indices.suffix(from: last.map { $0 + 1 } ?? 0)
        if let position = later.last(where: { self.changes[$0].status == verdict.status }) {
            self.changes[position].noticed[name] = now
            if self.changes[position].reason != verdict.reason.code { self.backends[name]?.otherReasons += 1 }
            return
        }
        self.changes.append(
            Change(
                former: former,
                status: verdict.status,
                reason: verdict.reason.code,
                opener: name,
                beganAt: now,
                expected: self.backends.filter(\.value.hasVerdict).map(\.key),
                noticed: [name: now]
            )
        )
    }

    private mutating func count(_ change: Change, at now: MonotonicTime) {
        self.settledCount += 1
        for (name, time) in change.noticed { self.backends[name]?.delays.append(max(.zero, time - change.beganAt)) }
        guard now - change.beganAt > Self.window else { return }
        for name in change.expected where change.noticed[name] == nil { self.backends[name]?.missed += 1 }
    }

    /// Counts everything up to a moment; a change that the others may still notice does not count as missed.
    ///
    /// - Returns: The number of changes, and what is counted of each backend, by name.
    func counts(at now: MonotonicTime) -> (changes: Int, backends: [(key: String, value: Counts)]) {
        var tally = self
        for change in self.changes { tally.count(change, at: now) }
        return (tally.settledCount, tally.backends.sorted { $0.key < $1.key })
    }

    /// How long after the first to notice a backend noticed the latest change; before any, how long after the first
    /// report of all its own first report came.
    ///
    /// - Returns: The delay, zero for the first; nil when the backend has not noticed.
    func delay(of name: String) -> Duration? {
        let noticed = self.changes.last?.noticed ?? self.beginnings
        guard let own = noticed[name], let first = noticed.values.min() else { return nil }
        return own - first
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Counts which of several backends noticed what, and when, without input and output.
///
/// No source is known to be right, so the backends are measured against one another:
///
/// - A *change* begins when a backend goes over to another status. The same transition of another backend belongs to
///   it while the change is the latest one, or began no longer than ``window`` ago. The status alone counts: the
///   reasons for one status may rightly differ.
/// - A backend has *seen* a change when its own transition belongs to it; its *delay* is the time since the change
///   began, zero for the backend that was first.
/// - A backend that had a verdict when a change began has *missed* it when the window is over without its transition.
///   A transition that comes later, while the change is still the latest one, makes it seen after all.
/// - A transition is *false* when the backend takes it back within the window, no other backend has shared it, and
///   another one has in between reported that it was not so. It is no change then, and no backend can miss it.
struct ComparisonTally: Hashable, Sendable {
    /// What a backend says.
    struct Answer: Hashable, Sendable {
        var status: PathStatus
        var reason: PathReason.Code
    }

    private struct Change: Hashable, Sendable {
        let number: Int
        let former: PathStatus
        let answer: Answer
        let opener: Int
        let beganAt: MonotonicTime
        /// Those who had a verdict then, and so should notice.
        let expected: Set<Int>
        /// When each backend noticed.
        var noticed: [Int: MonotonicTime]
        /// Whether another backend reported anew what had been before.
        var isContradicted = false
    }

    private struct Backend: Hashable, Sendable {
        let name: String
        var hasOpinion = false
        /// The last verdict it had.
        var answer: Answer?
        var firstWordAt: MonotonicTime?
        var latestChange = 0
        var counts = Counts()
    }

    /// How long the others may take to notice a change.
    static let window: Duration = .seconds(5)

    private var backends: [Backend] = []
    /// Those that may still be noticed, in the order in which they began.
    private var changes: [Change] = []
    private var lastNumber = 0
    private var settledCount = 0

    // MARK: Histories

    /// Takes what a backend reported, also when it says the same again.
    ///
    /// - Parameters:
    ///   - name: The backend.
    ///   - answer: What it says; nil when it has no verdict.
    ///   - now: When it said so.
    mutating func record(_ name: String, _ answer: Answer?, at now: MonotonicTime) {
        self.settle(at: now)
        let index = self.index(of: name)
        self.backends[index].hasOpinion = answer != nil
        guard let answer else { return }
        let former = self.backends[index].answer
        self.backends[index].answer = answer
        guard let former else {
            self.backends[index].firstWordAt = now
            return
        }
        if former.status == answer.status {
            self.contradict(by: index, saying: answer.status)
        } else if !self.takeBack(index, to: answer.status, at: now) {
            self.notice(index, answer, former: former.status, at: now)
        }
    }

    private mutating func index(of name: String) -> Int {
        if let index = self.backends.firstIndex(where: { $0.name == name }) { return index }
        self.backends.append(Backend(name: name))
        return self.backends.count - 1
    }

    private mutating func contradict(by index: Int, saying status: PathStatus) {
        for position in self.changes.indices
        where self.changes[position].former == status && self.changes[position].opener != index {
            self.changes[position].isContradicted = true
        }
    }

    /// Takes a transition for the end of a false one.
    private mutating func takeBack(_ index: Int, to status: PathStatus, at now: MonotonicTime) -> Bool {
        let position = self.changes.lastIndex { change in
            change.number == self.backends[index].latestChange && change.opener == index && change.former == status
                && change.isContradicted && change.noticed.count == 1 && now - change.beganAt <= Self.window
        }
        guard let position else { return false }
        self.changes.remove(at: position)
        self.backends[index].counts.falseTransitions += 1
        return true
    }

    private mutating func notice(_ index: Int, _ answer: Answer, former: PathStatus, at now: MonotonicTime) {
        let latest = self.backends[index].latestChange
        let position = self.changes.lastIndex { change in
            change.answer.status == answer.status && change.number > latest
        }
        if let position {
            let change = self.changes[position]
            self.changes[position].noticed[index] = now
            self.backends[index].latestChange = change.number
            if change.answer.reason != answer.reason { self.backends[index].counts.otherReasons += 1 }
            return
        }
        self.lastNumber += 1
        self.backends[index].latestChange = self.lastNumber
        self.changes.append(
            Change(
                number: self.lastNumber,
                former: former,
                answer: answer,
                opener: index,
                beganAt: now,
                expected: Set(self.backends.indices.filter { self.backends[$0].hasOpinion }),
                noticed: [index: now]
            )
        )
    }

    /// Counts the changes whose window is over.
    private mutating func settle(at now: MonotonicTime) {
        while self.changes.count > 1, now - self.changes[0].beganAt > Self.window {
            self.count(self.changes.removeFirst(), at: now)
        }
    }

    private mutating func count(_ change: Change, at now: MonotonicTime) {
        self.settledCount += 1
        for index in self.backends.indices {
            if let time = change.noticed[index] {
                self.backends[index].counts.delays.append(max(.zero, time - change.beganAt))
            } else if change.expected.contains(index), now - change.beganAt > Self.window {
                self.backends[index].counts.missed += 1
            }
        }
    }
}

extension ComparisonTally {
    /// What is counted of one backend.
    struct Counts: Hashable, Sendable {
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

    /// Counts everything up to a moment; a change that the others may still notice does not count as missed.
    ///
    /// - Returns: The number of changes, and what is counted of the backends in the order of their first report.
    func counts(at now: MonotonicTime) -> (changes: Int, backends: [(name: String, counts: Counts)]) {
        var tally = self
        for change in self.changes { tally.count(change, at: now) }
        return (tally.settledCount, tally.backends.map { ($0.name, $0.counts) })
    }

    /// How long after the first to notice a backend noticed the latest change; before any, how long after the first
    /// report of all its own first report came.
    ///
    /// - Returns: The delay, zero for the first; nil when the backend has not noticed.
    func delay(of name: String) -> Duration? {
        guard let index = self.backends.firstIndex(where: { $0.name == name }) else { return nil }
        if let change = self.changes.last {
            guard self.backends[index].answer?.status == change.answer.status else { return nil }
            return change.noticed[index].map { max(.zero, $0 - change.beganAt) }
        }
        guard let own = self.backends[index].firstWordAt,
            let first = self.backends.compactMap(\.firstWordAt).min()
        else { return nil }
        return max(.zero, own - first)
    }
}

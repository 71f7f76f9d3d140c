// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

/// What several backends say at one moment, side by side.
struct Comparison: Hashable, Sendable {
    /// What a backend can see at all, as its evidence tells.
    enum Sight: String, Hashable, Sendable {
        /// What the kernel would do with a packet.
        case kernel
        /// Interfaces, addresses and a part of the routes.
        case part
        /// Whether hosts answer.
        case hosts
        /// Nothing that it shows: it states a conclusion.
        case conclusion
    }

    /// One backend.
    struct Column: Hashable, Sendable {
        var type: String
        var report: BackendReport
        /// Nil unless the backend is healthy: what it said before it failed does not count.
        var verdict: Verdict?
        /// What it states, instead of evidence or beside it.
        var conclusion: Conclusion?
        /// Nil before the first report.
        var sight: Sight?
        /// How long after the first to notice it noticed the present state; nil when it has not.
        var delay: Duration?

        fileprivate init(_ snapshot: BackendSnapshot, type: String?) {
            self.type = type ?? snapshot.report.name
            self.report = snapshot.report
            self.verdict = snapshot.report.health == .healthy ? snapshot.verdict : nil
            self.conclusion = snapshot.evidence?.conclusion
            self.sight = snapshot.evidence.flatMap(\.sight)
        }

        var name: String { self.report.name }
    }

    /// In order of priority.
    var columns: [Column]
    /// What they are merged into; nil while none has a verdict.
    var path: NetworkPath?
    /// When this was so, for ages and for `time`.
    @EqualityIgnored var takenAt: ClockReading

    /// The backends that have a verdict; the others are compared with the first of them.
    var speakers: [Column] { self.columns.filter { $0.verdict != nil } }

    /// Whether all verdicts have the same status; nil without any.
    var agreement: Bool? {
        self.speakers.first.map { first in self.speakers.allSatisfy { $0.verdict?.status == first.verdict?.status } }
    }

    /// The backends that should have reported by now and have not.
    var silent: [String] { self.columns.map(\.report).filter(\.isSilent).map(\.name) }
}

extension Evidence {
    /// What the backend that reports this can see.
    fileprivate var sight: Comparison.Sight? {
        if self.conclusion != nil, self.referenceRoutes.isEmpty, self.probes == nil { return .conclusion }
        if self.interfaces == nil { return self.probes == nil ? nil : .hosts }
        return self.isPartial || self.referenceRoutes.isEmpty ? .part : .kernel
    }
}

/// Makes comparisons of what a coordinator's backends say, and counts, without input and output.
struct ComparisonRecorder: Sendable {
    /// Where the types of the backends are looked up.
    var configured: [ConfiguredBackend]
    private(set) var tally = ComparisonTally()
    private(set) var latest: Comparison?

    /// Takes what all backends say now, in order of priority, and what they are merged into.
    ///
    /// - Returns: The comparison, which may equal the one before.
    mutating func record(_ snapshots: [BackendSnapshot], path: NetworkPath?, at now: ClockReading) -> Comparison {
        var columns = snapshots.map { snapshot in
            Comparison.Column(snapshot, type: self.configured.first { $0.name == snapshot.report.name }?.type)
        }
        self.count(columns, at: now.monotonic)
        for index in columns.indices where columns[index].report.health == .healthy {
            columns[index].delay = self.tally.delay(of: columns[index].name)
        }
        let comparison = Comparison(columns: columns, path: path, takenAt: now)
        self.latest = comparison
        return comparison
    }

    /// Counts what was said since the last time, in the order in which it was said.
    private mutating func count(_ columns: [Comparison.Column], at now: MonotonicTime) {
        let former = self.latest?.columns ?? []
        // A backend that is configured no more has no verdict any more.
        for old in former where !columns.contains(where: { $0.name == old.name }) {
            self.tally.record(old.name, nil, at: now)
        }
        for column in columns.sorted(by: { $0.report.reportedAt ?? now < $1.report.reportedAt ?? now }) {
            let old = former.first { $0.name == column.name }
            // What time or a failure changed was not reported, and is of this moment.
            let time = column.report.reportedAt == old?.report.reportedAt ? nil : column.report.reportedAt
            if time == nil, column.verdict?.status == old?.verdict?.status { continue }
            self.tally.record(column.name, column.verdict, at: time ?? now)
        }
    }
}

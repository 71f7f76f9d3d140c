// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

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
        var verdict: Verdict?
        /// What it states, instead of evidence or beside it.
        var conclusion: Conclusion?
        /// Nil before the first report.
        var sight: Sight?
        /// How long after the first to notice it noticed the present state; nil when it has not.
        var delay: Duration?

        /// The verdict, which counts only while the backend is healthy.
        var validVerdict: Verdict? { self.report.health == .healthy ? self.verdict : nil }
    }

    /// What the backends are merged into, as far as it is compared.
    struct Merged: Hashable, Sendable {
        var status: PathStatus
        var reason: PathReason
        var isStale: Bool
    }

    /// In order of priority.
    var columns: [Column]
    /// What they are merged into; nil while none has a verdict.
    var merged: Merged?
    /// When this was so, for ages and for `time`.
    @EqualityIgnored var takenAt: ClockReading

    /// Puts verdicts side by side.
    ///
    /// - Parameters:
    ///   - snapshots: What the backends say, in order of priority.
    ///   - path: What they are merged into.
    ///   - types: The type of each backend by its name.
    ///   - tally: Who noticed the present state when.
    ///   - takenAt: The present moment.
    init(
        _ snapshots: [BackendSnapshot],
        path: NetworkPath?,
        types: [String: String],
        tally: ComparisonTally,
        takenAt: ClockReading
    ) {
        self.columns = snapshots.map { snapshot in
            let name = snapshot.report.name
            return Column(
                type: types[name] ?? name,
                report: snapshot.report,
                verdict: snapshot.verdict,
                conclusion: snapshot.evidence?.conclusion,
                sight: snapshot.evidence.flatMap(\.sight),
                delay: snapshot.report.health == .healthy ? tally.delay(of: name) : nil
            )
        }
        self.merged = path.map { Merged(status: $0.status, reason: $0.reason, isStale: $0.isStale) }
        self.takenAt = takenAt
    }

    /// The first backend that has a verdict: the others are compared with it.
    var reference: Column? { self.columns.first { $0.validVerdict != nil } }

    /// Whether all verdicts have the same status; nil without any.
    var agreement: Bool? {
        guard let status = self.reference?.validVerdict?.status else { return nil }
        return self.columns.allSatisfy { $0.validVerdict == nil || $0.validVerdict?.status == status }
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

/// Makes comparisons of what a coordinator's backends say, and counts, without input and output; on any thread.
final class ComparisonRecorder: Sendable {
    private struct Word: Hashable, Sendable {
        var verdict: Verdict?
        var reportedAt: MonotonicTime?
    }

    private struct State: Sendable {
        var types: [String: String]
        var tally = ComparisonTally()
        var latest: Comparison?
        var words: [String: Word] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter types: The type of each backend by its name.
    init(types: [String: String]) {
        self.state = Mutex(State(types: types))
    }

    var latest: Comparison? { self.state.withLock(\.latest) }
    var tally: ComparisonTally { self.state.withLock(\.tally) }

    /// Takes the types of another configuration.
    func adapt(to types: [String: String]) { self.state.withLock { $0.types = types } }

    /// Takes what all backends say now.
    ///
    /// - Returns: The comparison, which may equal the one before.
    func record(_ snapshots: [BackendSnapshot], path: NetworkPath?, at now: ClockReading) -> Comparison {
        self.state.withLock { state in
            for (name, word, time) in Self.news(snapshots, since: state.words, at: now.monotonic) {
                state.words[name] = word
                state.tally.record(name, word.verdict, at: time)
            }
            let comparison = Comparison(snapshots, path: path, types: state.types, tally: state.tally, takenAt: now)
            state.latest = comparison
            return comparison
        }
    }

    /// What was said since the last time, in the order in which it was said.
    private static func news(
        _ snapshots: [BackendSnapshot],
        since known: [String: Word],
        at now: MonotonicTime
    ) -> [(name: String, word: Word, time: MonotonicTime)] {
        let words = snapshots.map { snapshot -> (name: String, word: Word) in
            let verdict = snapshot.report.health == .healthy ? snapshot.verdict : nil
            return (snapshot.report.name, Word(verdict: verdict, reportedAt: snapshot.report.reportedAt))
        }
        // A backend that is configured no more has no verdict any more.
        let gone = known.keys.sorted().filter { name in !words.contains { $0.name == name } }
        return (gone.map { ($0, Word()) } + words).compactMap { name, word in
            let old = known[name] ?? Word()
            if word.verdict?.status == old.verdict?.status, word.reportedAt == old.reportedAt { return nil }
            // What time or a failure changed was not reported, and is of this moment.
            return (name, word, word.reportedAt.flatMap { $0 == old.reportedAt ? nil : $0 } ?? now)
        }.sorted { ($0.time, $0.name) < ($1.time, $1.name) }
    }
}

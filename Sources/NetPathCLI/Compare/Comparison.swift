// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

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
    }

    /// One backend.
    struct Column: Hashable, Sendable {
        var type: String
        var report: BackendReport
        var verdict: Verdict?
        /// Nil before the first word.
        var sight: Sight?
        /// How long after the first to notice it noticed the present state; nil when it has not.
        var delay: Duration?

        /// What it says while it is to be believed.
        var opinion: Verdict? { self.report.health == .healthy ? self.verdict : nil }
    }

    /// What the backends are merged into, as far as it is compared.
    struct Merged: Hashable, Sendable {
        var status: PathStatus
        var reason: PathReason
        var isStale: Bool
    }

    /// In order of priority.
    var columns: [Column]
    /// What they are merged into; nil while none has an opinion.
    var merged: Merged?
    /// When this was so, for ages and for `time`.
    @EqualityIgnored var takenAt: ClockReading

    /// Puts opinions side by side.
    ///
    /// - Parameters:
    ///   - opinions: What the backends say, in order of priority.
    ///   - path: What they are merged into.
    ///   - types: The type of each backend by its name.
    ///   - tally: Who noticed the present state when.
    ///   - takenAt: The present moment.
    init(
        _ opinions: [BackendOpinion],
        path: NetworkPath?,
        types: [String: String],
        tally: ComparisonTally,
        takenAt: ClockReading
    ) {
        self.columns = opinions.map { opinion in
            let name = opinion.report.name
            return Column(
                type: types[name] ?? name,
                report: opinion.report,
                verdict: opinion.verdict,
                sight: opinion.observation.flatMap(\.sight),
                delay: opinion.report.health == .healthy ? tally.delay(of: name) : nil
            )
        }
        self.merged = path.map { Merged(status: $0.status, reason: $0.reason, isStale: $0.isStale) }
        self.takenAt = takenAt
    }

    /// The first backend that has an opinion: the others are compared with it.
    var reference: Column? { self.columns.first { $0.opinion != nil } }

    /// Whether all opinions have the same status; nil without any.
    var agreement: Bool? {
        guard let status = self.reference?.opinion?.status else { return nil }
        return self.columns.allSatisfy { $0.opinion == nil || $0.opinion?.status == status }
    }

    /// The backends that were to speak and have said nothing.
    var silent: [String] { self.columns.map(\.report).filter(\.isSilent).map(\.name) }
}

extension Observation {
    /// What can be seen by whoever says this.
    fileprivate var sight: Comparison.Sight? {
        if self.interfaces == nil { return self.probes == nil ? nil : .hosts }
        return self.isPartial || self.representatives.isEmpty ? .part : .kernel
    }
}

/// Makes comparisons of what a coordinator's backends say, and counts, without input and output.
struct ComparisonRecorder: Sendable {
    private struct Word: Hashable, Sendable {
        var answer: ComparisonTally.Answer?
        var reportedAt: MonotonicTime?
    }

    /// The type of each backend by its name.
    var types: [String: String]
    private(set) var tally = ComparisonTally()
    private(set) var latest: Comparison?
    private var words: [String: Word] = [:]

    init(types: [String: String]) {
        self.types = types
    }

    /// Takes what all backends say now.
    ///
    /// - Returns: The comparison, which may equal the one before.
    mutating func record(_ opinions: [BackendOpinion], path: NetworkPath?, at now: ClockReading) -> Comparison {
        for (name, word, time) in self.news(opinions, at: now.monotonic) {
            self.words[name] = word
            self.tally.record(name, word.answer, at: time)
        }
        let comparison = Comparison(opinions, path: path, types: self.types, tally: self.tally, takenAt: now)
        self.latest = comparison
        return comparison
    }

    /// What was said since the last time, in the order in which it was said.
    private func news(
        _ opinions: [BackendOpinion],
        at now: MonotonicTime
    ) -> [(name: String, word: Word, time: MonotonicTime)] {
        let words = opinions.map { opinion -> (name: String, word: Word) in
            let verdict = opinion.report.health == .healthy ? opinion.verdict : nil
            let answer = verdict.map { ComparisonTally.Answer(status: $0.status, reason: $0.reason.code) }
            return (opinion.report.name, Word(answer: answer, reportedAt: opinion.report.reportedAt))
        }
        // A backend that is configured no more has no opinion any more.
        let gone = self.words.keys.sorted().filter { name in !words.contains { $0.name == name } }
        return (gone.map { ($0, Word()) } + words).compactMap { name, word in
            let old = self.words[name] ?? Word()
            if word == old { return nil }
            // What time or a failure changed was not reported, and is of this moment.
            return (name, word, word.reportedAt.flatMap { $0 == old.reportedAt ? nil : $0 } ?? now)
        }.sorted { ($0.time, $0.name) < ($1.time, $1.name) }
    }
}

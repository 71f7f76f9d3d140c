// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording

/// What a history shows people as one entry: periods that read alike, after those that were too short to be read.
struct HistoryEntry {
    /// What lasted shorter is told with what came of it: a change often takes the kernel several steps.
    static let brief: Duration = .milliseconds(20)

    var begin: Int64
    var end: Int64
    var content: PathHistory.Period.Content
    /// What came before it, each shorter than ``brief``.
    var passing: [RecordedPath] = []
    /// How long those lasted together.
    var passage: Duration = .zero

    var length: Duration { .nanoseconds(max(0, self.end.subtractingSaturating(self.begin))) }

    /// Makes entries of periods.
    static func entries(of periods: [PathHistory.Period]) -> [HistoryEntry] {
        var entries: [HistoryEntry] = []
        var passing: [RecordedPath] = []
        var begin: Int64?
        for (position, period) in periods.enumerated() {
            // A recording that has ended.
            if case .unknown = period.content, period.length == .zero { continue }
            // What nothing came of, as far as is known, stands for itself.
            if case .path(let path) = period.content, period.length < Self.brief, position + 1 < periods.count,
                case .path = periods[position + 1].content, periods[position + 1].begin == period.end
            {
                passing.append(path)
                begin = begin ?? period.begin
                continue
            }
            if passing.isEmpty, let last = entries.last, last.end == period.begin, last.readsLike(period.content) {
                entries[entries.count - 1].end = period.end
                continue
            }
            entries.append(
                HistoryEntry(
                    begin: begin ?? period.begin,
                    end: period.end,
                    content: period.content,
                    passing: passing,
                    passage: .nanoseconds(period.begin.subtractingSaturating(begin ?? period.begin))
                )
            )
            (passing, begin) = ([], nil)
        }
        return entries
    }

    private func readsLike(_ other: PathHistory.Period.Content) -> Bool {
        switch (self.content, other) {
        case (.path(let path), .path(let other)):
            path.words == other.words && path.reason.message == other.reason.message
                && path.interface == other.interface
        case (.unknown(let reason), .unknown(let other)): reason == other
        default: false
        }
    }

    /// How the path came to be what it is, where that took several steps; nil where it did not.
    var steps: String? {
        guard !self.passing.isEmpty else { return nil }
        var names: [String] = []
        for path in self.passing {
            let name = Self.name(of: path)
            if names.last != name { names.append(name) }
        }
        // The entry itself says what it came to.
        if case .path(let path) = self.content, names.last == Self.name(of: path) { names.removeLast() }
        guard !names.isEmpty else { return nil }
        // Few enough to be read on a line.
        let shown = names.prefix(4).joined(separator: ", ") + (names.count > 4 ? " and \(names.count - 4) more" : "")
        return "within \(self.passage.spoken), by way of \(shown)"
    }

    private static func name(of path: RecordedPath) -> String {
        "\(path.status.rawValue) (\(path.reason.code.rawValue))"
    }
}

extension RecordedPath {
    /// What is said besides the status.
    var remarks: String {
        let internet =
            switch self.internet {
            case .portal: ", captive portal"
            case .unreachable: self.status == .satisfied ? ", internet not reachable" : ""
            case .reachable, .unknown: ""
            }
        return (self.isStale ? ", stale" : "") + internet
    }

    /// The status and what is said besides it.
    fileprivate var words: String { self.status.rawValue + self.remarks }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// The answer of `history`.
struct ShownHistory: Sendable {
    var periods: [PathHistory.Period]
    var begin: WallTime
    var end: WallTime

    private var availability: Availability { Availability(self.periods) }

    // MARK: Text

    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let availability = self.availability
        let title = availability.share.map { Self.percent($0) } ?? "unknown"
        let emphasis: TextStyle.Emphasis = availability.down.count == 0 ? .good : .caution
        screen.title(title, emphasis, self.summary(availability))
        let outages = { (sums: [(String, Availability.Downtime)]) in
            for (name, sum) in sums.sorted(by: { $0.1.total > $1.1.total }) {
                let times = sum.count == 1 ? "once" : "\(sum.count) times"
                let longest = sum.count == 1 ? "" : ", the longest \(sum.longest.spoken)"
                screen.row(name, ["\(times), \(sum.total.spoken)\(longest)"])
            }
        }
        if !availability.byReason.isEmpty { screen.heading("Down, by main reason") }
        outages(availability.byReason.map { ($0.rawValue, $1) })
        if !availability.byInterface.isEmpty { screen.heading("Down, by the interface that had carried the path") }
        outages(availability.byInterface.map { ($0, $1) })
        var date = ""
        for entry in HistoryEntry.entries(of: self.periods) {
            let begin = WallTime(nanoseconds: entry.begin).local
            if begin.date != date {
                date = begin.date
                screen.heading(date)
            }
            let length = entry.length == .zero ? "" : " for \(entry.length.spoken)"
            let time = String(begin.time.dropLast(4))
            let steps = entry.steps.map { "; \($0)" } ?? ""
            switch entry.content {
            case .path(let path):
                // The reason may name it already.
                let names = path.interface.map { path.reason.message.contains($0) } ?? true
                let carrier = names ? "" : path.interface.map { " (\($0))" } ?? ""
                let status = style.paint(path.status.rawValue, path.status.emphasis)
                screen.entry(time, "\(status)\(path.remarks)\(length)", path.reason.message + carrier + steps)
            case .unknown(let reason):
                screen.entry(time, style.paint("unknown", .faint) + length, reason + steps)
            }
        }
        return screen.text
    }

    private func summary(_ availability: Availability) -> String {
        let span = "since \(self.begin.local.text)"
        guard availability.known > .zero else { return "nothing is recorded \(span)" }
        let down = availability.down
        let unknown = availability.unknown > .zero ? "; \(availability.unknown.spoken) were not recorded" : ""
        switch down.count {
        case 0: return "there was a path all the time \(span)\(unknown)"
        case 1: return "of the time \(span) there was a path; there was none once, for \(down.total.spoken)\(unknown)"
        default:
            return "of the time \(span) there was a path; there was none \(down.count) times, for \(down.total.spoken) "
                + "in all, the longest \(down.longest.spoken)\(unknown)"
        }
    }

    /// A share to two places, rounded down: 100 % is without any outage.
    private static func percent(_ share: Double) -> String {
        let hundredths = Int((share * 10_000).rounded(.down))
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) %"
    }

    // MARK: JSON

    var document: JSONNode {
        let availability = self.availability
        return [
            "schema": schemaVersion,
            "since": .string(self.begin.rfc3339),
            "until": .string(self.end.rfc3339),
            "availability": [
                "knownMilliseconds": .integer(availability.known.inMilliseconds),
                "unknownMilliseconds": .integer(availability.unknown.inMilliseconds),
                "down": Self.document(availability.down),
                "byReason": .object(
                    availability.byReason.sorted { $0.key.rawValue < $1.key.rawValue }
                        .map { (key: $0.rawValue, value: Self.document($1)) }
                ),
                "byInterface": .object(
                    availability.byInterface.sorted { $0.key < $1.key }.map { (key: $0, value: Self.document($1)) }
                ),
            ],
            "periods": .array(self.periods.map(Self.document)),
        ]
    }

    static func document(_ sum: Availability.Downtime) -> JSONNode {
        [
            "count": .integer(sum.count), "totalMilliseconds": .integer(sum.total.inMilliseconds),
            "longestMilliseconds": .integer(sum.longest.inMilliseconds),
        ]
    }

    static func document(_ period: PathHistory.Period) -> JSONNode {
        let (path, unknown): (RecordedPath?, String?) =
            switch period.content {
            case .path(let recorded): (recorded, nil)
            case .unknown(let reason): (nil, reason)
            }
        return [
            "begin": .string(WallTime(nanoseconds: period.begin).rfc3339),
            "end": .string(WallTime(nanoseconds: period.end).rfc3339),
            "status": .optional(path?.status.rawValue),
            "reason": .reason(path?.reason),
            "stale": .optional(path?.isStale),
            "internet": .optional(path?.internet.rawValue),
            "interface": .optional(path?.interface),
            "type": .optional(path?.type?.rawValue),
            "unknown": .optional(unknown),
        ]
    }
}

extension Duration {
    var inMilliseconds: Int64 { self.inNanoseconds / 1_000_000 }

    /// The duration for people, in two units at most: `2 min 58 s`.
    var spoken: String {
        let milliseconds = self.inMilliseconds
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        if seconds < 10 { return "\(seconds).\(milliseconds % 1_000 / 100) s" }
        let units: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        let first = units.firstIndex { seconds >= $0.0 } ?? 3
        var text = "\(seconds / units[first].0) \(units[first].1)"
        if first + 1 < units.count {
            let rest = seconds % units[first].0 / units[first + 1].0
            if rest > 0 { text += " \(rest) \(units[first + 1].1)" }
        }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How `watch` writes a snapshot.
enum WatchFormat: Sendable {
    /// One JSON object per line.
    case json
    /// One line per change, for pipes and files.
    case lines
    /// A readable running log, for terminals.
    case log(TextStyle)

    /// Renders a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - previous: The one that was written before; nil for the first.
    ///   - local: Turns a point in time into local time.
    /// - Returns: One line or more, the final line feed included.
    func render(
        _ snapshot: PathSnapshot,
        previous: PathSnapshot?,
        local: (WallTime) -> CivilTime
    ) -> String {
        switch self {
        case .json: String(decoding: snapshot.jsonLine, as: UTF8.self)
        case .lines: Self.line(snapshot, local: local) + "\n"
        case .log(let style): Self.entry(snapshot, previous: previous, style: style, local: local)
        }
    }

    private static func line(_ snapshot: PathSnapshot, local: (WallTime) -> CivilTime) -> String {
        let time = local(snapshot.time)
        var parts = [time.date, time.time]
        if let path = snapshot.path {
            parts.append("\(path.status.rawValue):")
            parts.append(path.reason.message.safe)
            parts.append("[\(path.interfaces.map(\.summary.safe).joined(separator: "; "))]")
            if path.isStale { parts.append("(stale)") }
        } else {
            parts.append("unknown: no backend has an opinion []")
        }
        return parts.joined(separator: " ")
    }

    private static func entry(
        _ snapshot: PathSnapshot,
        previous: PathSnapshot?,
        style: TextStyle,
        local: (WallTime) -> CivilTime
    ) -> String {
        let time = local(snapshot.time)
        var text = ""
        if previous.map({ local($0.time).date }) != time.date { text += style.paint(time.date, .faint) + "\n" }
        text += time.time + "  "
        guard let path = snapshot.path else {
            return text + style.paint("unknown", .caution) + "  no backend has an opinion\n"
        }
        text += style.paint(path.status.rawValue, path.status.emphasis) + "  " + path.reason.message.safe
        text += path.isStale ? " (stale)\n" : "\n"
        let details = previous?.path.map { path.changes(since: $0) } ?? path.interfaces.map(\.summary)
        for detail in details where detail != path.reason.message {
            text += String(repeating: " ", count: 14) + style.paint(detail.safe, .faint) + "\n"
        }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How `watch` writes a snapshot.
enum WatchFormat: Sendable {
    /// One JSON object per line.
    case json
    /// One line whenever it would say something else, for pipes and files.
    case lines
    /// A readable running log, for terminals.
    case log(TextStyle)

    /// Renders a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - previous: The one that was written before; nil for the first.
    ///   - local: Turns a point in time into local time.
    /// - Returns: One line or more, the final line feed included; nothing where the line would be the one before.
    func render(
        _ snapshot: StatusSnapshot,
        previous: StatusSnapshot?,
        local: (WallTime) -> CivilTime
    ) -> String {
        switch self {
        case .json: String(decoding: snapshot.jsonLine, as: UTF8.self)
        case .lines:
            if previous.map(Self.line) == Self.line(snapshot) {
                ""
            } else {
                "\(local(snapshot.time).date) \(local(snapshot.time).time) \(Self.line(snapshot))\n"
            }
        case .log(let style): Self.entry(snapshot, previous: previous, style: style, local: local)
        }
    }

    /// The line without its time.
    private static func line(_ snapshot: StatusSnapshot) -> String {
        guard let path = snapshot.path else { return "unknown: no backend has a verdict" }
        let interfaces = path.interfaces.map(\.summary.safe).joined(separator: "; ")
        let listed = interfaces.isEmpty ? "" : " [\(interfaces)]"
        let remarks = [
            (path.internet == .portal && path.status == .satisfied, " (behind a captive portal)"),
            (path.isExpensive, " (expensive)"), (path.isConstrained, " (constrained)"), (path.isStale, " (stale)"),
        ].filter(\.0).map(\.1).joined()
        return "\(path.status.rawValue): \(path.sentence.safe)\(listed)\(remarks)"
    }

    private static func entry(
        _ snapshot: StatusSnapshot,
        previous: StatusSnapshot?,
        style: TextStyle,
        local: (WallTime) -> CivilTime
    ) -> String {
        let time = local(snapshot.time)
        var text = ""
        if previous.map({ local($0.time).date }) != time.date { text += style.paint(time.date, .faint) + "\n" }
        text += time.time + "  "
        guard let path = snapshot.path else {
            return text + style.paint("unknown", .caution) + "  no backend has a verdict\n"
        }
        text += style.paint(path.status.rawValue, path.status.emphasis) + "  " + path.sentence.safe
        text += path.isStale ? " (stale)\n" : "\n"
        let details = previous?.path.map { PathChange(from: $0, to: path).phrases } ?? path.interfaces.map(\.summary)
        for detail in details where detail != path.reason.message {
            text += String(repeating: " ", count: 14) + style.paint(detail.safe, .faint) + "\n"
        }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import OfflineRequests

/// The picture of a demonstration on a terminal, drawn over itself.
@MainActor
struct DemoScreen {
    private static let banner = "  ∆ No Network: what you send waits on the disk  "

    private let rows: Int
    /// How much of the banner has come in from the left.
    private var columns = 0
    /// How many lines are there from the last time.
    private var height = 0

    init(rows: Int) {
        // One is for the cursor. Terminals that do not say have at least 24.
        self.rows = rows > 1 ? rows - 1 : 23
    }

    func isSliding(isOffline: Bool) -> Bool { self.columns != (isOffline ? Self.banner.count : 0) }

    mutating func slide(isOffline: Bool) {
        self.columns = isOffline ? min(self.columns + 4, Self.banner.count) : max(self.columns - 4, 0)
    }

    mutating func frame(of demo: Demo) async -> String {
        let queue = demo.client.queue
        let waiting = (try? queue.counts.pending) ?? 0
        var lines = [
            "Readings for a server: answered at once, or kept on disk until there is a path.",
            "",
            self.columns == 0 ? "" : "\u{1B}[1;37;41m\(Self.banner.suffix(self.columns))\u{1B}[0m",
            "",
            "network   \(demo.isConnected ? "●" : "○") \(demo.status)",
            "server    \(demo.answered) answered at once, \(demo.later) delivered later",
            "queue     \(waiting) waiting \(String(repeating: "■", count: min(waiting, 50)))",
        ]
        let first = try? await queue.requests(in: [.ready, .blocked, .backoff, .running, .held], limit: 6)
        let requests = (first ?? []).map { record in
            let reason = record.state == .running ? "being sent" : record.waiting?.description ?? "\(record.state)"
            return "reading \(record.request.reading): \(reason)"
        }
        lines += Self.block(requests) + [""] + Self.block(demo.log)
        lines += [
            "", "e send a reading   b send ten   n \(demo.isCut ? "mend" : "cut") the cable   x cancel the last",
            "r try again now    q quit",
        ]
        // The keys and the banner stay where there is little room.
        if lines.count > self.rows { lines.removeSubrange(max(7, self.rows - 3)..<(lines.count - 3)) }
        let text = lines.prefix(self.rows).map { "\($0)\u{1B}[K\n" }.joined()
        let start = self.height == 0 ? "" : "\r\u{1B}[\(self.height)A"
        self.height = min(lines.count, self.rows)
        return "\(start)\(text)\u{1B}[J"
    }

    /// Always of the same height, so that what is below it stays where it is.
    private static func block(_ texts: [String]) -> [String] {
        (texts + Array(repeating: "", count: 6)).prefix(6).map { "          \($0)" }
    }
}

/// The keys that are pressed where there is no terminal, each when it is time.
@MainActor
struct Script {
    private var steps: [(keys: String, isTime: (Demo) -> Bool)] = [
        ("ee", { $0.isConnected }),
        ("n", { $0.answered == 2 }),
        ("eee", { !$0.isConnected }),
        ("x", { (try? $0.client.queue.counts.pending) == 3 }),
        ("n", { (try? $0.client.queue.counts.pending) == 2 }),
        ("q", { $0.later == 2 && (try? $0.client.queue.counts.pending) == 0 }),
    ]

    mutating func next(of demo: Demo) -> String? {
        guard let step = self.steps.first, step.isTime(demo) else { return nil }
        return self.steps.removeFirst().keys
    }
}

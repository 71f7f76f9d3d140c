// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import NetPathSystem
import OfflineRequests

/// What `queue run` shows: every event as a line, or on a terminal the progress and only what went wrong.
final class RunReport {
    /// How often the progress is drawn at most.
    private static let interval: Duration = .milliseconds(100)

    private let queue: OfflineRequestQueue
    private let isJSON: Bool
    /// Whether lines and progress share a terminal.
    private let isScreen: Bool
    /// Shows the progress, and that there is no network; nil where no line can be erased.
    private let indicator: OfflineIndicator?
    private var progress: RunProgress?
    private var isDirty = true
    private var drawnAt: MonotonicTime?

    init(queue: OfflineRequestQueue, isJSON: Bool) {
        let context = ToolContext.current
        let isCapable = !["", "dumb"].contains(context.environment["TERM", default: ""])
        let hasErrorTerminal = StandardStreams.errorColumns != nil && isCapable
        self.queue = queue
        self.isJSON = isJSON
        self.isScreen = hasErrorTerminal && context.isTerminal && !isJSON
        // With lines on the same terminal there must be one writer.
        let isShown = hasErrorTerminal && (self.isScreen || !context.isTerminal)
        self.indicator = isShown ? OfflineIndicator(monitor: queue.monitor) : nil
        self.indicator?.start()
    }

    /// Takes the line off the terminal.
    func end() {
        self.indicator?.stop()
    }

    func show(_ events: [SeenEvent], at now: MonotonicTime) throws {
        for seen in events {
            if self.isScreen {
                if seen.event.isTrouble { self.indicator?.print(seen.line) }
            } else {
                try ToolContext.current.write((self.isJSON ? seen.document.line : seen.line) + "\n")
            }
        }
        self.isDirty = self.isDirty || !events.isEmpty
        guard let indicator = self.indicator, self.isDirty, self.rest(at: now) ?? .zero <= .zero else { return }
        self.isDirty = false
        self.drawnAt = now
        // While it cannot be read the last picture stays.
        guard let counts = try? self.queue.counts else { return }
        let left = counts.ready + counts.blocked + counts.backoff + counts.running
        var progress = self.progress ?? RunProgress(since: now)
        progress.update(left: left, at: now)
        self.progress = left == 0 ? nil : progress
        indicator.progress(left == 0 ? nil : progress.text(columns: StandardStreams.errorColumns ?? 80))
    }

    /// How long until there is something to draw; nil when there is nothing.
    func rest(at now: MonotonicTime) -> Duration? {
        guard self.indicator != nil, self.isDirty else { return nil }
        return self.drawnAt.map { max(.zero, $0 + Self.interval - now) } ?? .zero
    }
}

/// How far a backlog is delivered.
struct RunProgress {
    private let start: MonotonicTime
    private var elapsed: Duration = .zero
    private var last: Int?
    private(set) var done = 0
    private(set) var left = 0

    init(since start: MonotonicTime) {
        self.start = start
    }

    /// Takes in how many requests are left now; those that come meanwhile make the whole larger.
    mutating func update(left: Int, at now: MonotonicTime) {
        if let last = self.last, left < last { self.done += last - left }
        self.last = left
        self.left = left
        self.elapsed = now - self.start
    }

    /// One line that fits: a bar where there is room, the numbers, and how long it will take where that can be told.
    func text(columns: Int) -> String {
        let total = self.done + self.left
        guard total > 0 else { return "" }
        let numbers = "\(self.done) of \(total) sent"
        var parts = [numbers]
        let seconds = self.elapsed / .seconds(1)
        if self.done > 0, seconds >= 1 {
            let rate = Double(self.done) / seconds
            parts.append("\(Int(rate.rounded()))/s")
            parts.append("\(DurationText.format(.seconds(Int((Double(self.left) / rate).rounded(.up))))) left")
        }
        let text = parts.joined(separator: ", ")
        // The banner of the indicator needs room too.
        let room = columns - "∆ No Network  ".count - 4
        guard room >= text.count + 13 else { return numbers.count <= columns ? numbers : "" }
        let cells = min(30, room - text.count - 3)
        let filled = cells * self.done / total
        return "[\(String(repeating: "#", count: filled))\(String(repeating: " ", count: cells - filled))] \(text)"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What the path was, period by period.
package struct PathHistory: Sendable {
    /// A time in which the path was the same, or nothing is known of it.
    package struct Period: Sendable {
        package enum Content: Hashable, Sendable {
            case path(RecordedPath)
            /// Nothing was recorded, and why.
            case unknown(String)
        }

        /// Nanoseconds since 1970, as the wall clock was then.
        package var begin: Int64
        package var end: Int64
        package var content: Content
        package var length: Duration { .nanoseconds(max(0, self.end.subtractingSaturating(self.begin))) }

        /// Whether there was no path, or none without another step.
        package var isDown: Bool {
            if case .path(let path) = self.content { path.status != .satisfied } else { false }
        }
    }

    /// The periods, the oldest first.
    package private(set) var periods: [Period] = []
    private var last: RecordedEvent?
    /// The boot that the last header named.
    private var boot: String?
    /// The wall clock was set when it is so far from where it was expected.
    private static let tolerance: UInt64 = 1_000_000_000

    package init() {}

    /// Takes the next event of a recording.
    package mutating func take(_ event: RecordedEvent) {
        defer { self.last = event }
        switch event.kind {
        case .path(let path): self.begin(.path(path), at: event.wallNanoseconds)
        case .gap(let reason): self.begin(.unknown(reason), at: event.wallNanoseconds)
        case .end: self.begin(.unknown("netpath did not run"), at: event.wallNanoseconds)
        case .header(let header): self.takeHeader(header, event)
        case .clock: self.takeClock(event)
        case .checkpoint, .input: break
        }
    }

    private mutating func takeClock(_ event: RecordedEvent) {
        guard let last, let current = self.periods.last else { return }
        // The monotonic clock says how long it was: what the wall clock has beyond it, the machine slept, or somebody
        // set the clock.
        let elapsed = max(0, event.time.nanoseconds.subtractingSaturating(last.time.nanoseconds))
        let before = last.wallNanoseconds.addingSaturating(elapsed)
        let jump = event.wallNanoseconds.subtractingSaturating(before)
        if jump.magnitude <= Self.tolerance {
            self.close(at: event.wallNanoseconds)
        } else if jump > 0 {
            self.begin(.unknown("the machine slept, or its clock was set"), at: before)
            self.begin(current.content, at: event.wallNanoseconds)
        } else {
            // Set back: those hours come once more.
            self.close(at: before)
            let now = event.wallNanoseconds
            self.periods.append(Period(begin: now, end: now, content: current.content))
        }
    }

    private mutating func takeHeader(_ header: RecordingHeader, _ event: RecordedEvent) {
        defer { self.boot = header.boot }
        guard !header.continues, let last, let period = self.periods.last else { return }
        if case .path = period.content {
            // Nobody wrote that it was the end, nor when.
            let isSameBoot = header.boot != nil && header.boot == self.boot
            let reason =
                isSameBoot
                ? "netpath was killed some time after the last change; nobody wrote when"
                : "netpath was killed, or the machine went down, some time after the last change; nobody wrote when"
            self.begin(.unknown(reason), at: last.wallNanoseconds)
        }
        self.close(at: event.wallNanoseconds)
    }

    private mutating func begin(_ content: Period.Content, at wall: Int64) {
        self.close(at: wall)
        if self.periods.last?.content == content { return }
        self.periods.append(Period(begin: wall, end: wall, content: content))
    }

    /// Ends the last period at a moment, such as now.
    package mutating func close(at wall: Int64) {
        guard let index = self.periods.indices.last else { return }
        self.periods[index].end = max(self.periods[index].begin, wall)
    }

    /// What lies after a moment, the period in which it lies cut off there.
    package func since(_ wall: Int64) -> [Period] {
        self.periods.filter { $0.end > wall }.map { period in
            var period = period
            period.begin = max(period.begin, wall)
            return period
        }
    }
}

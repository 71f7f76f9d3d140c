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

    /// The periods in the order in which they were written.
    ///
    /// Those of one boot follow on one another. A boot whose clock was wrong may lie anywhere: see ``within(_:_:)``.
    package private(set) var periods: [Period] = []
    private var clock = RecordedClock()
    /// Which of the periods is the first of the boot.
    private var firstOfBoot = 0
    /// The boot that the last header named.
    package var boot: String? { self.clock.boot }

    package init() {}

    /// Takes the next event of a recording.
    ///
    /// What is known of a boot is dated by its clock as it was set last: the monotonic clock tells how long everything took,
    /// and a wall clock that is set later is nearer to the truth.
    package mutating func take(_ event: RecordedEvent) {
        let step = self.clock.take(event)
        let wall = event.wallNanoseconds
        if step.set != 0 { self.shift(by: step.set) }
        if case .header(let header) = event.kind, !header.continues {
            let ending = step.isOtherBoot ? "netpath was killed, or the machine went down," : "netpath was killed"
            self.endUnseen("\(ending) some time after the last change; when is not recorded")
            self.close(at: wall)
        } else if step.asleep > 0, case .path(let path)? = self.periods.last?.content {
            let isCertain = event.sleptNanoseconds != nil
            let reason = isCertain ? "the machine slept" : "the machine slept, or its clock was set"
            self.begin(.unknown(reason), at: wall.subtractingSaturating(step.asleep))
            self.begin(.path(path), at: wall)
        }
        if step.isOtherBoot { self.firstOfBoot = self.periods.count }
        switch event.kind {
        case .path(let path): self.begin(.path(path), at: wall)
        case .gap(let reason): self.begin(.unknown(reason), at: wall)
        case .end: self.begin(.unknown("netpath did not run"), at: wall)
        case .clock: self.close(at: wall)
        case .header, .checkpoint, .input: break
        }
    }

    /// Dates everything of this boot anew.
    private mutating func shift(by jump: Int64) {
        for index in self.periods.indices[self.firstOfBoot...] {
            self.periods[index].begin = self.periods[index].begin.addingSaturating(jump)
            self.periods[index].end = self.periods[index].end.addingSaturating(jump)
        }
        // What was before the boot lasted until it.
        guard self.firstOfBoot > 0, self.firstOfBoot < self.periods.count else { return }
        let begin = self.periods[self.firstOfBoot].begin
        self.periods[self.firstOfBoot - 1].end = max(self.periods[self.firstOfBoot - 1].begin, begin)
    }

    /// Takes that the program ended at an unknown time after what it wrote last, unless that was its end.
    package mutating func endUnseen(_ reason: String) {
        guard let last = self.periods.last, case .path = last.content else { return }
        self.begin(.unknown(reason), at: last.end)
    }

    private mutating func begin(_ content: Period.Content, at wall: Int64) {
        self.close(at: wall)
        if self.periods.last?.content == content, self.periods.count > self.firstOfBoot { return }
        self.periods.append(Period(begin: wall, end: wall, content: content))
    }

    /// Ends the last period at a moment, such as now.
    package mutating func close(at wall: Int64) {
        guard let index = self.periods.indices.last else { return }
        self.periods[index].end = max(self.periods[index].begin, wall)
    }

    /// Ends the last period now, in the same boot.
    package mutating func close(at now: RecorderClocks) {
        self.take(
            RecordedEvent(
                time: now.time,
                wallNanoseconds: now.wallNanoseconds,
                kind: .clock,
                sleptNanoseconds: now.sleptNanoseconds
            )
        )
    }

    /// What lies between two moments, what reaches beyond them cut off there.
    ///
    /// Where two boots claim the same time, since the clock of one was wrong, the later one counts.
    package func within(_ begin: Int64, _ end: Int64) -> [Period] {
        var limit = end
        var found: [Period] = []
        for var period in self.periods.reversed() where period.end > begin {
            period.end = min(period.end, limit)
            limit = min(limit, period.begin)
            period.begin = max(period.begin, begin)
            if period.begin <= period.end, period.end > begin { found.append(period) }
        }
        return found.reversed()
    }
}

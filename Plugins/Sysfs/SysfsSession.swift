// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// One run of the monitor: what it saw last, and when it looks again.
package final class SysfsSession {
    private let reader: NetworkReader
    private let clock: any MonotonicClock
    private let processorTime: () -> Duration
    private let referenceDestinations: [InternetAddress]
    private var history: NetworkHistory
    private var lastReading: NetworkReading?
    /// What a picture showed that stood still.
    private var lastSteady: Evidence?
    private var lastShown: Evidence?
    private(set) var schedule: PollSchedule

    init(
        options: SysfsMonitor.Options,
        queries: any InterfaceQuerying,
        clock: any MonotonicClock,
        processorTime: @escaping () -> Duration = ProcessorTime.ofThisThread
    ) {
        self.reader = NetworkReader(options: options, queries: queries, clock: clock)
        self.clock = clock
        self.processorTime = processorTime
        self.referenceDestinations = options.referenceDestinations
        self.history = NetworkHistory(referenceDestinations: options.referenceDestinations)
        self.schedule = PollSchedule(slow: options.interval, fast: options.fastInterval)
    }

    /// Begins a run that asks the kernel of this machine.
    ///
    /// - Throws: ``SysfsError`` when the system grants no socket to ask through.
    package convenience init(options: SysfsMonitor.Options, clock: any MonotonicClock) throws(SysfsError) {
        self.init(options: options, queries: try InterfaceQueries(), clock: clock)
    }

    /// How often a changed picture is looked at until it stands still.
    private static let attempts = 3

    /// What is said while what was seen before has to do.
    static let unsteady = "the network changes while it is read; this is what was seen before"
    /// What is said when there is nothing from before.
    static let unsteadyAtFirst = "the network changes while it is read; this may never have been so"

    /// Looks, and tells whether what is seen is news.
    ///
    /// A picture is read in pieces, and a change in the middle of it shows what never was, such as a route without its
    /// address. So news is believed when the next look shows the same; until then what was seen before stays, with the
    /// time when it was seen.
    ///
    /// - Parameter rules: What the configuration says of interfaces.
    /// - Returns: The evidence, and whether it is another than before.
    /// - Throws: ``SysfsError`` when nothing of this network namespace can be read.
    package func look(rules: [InterfaceRule] = []) throws(SysfsError) -> (Evidence, isNews: Bool) {
        let spent = self.processorTime()
        let (reading, isSteady, since) = try self.read()
        self.lastReading = reading
        let evidence = self.evidence(of: reading, isSteady: isSteady, since: since, rules: rules)
        let isNews = evidence != self.lastShown
        self.lastShown = evidence
        self.schedule.looked(at: self.clock.now(), cost: self.processorTime() - spent, foundChange: isNews)
        return (evidence, isNews)
    }

    /// Reads until two readings in succession are the same; `since` is when the last one began.
    private func read() throws(SysfsError) -> (NetworkReading, isSteady: Bool, since: MonotonicTime) {
        var since = self.clock.now()
        var reading = try self.reader.read()
        // Readings carry no time and no memory: equal ones are the same picture.
        if reading == self.lastReading { return (reading, true, since) }
        var isSteady = false
        for _ in 1..<Self.attempts {
            let former = reading
            since = self.clock.now()
            reading = try self.reader.read()
            if reading == former { return (reading, true, since) }
            // Containers may come and go without end, and do not matter.
            isSteady = RouteChoice(reading).decidesLike(RouteChoice(former), for: self.referenceDestinations)
        }
        return (reading, isSteady, since)
    }

    private func evidence(
        of reading: NetworkReading,
        isSteady: Bool,
        since: MonotonicTime,
        rules: [InterfaceRule]
    ) -> Evidence {
        if isSteady {
            var evidence = self.history.observe(reading, rules: rules, at: self.clock.now())
            evidence.observedAt = since
            self.lastSteady = evidence
            return evidence
        }
        if var evidence = self.lastSteady {
            evidence.limitations.append(Self.unsteady)
            return evidence
        }
        // What may never have been is not to be remembered.
        var history = self.history
        var evidence = history.observe(reading, rules: rules, at: self.clock.now())
        evidence.observedAt = since
        evidence.limitations.append(Self.unsteadyAtFirst)
        return evidence
    }
}

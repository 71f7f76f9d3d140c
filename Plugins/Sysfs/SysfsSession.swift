// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// One run of the monitor: what it saw last, and when it looks again.
package final class SysfsSession {
    private let reader: NetworkReader
    private let clock: any MonotonicClock
    private var history: NetworkHistory
    private var last: Observation?
    private var lastReading: NetworkReading?
    private(set) var schedule: PollSchedule

    init(options: SysfsMonitor.Options, queries: any InterfaceQuerying, clock: any MonotonicClock) {
        self.reader = NetworkReader(options: options, queries: queries, clock: clock)
        self.clock = clock
        self.history = NetworkHistory(representatives: options.representatives)
        self.schedule = PollSchedule(slow: options.interval, fast: options.fastInterval)
    }

    /// Begins a run that asks the kernel of this machine.
    ///
    /// - Throws: ``SysfsError`` when the system grants no socket to ask through.
    package convenience init(options: SysfsMonitor.Options, clock: any MonotonicClock) throws(SysfsError) {
        self.init(options: options, queries: try InterfaceQueries(), clock: clock)
    }

    /// How often a changed picture is looked at again until it stands still.
    private static let attempts = 3

    /// Looks, and tells whether what is seen is news.
    ///
    /// A picture is read in pieces, and a change in the middle of it shows what never was, such as a route without its
    /// address. So news is believed when the next look shows the same.
    ///
    /// - Parameter rules: What the configuration says of interfaces.
    /// - Returns: The evidence, and whether it is another than before.
    /// - Throws: ``SysfsError`` when nothing of this network namespace can be read.
    package func look(rules: [InterfaceRule] = []) throws(SysfsError) -> (Observation, isNews: Bool) {
        let start = self.clock.now()
        var reading = try self.reader.read()
        // Readings carry no time and no memory: equal ones are the same picture.
        if reading != self.lastReading {
            for _ in 1..<Self.attempts {
                let again = try self.reader.read()
                if again == reading { break }
                reading = again
            }
        }
        let now = self.clock.now()
        let observation = self.history.observe(reading, rules: rules, at: now)
        let isNews = observation != self.last
        self.last = observation
        self.lastReading = reading
        self.schedule.looked(from: start, to: now, foundChange: isNews)
        return (observation, isNews)
    }
}

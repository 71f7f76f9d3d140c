// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// What the service and the server hold at a moment at which nothing happens.
struct SoakHoldings: Hashable, Sendable, CustomStringConvertible {
    var service: ProgramHoldings
    var server: ProgramHoldings

    var description: String {
        [("service", self.service), ("server", self.server)].map { name, one in
            "\(name) \(one.descriptors) descriptors, \(one.threads) threads, \(one.processes) children, \(one.bytes >> 10) KiB"
        }.joined(separator: "; ")
    }

    /// Whether there is more of what can be counted one by one.
    func holdsMore(than other: SoakHoldings) -> Bool {
        self.service.holdsMore(than: other.service) || self.server.holdsMore(than: other.server)
    }
}

/// How holdings went from one quiet moment to the next.
struct SoakTrend: Sendable {
    /// In time, each with how much of the time had passed.
    private var readings: [(part: Double, holdings: SoakHoldings)] = []

    mutating func add(_ holdings: SoakHoldings, at part: Double) { self.readings.append((part, holdings)) }

    /// The most of each that was held in the first part.
    func first(until part: Double) -> SoakHoldings? {
        self.readings.filter { $0.part <= part }.map(\.holdings).reduce(nil) { most, one in
            most.map { SoakHoldings(service: $0.service.maximum(one.service), server: $0.server.maximum(one.server)) }
                ?? one
        }
    }

    /// By how much of itself the least memory in the last quarter of the time is more than that in the quarter after the first
    /// part; nil when one of them has no reading.
    func growth(_ program: KeyPath<SoakHoldings, ProgramHoldings>, after first: Double) -> Double? {
        let least = { (range: ClosedRange<Double>) in
            self.readings.filter { range.contains($0.part) }.map { $0.holdings[keyPath: program].bytes }.min()
        }
        guard let early = least(first...first + 0.25), let late = least(0.75...2) else { return nil }
        return Double(late - early) / Double(early)
    }

    var summary: String {
        self.readings.map { "\($0.holdings.service.bytes >> 10)+\($0.holdings.server.bytes >> 10)" }
            .joined(separator: " ")
    }
}

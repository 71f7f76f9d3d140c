// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// How much of a time there was a path.
package struct Availability: Sendable {
    /// A sum of times in which there was none.
    package struct Downtime: Hashable, Sendable {
        /// How often.
        package var count = 0
        /// How long in all.
        package var total: Duration = .zero
        /// The longest.
        package var longest: Duration = .zero

        fileprivate mutating func add(_ outage: Duration) {
            self.count += 1
            self.total += outage
            self.longest = max(self.longest, outage)
        }
    }

    /// How long is looked at, and something is known of it.
    package private(set) var known: Duration = .zero
    /// How long nothing is known.
    package private(set) var unknown: Duration = .zero
    /// All times without a path.
    package private(set) var down = Downtime()
    /// The same by the code of the reason that lasted longest within each.
    package private(set) var byReason: [PathReason.Code: Downtime] = [:]
    /// The same by the interface that had carried the path before; those that are not known are left out.
    package private(set) var byInterface: [String: Downtime] = [:]

    /// How much of what is known there was a path; nil when nothing is known.
    package var share: Double? {
        self.known > .zero ? 1 - self.down.total / self.known : nil
    }

    /// Adds up periods that follow on one another.
    package init(_ periods: [PathHistory.Period]) {
        var carrier: String?
        var outage: (length: Duration, reasons: [PathReason.Code: Duration])?
        for period in periods {
            guard case .path(let path) = period.content else {
                self.unknown += period.length
                self.add(&outage, carrier)
                continue
            }
            self.known += period.length
            if period.isDown {
                var current = outage ?? (.zero, [:])
                current.length += period.length
                current.reasons[path.reason.code, default: .zero] += period.length
                outage = current
            } else {
                self.add(&outage, carrier)
                carrier = path.interface
            }
        }
        self.add(&outage, carrier)
    }

    private mutating func add(
        _ outage: inout (length: Duration, reasons: [PathReason.Code: Duration])?,
        _ carrier: String?
    ) {
        guard let (length, reasons) = outage else { return }
        outage = nil
        self.down.add(length)
        // Of two that lasted equally long the one of the first name, so that the answer is always the same.
        let reason = reasons.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        if let reason { self.byReason[reason.key, default: Downtime()].add(length) }
        if let carrier { self.byInterface[carrier, default: Downtime()].add(length) }
    }
}

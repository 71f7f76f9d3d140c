// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Follows the clocks of a recording from event to event: where a boot begins, when the machine slept, and when its wall
/// clock was set.
struct RecordedClock: Sendable {
    /// What an event tells of the clocks since the one before.
    struct Step: Sendable {
        /// Whether another boot has begun.
        var isOtherBoot = false
        /// By how many nanoseconds the wall clock was set; 0 where it was not.
        var set: Int64 = 0
        /// For how many nanoseconds the machine slept.
        var asleep: Int64 = 0
    }

    /// The boot that the last header named.
    private(set) var boot: String?
    private var last: RecordedEvent?
    /// How long the machine had slept since it booted.
    private var slept: Int64 = 0
    /// The wall clock was set when it is so far from where it was expected.
    static let tolerance: UInt64 = 1_000_000_000

    /// Takes the next event.
    mutating func take(_ event: RecordedEvent) -> Step {
        defer { self.last = event }
        var isSameBoot = true
        if case .header(let header) = event.kind, !header.continues {
            isSameBoot = header.boot != nil && header.boot == self.boot
            self.boot = header.boot
        }
        guard let last, isSameBoot else { return self.begin(event) }
        let elapsed = event.time.nanoseconds.subtractingSaturating(last.time.nanoseconds)
        // The line is missing that says so.
        guard elapsed > -Int64(Self.tolerance) else { return self.begin(event) }
        let jump = event.wallNanoseconds.subtractingSaturating(last.wallNanoseconds.addingSaturating(elapsed))
        // Older versions did not tell a sleep from a clock that is set forward.
        var asleep = jump
        if let slept = event.sleptNanoseconds {
            asleep = last.sleptNanoseconds == nil ? 0 : slept.subtractingSaturating(self.slept)
            self.slept = slept
        }
        if asleep < Int64(Self.tolerance) { asleep = 0 }
        let set = jump.subtractingSaturating(asleep)
        return Step(set: set.magnitude > Self.tolerance ? set : 0, asleep: asleep)
    }

    private mutating func begin(_ event: RecordedEvent) -> Step {
        self.slept = event.sleptNanoseconds ?? 0
        return Step(isOtherBoot: true)
    }
}

/// The boots of a recording, each dated by its wall clock as it was set last.
struct RecordedBoots: Sendable {
    private struct Boot: Sendable {
        /// When it began, by its clock as it was set last.
        var begin: Int64
        /// By how much that was set in all.
        var set: Int64 = 0
    }

    private var boots: [Boot] = []
    private var clock = RecordedClock()

    /// Whether any clock was set.
    var wereSet: Bool { self.boots.contains { $0.set != 0 } }

    /// Takes the next event, as a history reads it.
    mutating func take(_ event: RecordedEvent) {
        let step = self.clock.take(event)
        if step.isOtherBoot { self.boots.append(Boot(begin: event.wallNanoseconds)) }
        guard step.set != 0, let index = self.boots.indices.last else { return }
        self.boots[index].begin = self.boots[index].begin.addingSaturating(step.set)
        self.boots[index].set = self.boots[index].set.addingSaturating(step.set)
    }

    /// The boot that the last event is of; -1 before the first.
    var last: Int { self.boots.count - 1 }

    /// The boot in which a moment lies: the latest that had begun.
    func boot(at wall: Int64) -> Int? { self.boots.lastIndex { $0.begin <= wall } }

    /// By how much the clock of a boot was set in all.
    func set(_ boot: Int) -> Int64 { self.boots.indices.contains(boot) ? self.boots[boot].set : 0 }
}

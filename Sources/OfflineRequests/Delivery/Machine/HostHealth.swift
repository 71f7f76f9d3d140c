// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Whether a host is doing well, and how many requests it gets while it is not: its circuit breaker.
struct HostHealth: Hashable, Sendable {
    /// How many requests to it are being sent.
    var running = 0
    /// How many attempts failed since the last one that did not.
    private(set) var failures = 0
    /// How many pauses followed one another; above zero only one request at a time finds out whether it is back.
    private(set) var pauses = 0
    /// Until when it is left alone; may have passed.
    private(set) var pausedUntil: MonotonicTime?

    /// Whether nothing of it needs to be remembered.
    var isForgettable: Bool { self.running == 0 && self.failures == 0 && self.pauses == 0 }

    /// Until when it is left alone, if it is.
    func pause(at now: MonotonicTime) -> MonotonicTime? {
        self.pausedUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// How many requests may be sent to it at the same time, while it is not left alone.
    func limit(_ settings: DeliverySettings) -> Int {
        self.pauses > 0 ? 1 : max(1, settings.perHostConcurrency)
    }

    /// It answered as one that works.
    mutating func recovered() {
        self = HostHealth(running: self.running)
    }

    /// An attempt failed; returns whether the host has to be left alone: because it fails often, or at once.
    mutating func failed(pausesAtOnce: Bool, at now: MonotonicTime, _ settings: DeliverySettings) -> Bool {
        // What was under way when the pause began says nothing new.
        guard self.pause(at: now) == nil else { return false }
        self.failures += 1
        return pausesAtOnce || self.pauses > 0 || self.failures >= max(1, settings.failuresBeforePause)
    }

    /// It is left alone.
    mutating func pause(until end: MonotonicTime) {
        self.pausedUntil = end
        self.pauses += 1
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Whether a host is doing well, and how many requests it gets while it is not: its circuit breaker.
struct HostHealth: Hashable, Sendable {
    /// How many requests to it are being sent.
    var running = 0
    /// How many attempts failed since the last one that did not.
    private(set) var failures = 0
    /// How many pauses followed one another because it was not reached or did not answer.
    private(set) var pauses = 0
    /// Until when it is left alone; may have passed.
    private(set) var pausedUntil: MonotonicTime?
    /// When the last attempt failed.
    private(set) var failedAt: MonotonicTime?
    /// How many requests were sent to it since the first of those failures.
    var probes = 0

    /// Whether the last attempt failed; then one request at a time finds out whether it works again.
    var isFailing: Bool { self.failures > 0 || self.pauses > 0 }

    /// Whether nothing of it needs to be remembered.
    var isForgettable: Bool { self.running == 0 && !self.isFailing }

    /// Until when it is left alone, if it is.
    func pause(at now: MonotonicTime) -> MonotonicTime? {
        self.pausedUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// How many requests may be sent to it at the same time, while it is not left alone.
    func limit(_ settings: QueueSettings) -> Int {
        self.isFailing ? 1 : max(1, settings.perHostConcurrency)
    }

    /// It answered as one that works.
    mutating func recovered() {
        self = HostHealth(running: self.running)
    }

    /// It answered, but with the failure of that request; returns whether it has to be left alone for a moment, because
    /// every answer is one.
    mutating func faulted(at now: MonotonicTime, _ settings: QueueSettings) -> Bool {
        guard self.pause(at: now) == nil else { return false }
        self.failed(at: now)
        self.pauses = 0
        return self.failures >= max(1, settings.failuresBeforePause)
    }

    /// An attempt failed; returns whether the host has to be left alone: because it fails often, or at once.
    mutating func failed(pausesAtOnce: Bool, at now: MonotonicTime, _ settings: QueueSettings) -> Bool {
        // What was under way when the pause began says nothing new.
        guard self.pause(at: now) == nil else { return false }
        self.failed(at: now)
        return pausesAtOnce || self.pauses > 0 || self.failures >= max(1, settings.failuresBeforePause)
    }

    private mutating func failed(at now: MonotonicTime) {
        self.failures += 1
        self.failedAt = now
    }

    /// It is left alone.
    mutating func pause(until end: MonotonicTime, isReached: Bool) {
        self.pausedUntil = end
        if !isReached { self.pauses += 1 }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How much may come within a second.
struct FlowAllowance: Hashable, Sendable {
    let lines: Int
    let bytes: Int
    private var since: MonotonicTime?
    private var usedLines = 0
    private var usedOctets = 0

    init(lines: Int, bytes: Int) {
        self.lines = lines
        self.bytes = bytes
    }

    /// Whether there is nothing left until ``renewal``.
    var isUsedUp: Bool { self.usedLines > self.lines || self.usedOctets > self.bytes }

    /// When there is something left again; nil while there is.
    var renewal: MonotonicTime? { self.isUsedUp ? self.since.map { $0 + .seconds(1) } : nil }

    /// Begins a new second when the last one is over.
    mutating func renew(now: MonotonicTime) {
        guard let since, now - since >= .seconds(1) else { return }
        self.since = nil
        self.usedLines = 0
        self.usedOctets = 0
    }

    /// Notes what came.
    mutating func take(lines: Int = 0, bytes: Int = 0, now: MonotonicTime) {
        self.renew(now: now)
        self.since = self.since ?? now
        self.usedLines += lines
        self.usedOctets += bytes
    }
}

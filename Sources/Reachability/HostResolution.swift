// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// When a name is looked up, and what is known of it, without input and output.
///
/// Addresses once found are kept until others are found: a dead name server says nothing about the host. A change of the
/// network asks anew; a failure too, after 1 s, doubling up to a minute. What works is not asked again without a reason.
struct HostResolution: Sendable {
    /// How long the first answer may take before its absence is reported.
    static let patience: Duration = .seconds(5)
    /// Between two lookups there is at least this much time, however often the network changes.
    static let spacing: Duration = .milliseconds(250)
    static let firstPause: Duration = .seconds(1)
    static let longestPause: Duration = .seconds(60)

    /// The addresses found last, in the order in which they are tried.
    private(set) var addresses: [InternetAddress] = []
    /// Why the last lookup brought none; nil after a success, and until the first on this network has ended.
    private(set) var failure: String?
    /// When the lookup began that is under way.
    private var pendingSince: MonotonicTime?
    /// Whether the network has changed since it began.
    private var isOutdated = false
    private var startedAt: MonotonicTime?
    private var dueAt: MonotonicTime?
    private var pause = Self.firstPause

    /// When to call ``wake(now:)``; nil when only an input can change anything.
    var nextDeadline: MonotonicTime? {
        guard let pendingSince else { return self.dueAt }
        return self.addresses.isEmpty && self.failure == nil ? pendingSince + Self.patience : nil
    }

    /// Takes notice of a change of the network, or of the beginning.
    ///
    /// - Returns: Whether to look the name up now.
    mutating func networkChanged(now: MonotonicTime) -> Bool {
        self.pause = Self.firstPause
        guard self.pendingSince == nil else {
            self.isOutdated = true
            return false
        }
        // What another network said of the name counts no more.
        self.failure = nil
        self.dueAt = max(now, self.startedAt.map { $0 + Self.spacing } ?? now)
        return self.wake(now: now)
    }

    /// Does what is due.
    ///
    /// - Returns: Whether to look the name up now.
    mutating func wake(now: MonotonicTime) -> Bool {
        if let pendingSince {
            if self.addresses.isEmpty, self.failure == nil, pendingSince + Self.patience <= now {
                self.failure = "the name servers did not answer within \(DurationText.format(Self.patience))"
            }
            return false
        }
        guard let dueAt, dueAt <= now else { return false }
        self.dueAt = nil
        self.pendingSince = now
        self.startedAt = now
        self.isOutdated = false
        return true
    }

    /// Takes the result of the lookup.
    mutating func ended(_ lookup: NameLookup, now: MonotonicTime) {
        self.pendingSince = nil
        switch lookup {
        case .addresses(let found) where !found.isEmpty:
            // Name servers shuffle their answers; that is no news.
            if Set(found) != Set(self.addresses) { self.addresses = found }
            self.failure = nil
            self.pause = Self.firstPause
        case .addresses: self.fail("it has no address", now: now)
        case .failed(let reason): self.fail(reason, now: now)
        }
        guard self.isOutdated else { return }
        self.failure = nil
        self.dueAt = max(now, self.startedAt.map { $0 + Self.spacing } ?? now)
    }

    private mutating func fail(_ reason: String, now: MonotonicTime) {
        self.failure = reason
        self.dueAt = now + self.pause
        self.pause = min(self.pause * 2, Self.longestPause)
    }
}

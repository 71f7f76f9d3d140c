// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What one backend contributes to a path.
public struct BackendReport: Hashable, Sendable, Codable {
    /// The backend's name, unique within a coordinator.
    public var name: String
    /// How the backend is used.
    public var mode: BackendMode
    /// How the backend is doing.
    public var health: BackendHealth
    /// The status its evidence leads to; nil when it has no verdict.
    public var status: PathStatus?
    /// Why.
    public var reason: PathReason?
    /// Whether the backend states the status and its reason, so that netpath did not work them out.
    public var isStated = false
    /// The machine that states them; nil when it is this one (``Conclusion/host``).
    public var host: String?
    /// The interfaces that it states facts about (``InterfaceFacts``); nil when there are none.
    public var describedInterfaces: [String]?
    /// The last error; nil while healthy.
    public var error: String?
    /// What limits the backend.
    public var limitations: [String]
    /// When the backend last reported; nil before its first report.
    @EqualityIgnored public var reportedAt: MonotonicTime?
    /// How new what it says is (``Evidence/observedAt``); nil before its first report.
    ///
    /// Long before ``reportedAt`` when a probe was asked again and told its last round.
    @EqualityIgnored public var observedAt: MonotonicTime?
    /// How often the backend was started again.
    @EqualityIgnored public var restarts: Int
    /// How often the backend lost events and read everything again.
    @EqualityIgnored public var resynchronizations: Int
}

extension BackendReport {
    /// Creates a report of a backend that does well and has no verdict; everything else is set afterwards.
    public init(name: String, mode: BackendMode = .active, health: BackendHealth = .healthy) {
        self.init(name: name, mode: mode, health: health, limitations: [], restarts: 0, resynchronizations: 0)
    }

    /// The error of a backend that said nothing when it was started.
    package static let silence = "no first report within 2 s"
    /// What is logged of a backend that ended by itself, after its error.
    package static let restart = "it will be started again"

    /// Whether the backend has a verdict that counts now.
    // Inlined: else each call copies the whole report.
    @inline(__always) var hasVerdict: Bool { self.health == .healthy && self.status != nil }

    /// Whether the backend should have reported by now and has not: neither what it sees nor why it failed.
    package var isSilent: Bool {
        self.health == .starting || (self.reportedAt == nil && self.error == Self.silence)
    }
}

/// How a backend is used.
public enum BackendMode: String, Hashable, Sendable, CaseIterable, Codable {
    /// It runs all the time.
    case active
    /// It runs only while everything of higher priority is unhealthy, has had no verdict for 0.5 s, or only probes.
    case standby
    /// It does not run.
    case off
}

/// How a backend is doing.
public enum BackendHealth: String, Hashable, Sendable, Codable {
    /// It has not reported yet.
    case starting
    /// It reports.
    case healthy
    /// It ended, or stays silent when it should report.
    case unhealthy
    /// It does not run because something of higher priority does well.
    case standby
    /// It is switched off.
    case off
    /// It was left out of an answer of the moment, since to ask it sends packets or starts a program.
    case notAsked
}

/// A healthy backend that sees, or states, another status than the published one.
public struct Disagreement: Hashable, Sendable, Codable {
    /// The backend's name.
    public var backend: String
    /// The status its evidence leads to.
    public var status: PathStatus
    /// Why.
    public var reason: PathReason
    /// Whether the backend states it, be it beside evidence that leads to another status.
    public var isStated: Bool

    /// Creates a disagreement.
    public init(backend: String, status: PathStatus, reason: PathReason, isStated: Bool = false) {
        self.backend = backend
        self.status = status
        self.reason = reason
        self.isStated = isStated
    }
}

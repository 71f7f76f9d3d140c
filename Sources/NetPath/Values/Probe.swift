// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The state of an active probe.
public struct ProbeRound: Hashable, Sendable {
    /// The latest outcome of each target.
    public var outcomes: [ProbeOutcome]
    /// Whether every target was tried since the last change of the network.
    public var isComplete: Bool

    /// Creates a round.
    public init(outcomes: [ProbeOutcome], isComplete: Bool) {
        self.outcomes = outcomes
        self.isComplete = isComplete
    }

    /// Whether any target answered, be it with a refusal: a refusal crossed the network too.
    public var answered: Bool {
        self.outcomes.contains { $0.result == .connected || $0.result == .refused }
    }
}

/// What became of a probe of one target.
public struct ProbeOutcome: Hashable, Sendable {
    /// The results that are told apart.
    public enum Result: Hashable, Sendable {
        /// The connection was made.
        case connected
        /// A host answered with a refusal: the path works.
        case refused
        /// The network answered that it cannot deliver; the error number of the system.
        case unreachable(errno: Int32)
        /// Nothing came back in time.
        case timedOut
        /// The target's name has no address.
        case notResolved
        /// Somebody else answered: a captive portal.
        case portal
    }

    /// The target as configured.
    public var target: String
    /// The result.
    public var result: Result
    /// The time from the request to the answer.
    @EqualityIgnored public var roundTrip: Duration?

    /// Creates an outcome.
    public init(target: String, result: Result, roundTrip: Duration? = nil) {
        self.target = target
        self.result = result
        self.roundTrip = roundTrip
    }
}

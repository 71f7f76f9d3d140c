// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The state of an active probe.
public struct ProbeRound: Hashable, Sendable, Codable {
    /// The latest outcome of each target.
    public var outcomes: [ProbeOutcome]
    /// Whether every target was tried since the last change of the network.
    public var isComplete: Bool
    /// The page of a captive portal where users sign in; nil when it is unknown.
    public var portalURL: String?
    /// Whether targets are asked for what only they answer, as over HTTP; nil counts as no.
    ///
    /// A connection that is refused is no answer then: a firewall refuses, too.
    public var asksForContent: Bool?

    /// Creates a round.
    public init(outcomes: [ProbeOutcome], isComplete: Bool) {
        self.outcomes = outcomes
        self.isComplete = isComplete
    }

    /// Whether any target answered, be it with a refusal: a refusal crossed the network too.
    ///
    /// Not where a captive portal answered for one of them: it lets connections be made to all of them.
    public var answered: Bool {
        let answers: [ProbeOutcome.Result] = [.connected, .expected] + (self.asksForContent == true ? [] : [.refused])
        return !self.metPortal && self.outcomes.contains { answers.contains($0.result) }
    }

    /// Whether a captive portal answered.
    var metPortal: Bool { self.outcomes.contains { $0.result == .portal } }

    /// Whether a target gave the answer that only it gives.
    var isVerified: Bool { self.answered && self.outcomes.contains { $0.result == .expected } }

    /// Whether every target was tried, and none answered.
    var failed: Bool {
        self.isComplete && !self.answered && !self.outcomes.contains { $0.result == .unexpected }
    }
}

/// What became of a probe of one target.
public struct ProbeOutcome: Hashable, Sendable, Codable {
    /// The results that are told apart.
    public enum Result: Hashable, Sendable, Codable {
        /// The connection was made.
        case connected
        /// A host, or a firewall before it, answered with a refusal.
        case refused
        /// The network answered that it cannot deliver; the error number of the system.
        case unreachable(errno: Int32)
        /// Nothing came back in time.
        case timedOut
        /// The target's name has no address, or cannot be looked up.
        case notResolved
        /// A captive portal answered in place of the target.
        case portal
        /// The answer came that was expected of the target, which is more than a connection.
        case expected
        /// The target answered something else, which says neither that the internet can be reached nor that it cannot.
        case unexpected
        /// The peer that answered could not prove to be the target.
        case impersonated

        /// The name in documents, in metrics and in what plugins say.
        package var name: String {
            switch self {
            case .connected: "connected"
            case .refused: "refused"
            case .unreachable: "unreachable"
            case .timedOut: "timedOut"
            case .notResolved: "notResolved"
            case .portal: "portal"
            case .expected: "expected"
            case .unexpected: "unexpected"
            case .impersonated: "impersonated"
            }
        }
    }

    /// The target as configured.
    public var target: String
    /// The result.
    public var result: Result
    /// The time from the request to the answer.
    @EqualityIgnored public var roundTrip: Duration?
    /// What there is to know besides, a sentence for people, such as what is wrong with a certificate.
    public var detail: String?

    /// Creates an outcome.
    public init(target: String, result: Result, roundTrip: Duration? = nil) {
        self.target = target
        self.result = result
        self.roundTrip = roundTrip
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a coordinator makes of what its backends say.
public struct CoordinatorSettings: Hashable, Sendable, Codable {
    /// What verdicts depend on besides the evidence.
    public var evaluation: EvaluationPolicy
    /// How several verdicts become one path.
    public var merge: MergePolicy
    /// What probes may do to the status.
    public var probes: ProbeInfluence
    /// What a captive portal may do to the status.
    public var portals: PortalInfluence
    /// How long a change of the status has to hold.
    public var damping: Damping

    /// Creates settings; the defaults are those of the built-in configuration.
    public init(
        evaluation: EvaluationPolicy = EvaluationPolicy(),
        merge: MergePolicy = .priority,
        probes: ProbeInfluence = .advisory,
        portals: PortalInfluence = .advisory,
        damping: Damping = Damping()
    ) {
        self.evaluation = evaluation
        self.merge = merge
        self.probes = probes
        self.portals = portals
        self.damping = damping
    }
}

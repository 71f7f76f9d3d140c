// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the evaluation of evidence depends on besides the evidence.
public struct EvaluationPolicy: Hashable, Sendable {
    /// How long after its carrier came an interface may be waiting for an address.
    public var configurationGrace: Duration

    /// Creates a policy; the default grace of 45 s covers a slow DHCP server behind spanning tree.
    public init(configurationGrace: Duration = .seconds(45)) {
        self.configurationGrace = configurationGrace
    }
}

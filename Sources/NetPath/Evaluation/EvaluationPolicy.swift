// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the evaluation of evidence depends on besides the evidence.
public struct EvaluationPolicy: Hashable, Sendable {
    /// How long after its carrier came an interface may be waiting for an address.
    public var configurationGrace: Duration
    /// What is known of interfaces besides the evidence; of the rules the first that matches applies.
    public var interfaceRules: [InterfaceRule]

    /// Creates a policy; the default grace of 45 s covers a slow DHCP server behind spanning tree.
    public init(configurationGrace: Duration = .seconds(45), interfaceRules: [InterfaceRule] = []) {
        self.configurationGrace = configurationGrace
        self.interfaceRules = interfaceRules
    }
}

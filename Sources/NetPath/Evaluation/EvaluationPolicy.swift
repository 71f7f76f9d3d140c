// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the evaluation of evidence depends on besides the evidence.
public struct EvaluationPolicy: Hashable, Sendable, Codable {
    /// How long after its carrier came an interface may be waiting for an address.
    public var configurationGrace: Duration
    /// What is known of interfaces besides the evidence; of the rules the first that matches applies.
    public var interfaceRules: [InterfaceRule]
    /// What gateways that do not answer do to the status.
    public var gateways: GatewayInfluence

    /// Creates a policy; the default grace of 45 s covers a slow DHCP server behind spanning tree.
    public init(
        configurationGrace: Duration = .seconds(45),
        interfaceRules: [InterfaceRule] = [],
        gateways: GatewayInfluence = .advisory
    ) {
        self.configurationGrace = configurationGrace
        self.interfaceRules = interfaceRules
        self.gateways = gateways
    }
}

/// What gateways that do not answer do to the status of a path.
public enum GatewayInfluence: String, Hashable, Sendable, CaseIterable, Codable {
    /// They are told of (``Gateway/answers``), and change nothing else: a program that sends nothing because it was told
    /// so would never learn that the gateway is back.
    case advisory
    /// A path is satisfied only as long as some way does not lead through a silent gateway.
    ///
    /// Its return is noticed when a program, such as a probe, sends packets through it, or it sends some itself.
    case required
}

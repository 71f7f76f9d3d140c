// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What one backend's evidence means.
public struct Verdict: Hashable, Sendable, Codable {
    /// Whether there is a path.
    public var status: PathStatus
    /// Why.
    public var reason: PathReason
    /// The families with a path.
    public var families: Set<AddressFamily> = []
    /// The interfaces, as in ``NetworkPath/interfaces``.
    public var interfaces: [PathInterface]
    /// As in ``NetworkPath/carriedByIndex``.
    public var carriedByIndex: UInt32?
    /// As in ``NetworkPath/gateways``.
    public var gateways: [Gateway] = []
    /// As in ``NetworkPath/dnsServers``.
    public var dnsServers: [DNSServer]?
    /// As in ``NetworkPath/isExpensive``.
    public var isExpensive = false
    /// As in ``NetworkPath/isConstrained``.
    public var isConstrained = false
    /// Whether the backend states it, so that it was not worked out; see ``Conclusion``.
    public var isStated = false
    /// The machine that states it; nil when it is this one (``Conclusion/host``).
    public var host: String?
    /// As in ``NetworkPath/knowsFamilies``.
    public var knowsFamilies = true
    /// Whether a "no" may be wrong because the backend sees only part of the routing policy.
    public var isPartial = false
    /// Whether this is such a "no".
    var isPartialNo: Bool { self.isPartial && self.status < .satisfied }
    /// When the verdict must be reached anew without any event; nil when only an event can change it.
    @EqualityIgnored public var reviseAt: MonotonicTime?

    // As recordings have them.
    private enum CodingKeys: String, CodingKey {
        case status, reason, families, interfaces, gateways, dnsServers, isExpensive, isConstrained, isStated, host
        case carriedByIndex = "underlyingIndex"
        case knowsFamilies, isPartial, reviseAt
    }

    /// Creates a verdict without details; everything else is set afterwards.
    public init(_ status: PathStatus, _ reason: PathReason, interfaces: [PathInterface] = []) {
        self.status = status
        self.reason = reason
        self.interfaces = interfaces
    }
}

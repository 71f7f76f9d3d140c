// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Everything a backend knows at one moment: evidence, not a verdict.
///
/// A source that knows the answer and not the facts states a ``conclusion`` instead.
/// What a backend cannot know is nil (or `unknown`), which never means "no". Times and counters do not count when two
/// values are compared.
public struct Evidence: Hashable, Sendable, Codable {
    // First, as they are what mostly differs when two values are compared.

    /// What the kernel would do with packets to the reference addresses; empty when the backend cannot ask.
    public var referenceRoutes: [ReferenceRoute] = []
    /// The interfaces that could matter, sorted by index; nil when the backend does not see interfaces.
    ///
    /// A backend may leave out members of a bridge, bond or VRF, and most of those that are ``InterfaceRelevance/spare``
    /// or ``InterfaceRelevance/ignored``, but none that the kernel's answers lead through.
    public var interfaces: [NetworkInterface]?
    /// The gateways of the kernel's answers, and of default routes, of which the backend knows whether they answer.
    public var gateways: [Gateway] = []
    /// Whether spare interfaces were left out: when there is no path, the list of interfaces is not complete.
    public var isAbridged = false
    /// The name servers of the system's resolver, in order; nil when unknown.
    ///
    /// Of a local forwarder, such as the stub of systemd-resolved, those it forwards to. Whether they can be reached is
    /// worked out from ``dnsRoutes``.
    public var dnsServers: [DNSServer]?
    /// What the kernel would do with packets to ``dnsServers``, in the same order; empty when the backend cannot ask.
    public var dnsRoutes: [RouteLookupResult] = []
    /// The state of an active probe; nil for backends that send nothing.
    public var probes: ProbeRound?
    /// What the backend states without facts, or beside them; nil for backends that report evidence only.
    public var conclusion: Conclusion? {
        @inline(__always) get { self.conclusions.first }
        set { self.conclusions = newValue.map { [$0] } ?? [] }
    }
    // One at most. In an array, as every event copies evidence, and nearly none has one.
    private var conclusions: [Conclusion] = []
    /// What the backend states of interfaces that others see; it needs no ``interfaces`` of its own for that.
    public var facts: [InterfaceFacts] {
        get { self.givenFacts ?? [] }
        set { self.givenFacts = newValue.isEmpty ? nil : newValue }
    }
    private(set) var givenFacts: [InterfaceFacts]?
    /// What backends state of the ``interfaces``, in order of priority; a coordinator sets it.
    package var statements: [InterfaceStatement] {
        get { self.givenStatements ?? [] }
        set { self.givenStatements = newValue.isEmpty ? nil : newValue }
    }
    @EqualityIgnored private(set) var givenStatements: [InterfaceStatement]?
    /// Whether a route not found may still exist, because the backend sees only part of the routing policy.
    public var isPartial = false
    /// What limited the backend, each a sentence for people.
    public var limitations: [String] = []
    /// When the backend began to read what this holds: all of it is as new as that, or newer.
    ///
    /// Of a probe: when the round ended, also where it is told again. A coordinator takes a reading of a backend
    /// that stands in for another only if it began after that one fell silent.
    @EqualityIgnored public var observedAt: MonotonicTime
    /// How often the backend lost events and read everything again.
    @EqualityIgnored public var resynchronizations = 0
    /// How often the machine was suspended while the backend ran, as far as it noticed.
    ///
    /// A higher number than before makes the coordinator ask all other backends to look again, even when the evidence
    /// is the same: what they saw is of before the pause.
    @EqualityIgnored public var suspensions = 0

    /// Creates evidence of which everything is unknown; what is read is set afterwards.
    public init(at time: MonotonicTime) {
        self.observedAt = time
    }

    /// Whether it is of one who sees interfaces and asks where packets go.
    var seesPaths: Bool { self.interfaces != nil && !self.referenceRoutes.isEmpty }

    /// What limited the backend, as far as it concerns a verdict of a status: a list of what carries a path is
    /// complete without the interfaces that cannot.
    package func limitations(concerning status: PathStatus?) -> [String] {
        guard self.isAbridged, status != .satisfied else { return self.limitations }
        return self.limitations + ["there are more virtual interfaces without an address than are listed"]
    }

    /// Finds an interface by index.
    public func interface(_ index: UInt32) -> NetworkInterface? {
        self.interfaces?.first { $0.index == index }
    }
}

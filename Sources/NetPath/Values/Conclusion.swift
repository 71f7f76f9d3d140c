// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a backend states of the path without the facts behind it: an answer in place of evidence.
///
/// For sources that know the answer and not the facts: a network manager, a modem's daemon, a flag file, a vendor's SDK.
/// It is merged like any verdict, and always shown as stated by the backend. Where evidence also holds facts that
/// allow a verdict, these decide, and the conclusion is compared with them. What the source does not know is nil.
public struct Conclusion: Hashable, Sendable, Codable {
    /// Whether there is a path.
    public var status: PathStatus
    /// Why: a code, which may be one of the source's own, and a sentence for people.
    public var reason: PathReason
    /// The name of the interface that carries the path, or that the reason is about.
    ///
    /// What other backends know of an interface of this name is shown with it.
    public var interface: String?
    /// The families with a path.
    public var families: Set<AddressFamily>?
    /// Whether traffic is likely to cost money; with nil it is on a cellular interface and no other.
    ///
    /// A rule about the interface wins.
    public var isExpensive: Bool?
    /// Whether the internet can be reached.
    public var internet: InternetReachability?
    /// Where a captive portal wants people to sign in.
    public var portalURL: String?
    /// The machine that states this of a path of its own; nil when it is about this machine.
    ///
    /// What another machine states counts as a probe does: it sets ``NetworkPath/internet``, and the status only with
    /// ``ProbeInfluence/required``. Whatever facts come with it are of that machine, and are dropped.
    public var host: String?

    /// Creates a conclusion; everything else is set afterwards.
    public init(_ status: PathStatus, _ reason: PathReason) {
        self.status = status
        self.reason = reason
    }
}

extension Conclusion {
    /// What it says of the internet; nil when nothing.
    package var internetWord: InternetReachability? {
        if self.internet == .portal { return .portal }
        guard self.host != nil else { return self.internet == .unknown ? nil : self.internet }
        // A machine without a path has no internet to offer, whatever it stated before.
        if self.status != .satisfied { return .unreachable }
        return self.internet == .unreachable ? .unreachable : .reachable
    }
}

extension Evidence {
    /// Whether each report is a new reading: of this machine's network, or of a program that states its path.
    ///
    /// A probe's round, or what another machine stated, may be reported again.
    var isReading: Bool { self.interfaces != nil || (self.conclusion.map { $0.host == nil } ?? false) }

    /// The evidence without what another machine knows of its own network.
    package var ofThisMachine: Evidence {
        guard self.conclusion?.host != nil else { return self }
        var evidence = Evidence(at: self.observedAt)
        evidence.conclusion = self.conclusion
        evidence.limitations = self.limitations
        evidence.resynchronizations = self.resynchronizations
        return evidence
    }
}

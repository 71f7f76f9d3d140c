// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

@testable import NetPath

/// The network of a walk as it really is.
enum TakeoverWorld: CaseIterable {
    case first
    case second
    /// A policy rule that a partial view does not show; the interface is well.
    case policy
    case noLink
    case gone

    var status: PathStatus {
        switch self {
        case .first, .second, .policy: .satisfied
        case .noLink, .gone: .unsatisfied
        }
    }

    /// What a backend states of it that shows no evidence; when it is ignorant it takes back what it said.
    func stated(isNaming: Bool, lacksVerdict: Bool, at time: MonotonicTime) -> Evidence {
        var evidence = Evidence(at: time)
        guard !lacksVerdict else { return evidence }
        var conclusion = Conclusion(self.status, PathReason(.stated, "\(self)"))
        if isNaming { conclusion.interface = self == .second ? "eth1" : "eth0" }
        evidence.conclusion = conclusion
        return evidence
    }

    /// What a backend reads of it.
    ///
    /// - Parameters:
    ///   - isPartial: Whether the backend sees only part of the routing policy.
    ///   - lacksVerdict: Whether it gets no answers, and not the whole list of interfaces.
    ///   - time: When the reading begins.
    /// - Returns: The evidence.
    func seen(isPartial: Bool, lacksVerdict: Bool = false, at time: MonotonicTime) -> Evidence {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
        let eth1 = NetworkInterface.wired("eth1", 3).with("198.51.100.7/24")
        var evidence: Evidence =
            switch self {
            case .first: .online(eth0)
            case .second: .online(eth1)
            case .policy: isPartial ? .seeing(.loopback(), eth0) : .online(eth0)
            case .noLink:
                .seeing(.loopback(), eth0.withoutCarrier(), NetworkInterface.wired("eth1", 3).withoutCarrier())
            case .gone: .seeing(.loopback())
            }
        evidence.observedAt = time
        evidence.isPartial = isPartial
        if lacksVerdict {
            evidence = evidence.unanswered(.ipv4).unanswered(.ipv6)
            evidence.isAbridged = true
        }
        return evidence
    }
}

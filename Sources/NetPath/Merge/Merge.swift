// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend's contribution to a merge.
public struct BackendOpinion: Hashable, Sendable {
    /// Who speaks and how it is doing.
    public var report: BackendReport
    /// Its evidence; nil before its first word.
    public var observation: Observation?
    /// What the evidence means; nil without an opinion.
    public var verdict: Verdict?

    /// Creates a contribution.
    public init(report: BackendReport, observation: Observation? = nil, verdict: Verdict? = nil) {
        self.report = report
        self.observation = observation
        self.verdict = verdict
    }

    /// Whether the backend sees interfaces, or did when it broke; where one does, probes only advise.
    var seesInterfaces: Bool { self.observation?.interfaces != nil }
    var isHealthy: Bool { self.report.health == .healthy }
}

/// Merges the opinions of all backends into one path.
///
/// Pure, deterministic and independent of the order in which reports arrived; the order of `opinions` is the
/// priority. Backends that are not healthy do not vote: a monitor that broke never means offline. Probes vote only
/// where no backend sees interfaces; they do not step in for one that broke either.
///
/// - Returns: The path, without sequence number and time; nil while nobody who may vote has an opinion.
public func merge(_ opinions: [BackendOpinion], policy: MergePolicy) -> NetworkPath? {
    let seeing = opinions.filter(\.seesInterfaces)
    let voters = (seeing.isEmpty ? opinions : seeing).filter { $0.isHealthy && $0.verdict != nil }
    let statuses = voters.compactMap { $0.verdict?.status }.sorted()
    guard let first = voters.first?.verdict?.status else { return nil }
    let status =
        switch policy {
        case .priority: first
        case .unanimous: statuses.first ?? first
        case .any: statuses.last ?? first
        case .majority: statuses[(statuses.count - 1) / 2]
        }
    guard let winner = voters.first(where: { $0.verdict?.status == status }), let verdict = winner.verdict
    else { return nil }

    let rounds = opinions.filter(\.isHealthy).compactMap { $0.observation?.probes }
    return NetworkPath(
        status: verdict.status,
        reason: verdict.reason,
        isStale: false,
        interfaces: verdict.interfaces,
        carriedBy: verdict.carriedBy,
        gateways: verdict.gateways,
        dnsServers: ([winner] + opinions.filter(\.isHealthy)).lazy.compactMap { $0.observation?.dnsServers }.first,
        supportsIPv4: verdict.families.contains(.ipv4),
        supportsIPv6: verdict.families.contains(.ipv6),
        isExpensive: verdict.isExpensive,
        isConstrained: verdict.isConstrained,
        internet: internet(rounds),
        probes: rounds.flatMap(\.outcomes),
        backends: opinions.map(\.report),
        disagreements: voters.compactMap { voter in
            guard let other = voter.verdict, other.status != status else { return nil }
            return Disagreement(backend: voter.report.name, status: other.status, reason: other.reason)
        },
        sequence: 0,
        publishedAt: MonotonicTime(nanoseconds: 0),
        observedAt: winner.observation?.observedAt ?? MonotonicTime(nanoseconds: 0)
    )
}

private func internet(_ rounds: [ProbeRound]) -> InternetReachability {
    if rounds.contains(where: { $0.answered }) { return .reachable }
    if rounds.contains(where: { $0.outcomes.contains { $0.result == .portal } }) { return .portal }
    return rounds.contains { $0.isComplete } ? .unreachable : .unknown
}

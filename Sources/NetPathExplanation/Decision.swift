// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// What decided a path: the verdict of one backend, or a rule about several.
package struct Decision: Sendable {
    /// The backend whose evidence the path is built on; nil where none has shown any.
    package let backend: BackendSnapshot?
    /// The rule about several backends; nil where the one of ``backend`` is all.
    private let rule: String?
    /// Whether the rule of ``backend`` led to the status.
    private let isOfBackend: Bool
    private let remedies: [String]

    /// Finds out what decided a path, or why there is none.
    ///
    /// - Parameters:
    ///   - path: The path; nil where no backend has a verdict.
    ///   - snapshots: What every backend says, in order of priority.
    package init(_ path: NetworkPath?, among snapshots: [BackendSnapshot]) {
        let evident = snapshots.filter { $0.evidence != nil }
        // Beside those that speak of paths probes have no vote, though they may say the same.
        let hasPathBackend = snapshots.contains(where: \.reportsPaths)
        let agreeing = evident.filter {
            path != nil && $0.verdict?.status == path?.status && $0.verdict?.reason == path?.reason
                && (!hasPathBackend || $0.reportsPaths)
        }
        let healthy = agreeing.filter { $0.report.health == .healthy }
        let winner = healthy.first { $0.report.name == path?.statedBy } ?? healthy.first
        if let path, !path.isStale, winner == nil, let judged = Self.judged(path, snapshots) {
            self = judged
        } else if let path, path.isStale {
            let judgement = winner == nil && agreeing.isEmpty ? Self.judged(path, snapshots) : nil
            let last = agreeing.first { $0.report.name == path.statedBy } ?? agreeing.first
            self.init(
                last ?? judgement?.backend ?? evident.first,
                [judgement?.rule, Self.stale(snapshots)].compactMap(\.self).joined(separator: " "),
                isOfBackend: false,
                judgement?.remedies ?? []
            )
        } else {
            self.init(
                winner ?? agreeing.first ?? evident.first,
                winner.flatMap { Self.standsIn($0, snapshots) },
                isOfBackend: true
            )
        }
    }

    private init(_ backend: BackendSnapshot?, _ rule: String?, isOfBackend: Bool, _ remedies: [String] = []) {
        self.backend = backend
        self.rule = rule
        self.isOfBackend = isOfBackend
        self.remedies = remedies
    }

    /// Adds what decided to what explains the verdict of ``backend``.
    package func applied(to explanation: Explanation) -> Explanation {
        guard let rule else { return explanation }
        return Explanation(
            rule: self.isOfBackend ? "\(rule) \(explanation.rule)" : rule,
            evidence: explanation.evidence,
            remedies: self.remedies + explanation.remedies
        )
    }

    // MARK: Rules

    /// The decision of required probes or portals on a path that would be satisfied; nil where the reason is another one.
    private static func judged(_ path: NetworkPath, _ snapshots: [BackendSnapshot]) -> Decision? {
        let voters = snapshots.filter { $0.report.health == .healthy && $0.verdict?.status == .satisfied }
        let backend = voters.first(where: \.reportsPaths) ?? voters.first
        // Where only probes decide, and one met a portal.
        let probing = snapshots.first { $0.report.health == .healthy && $0.evidence?.probes != nil }
        let although = backend.map { "; without that it would be satisfied, by \($0.report.name)" } ?? ""
        let portal = Self.names(snapshots) { $0.metPortal } ?? "a backend"
        switch path.reason.code {
        case .captivePortal:
            let rule = """
                Status requiresConnection because the configuration says `merge.portals: requiresConnection`: nothing but a \
                captive portal is in the way, as \(portal) tells\(although).
                """
            return Decision(backend ?? probing, rule, isOfBackend: false)
        case .probeFailed:
            let isPortal = path.internet == .portal
            let probes = Self.names(snapshots) { $0.probes != nil } ?? "the probes"
            let found = isPortal ? "a captive portal answered in place of the targets" : "no target answered"
            let rule = """
                Unsatisfied because the configuration says `merge.probes: required`: \(found) (\(probes))\(although).
                """
            let remedy = isPortal ? nil : RemedyTexts.text(.probeFailed)
            return Decision(backend ?? probing, rule, isOfBackend: false, [remedy].compactMap(\.self))
        case .statedUnreachable:
            let speaker =
                Self.names(snapshots) { [.unreachable, .portal].contains($0.conclusion?.internetWord) } ?? "a backend"
            let word = path.internet == .portal ? "there is a captive portal" : "the internet cannot be reached"
            let rule = """
                Unsatisfied because the configuration says `merge.probes: required`, and \(speaker) states that \
                \(word)\(although).
                """
            return Decision(backend, rule, isOfBackend: false)
        default: return nil
        }
    }

    /// Why a backend decides that others are above; nil where all of these are well, or have no say.
    private static func standsIn(_ winner: BackendSnapshot, _ snapshots: [BackendSnapshot]) -> String? {
        let above = snapshots.prefix { $0.report.name != winner.report.name }
        let missing = above.filter { $0.evidence == nil || $0.reportsPaths == winner.reportsPaths }
            .compactMap { $0.report.absence(", which is above it,") }
        guard !missing.isEmpty else { return nil }
        return "Takeover: \(winner.report.name) decides, because \(missing.joined(separator: ", and "))."
    }

    private static func stale(_ snapshots: [BackendSnapshot]) -> String {
        let missing = snapshots.compactMap { $0.report.absence() }
        let reason = missing.isEmpty ? "" : ": \(missing.joined(separator: ", and "))"
        return """
            Takeover, stale: the last path stays, because no backend that may decide can confirm or refute it now\(reason). A \
            broken backend never means offline.
            """
    }

    private static func names(_ snapshots: [BackendSnapshot], _ matches: (Evidence) -> Bool) -> String? {
        let names = snapshots.filter { $0.report.health == .healthy && $0.evidence.map(matches) == true }
            .map(\.report.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

extension Evidence {
    /// Whether a captive portal is in the way, as a probe or a statement says.
    fileprivate var metPortal: Bool {
        self.conclusion?.internet == .portal || self.probes?.outcomes.contains { $0.result == .portal } == true
    }
}

extension BackendReport {
    /// Why it has no verdict that counts, for people; nil where it has one, or does not run on purpose.
    fileprivate func absence(_ remark: String = "") -> String? {
        switch self.health {
        case .unhealthy: "\(self.name)\(remark) is unhealthy (\(self.error ?? "no error is known"))"
        case .starting: "\(self.name)\(remark) has not reported yet"
        case .healthy: self.status == nil ? "\(self.name)\(remark) has no verdict" : nil
        case .standby, .off, .notAsked: nil
        }
    }
}

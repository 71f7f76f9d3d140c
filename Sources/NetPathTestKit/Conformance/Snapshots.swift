// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem

/// What evidence must never contain, whatever a backend watches.
package enum Snapshots {
    /// What does not fit together within evidence of one run, in which nothing happened.
    static func defects(_ reports: [Evidence]) -> [String] {
        let now = SystemMonotonicClock().now()
        var defects = reports.flatMap(self.defects)
        if reports.contains(where: { $0.observedAt > now }) {
            defects.append("observedAt is in the future; take it from the context's clock when the reading begins")
        }
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            let parts = self.facts(of: earlier).subtracting(self.facts(of: later)).sorted().joined(separator: ", ")
            guard !parts.isEmpty else { continue }
            defects.append("a later report lacks \(parts); evidence replaces the one before, so tell it all")
        }
        return defects
    }

    /// What says "no" without having seen it.
    static func inventions(_ reports: [Evidence]) -> [String] {
        reports.flatMap { evidence in
            var inventions: [String] = []
            if let probes = evidence.probes, probes.isComplete, probes.outcomes.isEmpty {
                inventions.append(
                    "a round of probes is complete without an outcome, which means no; leave `probes` out"
                )
            }
            if evidence.interfaces?.isEmpty == true, !evidence.isAbridged, evidence.isPartial {
                inventions.append("it sees only a part, and says that there is no interface; leave `interfaces` out")
            }
            return inventions
        }
    }

    /// Interfaces that this machine does not have.
    package static func ghosts(_ reports: [Evidence]) -> [String] {
        reports.flatMap { evidence in
            var ghosts = (evidence.interfaces ?? []).filter { AddressZone.name(ofInterface: $0.index) != $0.name }.map {
                "it names an interface '\($0.name)' of index \($0.index), which this machine does not have"
            }
            if let conclusion = evidence.conclusion, conclusion.host == nil, let name = conclusion.interface,
                AddressZone.index(ofInterface: name) == nil
            {
                ghosts.append("it concludes something of an interface '\(name)', which this machine does not have")
            }
            return ghosts.map { "\($0); name what the kernel lists (ip link), with its index" }
        }
    }

    /// What a backend does that takes its verdict back and gives it again while nothing happens; nil for others.
    package static func alternation(_ reports: [Evidence]) -> String? {
        let verdicts = self.verdicts(reports)
        // One change may be the end of its start.
        guard verdicts.count > 2 else { return nil }
        let words = verdicts.prefix(4).map(\.rawValue).joined(separator: ", ")
        return """
            its verdict changed \(verdicts.count - 1) times while nothing happened (\(words)); say what the source says, \
            and wait for it to settle
            """
    }

    /// The verdicts in order, each with what differs from it behind it.
    package static func verdicts(_ reports: [Evidence]) -> [PathStatus] {
        var verdicts: [PathStatus] = []
        for status in reports.compactMap(self.status) where status != verdicts.last { verdicts.append(status) }
        return verdicts
    }

    /// What a coordinator makes of evidence; nil without a verdict.
    package static func status(of evidence: Evidence) -> PathStatus? {
        evidence.verdict(policy: EvaluationPolicy(), now: SystemMonotonicClock().now())?.status
    }

    private static func defects(of evidence: Evidence) -> [String] {
        var defects: [String] = []
        let interfaces = evidence.interfaces ?? []
        let indexes = interfaces.map(\.index)
        if indexes != indexes.sorted() { defects.append("the interfaces are not sorted by index") }
        if Set(indexes).count < indexes.count { defects.append("two interfaces have the same index") }
        if Set(interfaces.map(\.name)).count < interfaces.count { defects.append("two interfaces have the same name") }
        if evidence.interfaces != nil {
            let missing = evidence.referenceRoutes.egress.filter { !indexes.contains($0) }
            if !missing.isEmpty { defects.append("routes lead through interfaces \(missing), which are not listed") }
        }
        let destinations = evidence.referenceRoutes.map(\.destination)
        if Set(destinations).count < destinations.count { defects.append("a destination has two answers") }
        if !evidence.dnsRoutes.isEmpty, evidence.dnsRoutes.count != evidence.dnsServers?.count {
            defects.append("dnsRoutes are not those of dnsServers, one each in the same order")
        }
        return defects
    }

    private static func facts(of evidence: Evidence) -> Set<String> {
        var facts: Set<String> = []
        if evidence.interfaces != nil { facts.insert("interfaces") }
        if !evidence.referenceRoutes.isEmpty { facts.insert("referenceRoutes") }
        if evidence.dnsServers != nil { facts.insert("dnsServers") }
        if evidence.probes != nil { facts.insert("probes") }
        if evidence.conclusion != nil { facts.insert("conclusion") }
        return facts
    }
}

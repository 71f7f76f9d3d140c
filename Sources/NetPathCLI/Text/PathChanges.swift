// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension NetworkPath {
    /// What differs from an earlier path apart from status and reason, one short phrase each.
    func changes(since earlier: NetworkPath) -> [String] {
        var changes: [String] = []
        if self.isStale != earlier.isStale {
            changes.append(self.isStale ? "stale: no backend can confirm or refute the path now" : "no longer stale")
        }
        let interfaceChanges = self.interfaceChanges(since: earlier)
        changes += interfaceChanges
        if self.carriedBy != earlier.carriedBy {
            changes.append("carried by \(self.carriedBy.map(self.name) ?? "no other interface")")
        }
        // Nearly always the interfaces have told already.
        if self.gateways != earlier.gateways, interfaceChanges.isEmpty {
            changes.append("gateways in use: \(self.gatewayText)")
        }
        if self.dnsText != earlier.dnsText { changes.append("name servers: \(self.dnsText)") }
        if self.supportsIPv4 != earlier.supportsIPv4 { changes.append(self.supportsIPv4 ? "+ IPv4" : "- IPv4") }
        if self.supportsIPv6 != earlier.supportsIPv6 { changes.append(self.supportsIPv6 ? "+ IPv6" : "- IPv6") }
        if self.isExpensive != earlier.isExpensive {
            changes.append(self.isExpensive ? "now expensive" : "no longer expensive")
        }
        if self.isConstrained != earlier.isConstrained {
            changes.append(self.isConstrained ? "now constrained" : "no longer constrained")
        }
        if self.internet != earlier.internet { changes.append("internet: \(self.internetText)") }
        for probe in self.probes where !earlier.probes.contains(probe) { changes.append("probe of \(probe.text)") }
        for backend in self.backends { changes += backend.changes(since: earlier.backends) }
        for doubt in self.disagreements where !earlier.disagreements.contains(doubt) {
            changes.append("\(doubt.backend) disagrees: \(doubt.status.rawValue), \(doubt.reason.message)")
        }
        return changes
    }

    private func interfaceChanges(since earlier: NetworkPath) -> [String] {
        var changes: [String] = []
        // While there is a path only those that could carry it are listed, so with the status the list changes too.
        let isSameList = (self.status == .satisfied) == (earlier.status == .satisfied)
        for old in earlier.interfaces where isSameList && !self.interfaces.contains(where: { $0.index == old.index }) {
            changes.append("- \(old.name)")
        }
        for interface in self.interfaces {
            if let old = earlier.interfaces.first(where: { $0.index == interface.index }) {
                changes += interface.changes(since: old)
            } else if isSameList {
                changes.append("+ \(interface.summary)")
            }
        }
        let common = { (path: NetworkPath, other: NetworkPath) in
            path.interfaces.map(\.index).filter { index in other.interfaces.contains { $0.index == index } }
        }
        if common(self, earlier) != common(earlier, self) {
            changes.append("order of preference: \(self.interfaces.map(\.name).joined(separator: ", "))")
        }
        return changes
    }
}

extension PathInterface {
    /// The interface in a few words.
    var summary: String {
        let details = [self.type.rawValue] + self.addresses.map(\.description) + self.gateways.map { "via \($0)" }
        return "\(self.name) (\(details.joined(separator: ", ")))"
    }

    fileprivate func changes(since old: PathInterface) -> [String] {
        let name = self.name
        var changes: [String] = []
        if name != old.name { changes.append("\(old.name) is now called \(name)") }
        if self.type != old.type { changes.append("\(name): type \(self.type.rawValue)") }
        // What follows from the reason needs no words of its own.
        if self.reason.code != old.reason.code { return changes + [self.reason.message] }
        if let state = self.operationalState, state != old.operationalState {
            changes.append("\(name): operational state \(state.name)")
        }
        changes += Self.changes("address", of: name, from: old.addresses, to: self.addresses)
        changes += Self.changes("gateway", of: name, from: old.gateways, to: self.gateways)
        if self.metric != old.metric { changes.append("\(name): metric \(self.metric.map(String.init) ?? "none")") }
        if self.table != old.table { changes.append("\(name): table \(self.table.map(String.init) ?? "none")") }
        return changes
    }

    private static func changes<Value: Equatable & CustomStringConvertible>(
        _ what: String,
        of name: String,
        from old: [Value],
        to new: [Value]
    ) -> [String] {
        old.filter { !new.contains($0) }.map { "- \(name) \(what) \($0)" }
            + new.filter { !old.contains($0) }.map { "+ \(name) \(what) \($0)" }
    }
}

extension BackendReport {
    fileprivate func changes(since reports: [BackendReport]) -> [String] {
        guard let old = reports.first(where: { $0.name == self.name }) else { return [] }
        var changes: [String] = []
        if self.health != old.health || self.error != old.error {
            changes.append("backend \(self.name): \(self.health.rawValue)" + (self.error.map { ": \($0)" } ?? ""))
        }
        for limitation in self.limitations where !old.limitations.contains(limitation) {
            changes.append("backend \(self.name): done without: \(limitation)")
        }
        return changes
    }
}

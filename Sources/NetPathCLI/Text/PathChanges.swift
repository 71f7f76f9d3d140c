// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension PathChange {
    /// What differs apart from the status, one short phrase each.
    var phrases: [String] { self.differences.compactMap(self.phrase) }

    private func phrase(of difference: PathDifference) -> String? {
        switch difference {
        // What is printed before the phrases.
        case .status: nil
        case .reason(let reason): reason.message
        case .statedBy(let backend): backend.map { "stated by \($0)" } ?? "worked out from evidence"
        case .staleness(let isStale):
            isStale ? "stale: no backend can confirm or refute the path now" : "no longer stale"
        case .interfaceAdded(let interface): "+ \(interface.summary)"
        case .interfaceRemoved(let interface): "- \(interface.name)"
        case .interface(let interface, let difference): difference.phrase(of: interface.name)
        case .order(let interfaces): "order of preference: \(interfaces.map(\.name).joined(separator: ", "))"
        case .carriedByIndex(let index): "carried by \(index.map(self.after.name) ?? "no other interface")"
        case .gateways: "gateways in use: \(self.after.gatewayText)"
        case .dnsServers: "name servers: \(self.after.dnsText)"
        case .supportsIPv4(let isSupported): self.familyPhrase("IPv4", isSupported)
        case .supportsIPv6(let isSupported): self.familyPhrase("IPv6", isSupported)
        case .isExpensive(let isExpensive): isExpensive ? "now expensive" : "no longer expensive"
        case .isConstrained(let isConstrained): isConstrained ? "now constrained" : "no longer constrained"
        case .internet: "internet: \(self.after.internetText)"
        case .probe(let outcome): "probe of \(outcome.text)"
        case .backend(let report):
            "backend \(report.name): \(report.health.rawValue)" + (report.error.map { ": \($0)" } ?? "")
        case .limitation(let backend, let limitation): "backend \(backend): limited: \(limitation)"
        case .disagreement(let doubt):
            "\(doubt.backend) \(doubt.isStated ? "states otherwise" : "disagrees"): \(doubt.status.rawValue), "
                + doubt.reason.message
        }
    }

    private func familyPhrase(_ name: String, _ isSupported: Bool) -> String {
        isSupported ? "+ \(name)" : self.after.knowsFamilies ? "- \(name)" : "\(name) not known"
    }
}

extension PathDifference.InterfaceDifference {
    fileprivate func phrase(of name: String) -> String {
        switch self {
        case .name(let before): "\(before) is now called \(name)"
        case .type(let type): "\(name): type \(type.rawValue)"
        case .reason(let reason): reason.message
        case .operationalState(let state): "\(name): operational state \(state.name)"
        case .addressAdded(let address): "+ \(name) address \(address)"
        case .addressRemoved(let address): "- \(name) address \(address)"
        case .gatewayAdded(let gateway): "+ \(name) gateway \(gateway)"
        case .gatewayRemoved(let gateway): "- \(name) gateway \(gateway)"
        case .metric(let metric): "\(name): metric \(metric.map(String.init) ?? "none")"
        case .table(let table): "\(name): table \(table.map(String.init) ?? "none")"
        case .labels([]): "\(name): no label"
        case .labels(let labels): "\(name): \(labels.map(\.remark).joined(separator: "; "))"
        }
    }
}

extension InterfaceLabel {
    /// The words, and whose they are.
    var remark: String { "\(self.text) (\(self.backend) says)" }
}

extension PathInterface {
    /// The interface in a few words.
    var summary: String {
        let details = [self.type.rawValue] + self.addresses.map(\.description) + self.gateways.map { "via \($0)" }
        return "\(self.name) (\(details.joined(separator: ", ")))"
    }
}

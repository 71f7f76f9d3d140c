// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Reads what a plugin says of the network, in the names of netpath's own JSON.
///
/// Names that it does not know are passed over, so that a newer netpath can be listened to.
struct PluginDecoder: Sendable {
    /// Whether the plugin speaks of another machine: then its conclusion is all that counts.
    let isRemote: Bool
    /// What this machine is called among those that hear of one another.
    let instance: String
    /// The kernel's index of an interface by its name.
    let index: @Sendable (String) -> UInt32?

    typealias Action = PluginMachine.Action

    /// Reads facts; `missing` are the names of the interfaces among them that this machine does not have.
    func evidence(
        _ node: JSONNode,
        host: String,
        now: MonotonicTime,
        missing: inout [String]
    ) throws(PluginFault) -> Action {
        let node = try node.object("evidence")
        if self.isRemote {
            guard let conclusion = node["conclusion"]
            else { throw PluginFault("has no conclusion; with scope: remote nothing else is used") }
            return try self.conclusion(conclusion, host: host, now: now)
        }
        var evidence = try Evidence(
            at: self.beginning(of: node, now: now),
            facts: node,
            index: self.index,
            missing: &missing
        )
        if let conclusion = try node["conclusion"]?.object("conclusion") {
            evidence.conclusion = try self.conclusion(of: conclusion, host: host)
        }
        return .report(evidence, via: [])
    }

    /// Reads what a plugin states of interfaces that others see.
    func facts(_ node: JSONNode, now: MonotonicTime) throws(PluginFault) -> Action {
        guard !self.isRemote
        else { throw PluginFault("has facts; with scope: remote only a conclusion counts") }
        var evidence = Evidence(at: try self.beginning(of: node, now: now))
        evidence.facts = try InterfaceFacts.list(node)
        return .report(evidence, via: [])
    }

    /// Reads what a plugin concludes.
    func conclusion(_ node: JSONNode, host: String, now: MonotonicTime) throws(PluginFault) -> Action {
        let node = try node.object("conclusion")
        return try self.report(node, host: host, now: now)
    }

    /// Reads a path that another netpath writes.
    func document(_ node: JSONNode, host: String, now: MonotonicTime) throws(PluginFault) -> Action {
        if node["stale"] == .bool(true) { return .unavailable("what it says is out of date") }
        // No backend over there has a verdict.
        guard node["status"] != nil else { return .report(Evidence(at: now), via: []) }
        return try self.report(node, host: host, now: now)
    }

    private func report(_ node: JSONNode, host: String, now: MonotonicTime) throws(PluginFault) -> Action {
        var evidence = Evidence(at: try self.beginning(of: node, now: now))
        let via = try node.texts("via", limit: 32, most: Provenance.limit)
        guard !self.isRemote || !via.contains(self.instance) else {
            evidence.limitations = ["what \(host) says comes from this machine"]
            return .report(evidence, via: [])
        }
        evidence.conclusion = try self.conclusion(of: node, host: host)
        return .report(evidence, via: self.isRemote ? via : [])
    }

    private func beginning(of node: JSONNode, now: MonotonicTime) throws(PluginFault) -> MonotonicTime {
        guard let age: UInt32 = try node.optionalNumber("ageMilliseconds") else { return now }
        return now + .milliseconds(-Int64(age))
    }

    private func conclusion(of node: JSONNode, host: String) throws(PluginFault) -> Conclusion {
        guard let status = try node["status"]?.choice("status", among: PathStatus.self)
        else { throw PluginFault("has no status") }
        let words = "it says \(status.rawValue)"
        var conclusion = Conclusion(status, try node.reason("reason", else: words) ?? PathReason(.stated, words))
        conclusion.internet = try self.internet(of: node)
        conclusion.portalURL = try node.optionalText("portalURL")?.printable(limit: 2048)
        guard !self.isRemote else {
            conclusion.host = host
            return conclusion
        }
        conclusion.isExpensive = try node.optionalTruth("isExpensive")
        let isIPv4 = try node.optionalTruth("supportsIPv4")
        let isIPv6 = try node.optionalTruth("supportsIPv6")
        if isIPv4 != nil || isIPv6 != nil {
            conclusion.families = Set((isIPv4 == true ? [.ipv4] : []) + (isIPv6 == true ? [.ipv6] : []))
        }
        conclusion.interface = try self.interface(of: node, status)
        return conclusion
    }

    private func internet(of node: JSONNode) throws(PluginFault) -> InternetReachability? {
        let all: [InternetReachability] = [.reachable, .unreachable, .portal, .unknown]
        let internet = try node["internet"]?.choice("internet", among: all.map { ($0.rawValue, $0) })
        return internet == .unknown ? nil : internet
    }

    /// The interface that carries the path; of a list of interfaces the first.
    private func interface(of node: JSONNode, _ status: PathStatus) throws(PluginFault) -> String? {
        if let name = try node.optionalText("interface") { return name.printable(limit: 64) }
        guard status == .satisfied, let first = try node.list("interfaces").first else { return nil }
        return try first.optionalText("name")?.printable(limit: 64)
    }
}

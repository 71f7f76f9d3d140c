// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension Verdict {
    /// A conclusion as a verdict; of the interface it names only the rules and the backend's own facts are known here.
    init(_ conclusion: Conclusion, beside evidence: Evidence, _ policy: EvaluationPolicy) {
        self.init(conclusion.status, conclusion.reason)
        self.isStated = true
        self.host = conclusion.host
        self.knowsFamilies = conclusion.families != nil || conclusion.status != .satisfied
        self.families = conclusion.status == .satisfied ? conclusion.families ?? [] : []
        self.isExpensive = conclusion.status == .satisfied && conclusion.isExpensive == true
        // The interfaces of another machine have nothing but their names in common with those of this one.
        guard let name = conclusion.interface, conclusion.host == nil else { return }
        var seen = evidence.interfaces?.first { $0.name == name } ?? .named(name)
        let facts = evidence.statements.facts(of: name)
        if let facts { seen.take(facts) }
        let rule = policy.interfaceRules.first { $0.match.fits(seen) }
        seen.type = rule?.type ?? seen.type
        if conclusion.status == .satisfied {
            self.isExpensive =
                rule?.isExpensive ?? conclusion.isExpensive ?? seen.isExpensive ?? (seen.type == .cellular)
            self.isConstrained = rule?.isConstrained ?? facts?.isConstrained ?? false
        }
        if rule?.isIgnored == true { return }
        var listed = PathInterface(seen, reason: .named(in: conclusion, by: "the backend"))
        if let families = conclusion.families {
            listed.supportsIPv4 = families.contains(.ipv4)
            listed.supportsIPv6 = families.contains(.ipv6)
        }
        self.interfaces = [listed]
    }
}

extension NetworkInterface {
    /// An interface of which nothing but the name is known.
    fileprivate static func named(_ name: String) -> NetworkInterface {
        var interface = NetworkInterface(index: 0, name: name, type: .other)
        interface.knowsAddresses = false
        return interface
    }
}

extension PathReason {
    /// The role of the interface that a conclusion names: that it carries the path, if there is one.
    static func named(in conclusion: Conclusion, by backend: String) -> PathReason {
        conclusion.status == .satisfied
            ? PathReason(.routed, "\(backend) states that it carries the path")
            : PathReason(conclusion.reason.code, "\(backend) states that it is why there is no path")
    }
}

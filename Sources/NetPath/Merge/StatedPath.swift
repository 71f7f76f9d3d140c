// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkPath {
    /// Says who states the path, and adds what other backends know of the interface that it names.
    mutating func attribute(to winner: Int, of snapshots: [BackendSnapshot]) {
        guard snapshots[winner].verdict?.isStated == true, let conclusion = snapshots[winner].evidence?.conclusion
        else { return }
        let backend = snapshots[winner].report.name
        self.statedBy = backend
        guard var named = self.interfaces.first else { return }
        if named.index == 0, let known = snapshots.interface(named: named.name) {
            // A rule about the type has been applied to what the backend said already.
            let type = named.type == .other ? known.type : named.type
            let (supportsIPv4, supportsIPv6) = (named.supportsIPv4, named.supportsIPv6)
            named = known
            named.type = type
            if conclusion.families != nil {
                named.supportsIPv4 = supportsIPv4
                named.supportsIPv6 = supportsIPv6
            }
            let isCostly = conclusion.isExpensive == nil && type == .cellular
            if self.status == .satisfied, isCostly { self.isExpensive = true }
        } else if named.index == 0, snapshots.seeInterfaces {
            // There is no interface of that name.
            self.interfaces = []
            return
        }
        named.reason = .named(in: conclusion, by: backend)
        self.interfaces = [named]
    }

    /// Adds what a healthy backend states beside evidence that led to something else.
    mutating func addStatementBesideEvidence(of snapshot: BackendSnapshot) {
        guard let conclusion = snapshot.evidence?.conclusion, let verdict = snapshot.verdict, !verdict.isStated,
            conclusion.status != self.status, conclusion.status != verdict.status
        else { return }
        self.disagreements.append(
            Disagreement(
                backend: snapshot.report.name,
                status: conclusion.status,
                reason: conclusion.reason,
                isStated: true
            )
        )
    }
}

extension [BackendSnapshot] {
    /// What the first healthy backend that sees an interface of this name knows of it.
    fileprivate func interface(named name: String) -> PathInterface? {
        for position in self.indices where self[position].report.health == .healthy {
            let listed = self[position].verdict?.interfaces.first { $0.name == name && $0.index != 0 }
            if let listed { return listed }
            let seen = self[position].evidence?.interfaces?.first { $0.name == name }
            if let seen { return PathInterface(seen, reason: PathReason(.stated, "")) }
        }
        return nil
    }

    /// Whether a healthy backend sees which interfaces there are.
    fileprivate var seeInterfaces: Bool {
        self.indices.contains { self[$0].report.health == .healthy && self[$0].evidence?.interfaces != nil }
    }

    /// What healthy backends state of the internet.
    var statedInternet: [InternetReachability] {
        var words: [InternetReachability] = []
        for position in self.indices where self[position].report.health == .healthy {
            if let word = self[position].evidence?.conclusion?.internetWord { words.append(word) }
        }
        return words
    }

    /// Where a captive portal is, in the words of the first healthy backend that knows.
    var portalURL: String? {
        for position in self.indices where self[position].report.health == .healthy {
            if let url = self[position].evidence?.probes?.portalURL { return url }
            if let url = self[position].evidence?.conclusion?.portalURL { return url }
        }
        return nil
    }
}

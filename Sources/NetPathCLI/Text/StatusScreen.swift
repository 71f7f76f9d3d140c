// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension StatusSnapshot {
    /// The status as a big word, its meaning, and why.
    var headline: (word: String, emphasis: TextStyle.Emphasis, sentence: String) {
        guard let path = self.path else { return ("UNKNOWN", .caution, "no backend has a verdict") }
        let word = path.status == .requiresConnection ? "REQUIRES CONNECTION" : path.status.rawValue.uppercased()
        return (word, path.status.emphasis, path.sentence)
    }

    /// The screen of `status`.
    func statusScreen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        screen.title(for: self)
        if let path = self.path {
            if !path.interfaces.isEmpty { screen.heading("Interfaces") }
            for interface in path.interfaces { screen.row(interface.name, interface.details) }
            screen.heading("Network")
            if let carrier = path.carriedByIndex { screen.row("Carried by", [path.name(of: carrier)]) }
            screen.row("Gateways", [path.gatewayText])
            screen.row("DNS", [path.dnsText])
            screen.row("IPv4", [path.familyText(path.supportsIPv4)])
            screen.row("IPv6", [path.familyText(path.supportsIPv6)])
            screen.row("Internet", [path.internetText])
            for probe in path.probes { screen.row("Probe", [probe.text]) }
            if path.isExpensive { screen.row("Expensive", ["traffic is likely to cost money"]) }
            if path.isConstrained { screen.row("Constrained", ["traffic should be kept low"]) }
        }
        screen.heading("Backends")
        if self.backends.isEmpty { screen.paragraph("none is configured") }
        for backend in self.backends {
            let doubts = self.path?.disagreements.filter { $0.backend == backend.name } ?? []
            screen.row(backend.name, backend.details(at: self.takenAt) + doubts.map { $0.remark(on: backend) })
        }
        return screen.text
    }
}

extension TextScreen {
    /// Adds the status as a big word, and why.
    mutating func title(for snapshot: StatusSnapshot) {
        let (word, emphasis, sentence) = snapshot.headline
        self.title(word, emphasis, sentence)
        if snapshot.path?.isStale == true {
            self.paragraph("stale: the last known path; no backend can confirm or refute it now")
        }
    }
}

extension PathInterface {
    /// What the screen says of an interface, one line each.
    fileprivate var details: [String] {
        var properties = [self.typeText]
        if let state = self.operationalState { properties.append(state.name) }
        var lines = ["\(properties.joined(separator: ", ")): \(self.reason.message)"]
        if !self.addresses.isEmpty { lines.append(self.addresses.map(\.description).joined(separator: ", ")) }
        if !self.routeText.isEmpty { lines.append(self.routeText.joined(separator: ", ")) }
        lines += self.labels?.map(\.remark) ?? []
        return lines
    }
}

extension Disagreement {
    /// What it says of a backend that is told of anyway.
    fileprivate func remark(on backend: BackendReport) -> String {
        // A backend that states something else than its own evidence comes to.
        self.isStated && !backend.isStated
            ? "states otherwise: \(self.status.rawValue), \(self.reason.message)" : "disagrees with the path"
    }
}

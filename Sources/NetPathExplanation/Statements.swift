// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

extension Conclusion {
    /// The rule of a verdict that is stated.
    var rule: String {
        let speaker = self.host.map { "\($0), another machine," } ?? "The backend"
        return "\(speaker) states this without evidence, so netpath cannot explain it."
    }

    /// What is stated as a sentence for people.
    package var fact: String {
        "\(self.host.map { "\($0) states" } ?? "States"): \(self.status.rawValue), \(self.reason.message)"
    }

    /// What is stated, one fact each.
    func facts(beside verdict: Verdict) -> [String] {
        var facts = [self.fact]
        if !verdict.isStated, self.status != verdict.status {
            facts[0] += "; the evidence says otherwise, and takes precedence"
        }
        if let interface { facts.append("States the interface: \(interface)") }
        if let families {
            let names = AddressFamily.allCases.filter(families.contains).map(\.name)
            facts.append("States the families: \(names.isEmpty ? "none" : names.joined(separator: ", "))")
        }
        if let isExpensive {
            facts.append("States the costs: traffic \(isExpensive ? "is likely to cost money" : "costs nothing")")
        }
        if let internet { facts.append("States the internet: \(internet.rawValue)") }
        if let portalURL { facts.append("States a captive portal: \(portalURL)") }
        return facts
    }
}

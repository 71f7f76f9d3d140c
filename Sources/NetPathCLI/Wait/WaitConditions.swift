// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import Reachability

/// Everything that is waited for.
struct WaitConditions: Hashable, Sendable {
    /// How several conditions become one.
    enum Combination: String, EnumerableFlag {
        case all
        case any

        static func help(for value: Combination) -> ArgumentHelp? {
            switch value {
            case .all: "Wait until all conditions are met at the same time."
            case .any: "Wait until any condition is met."
            }
        }
    }

    var list: [WaitCondition]
    var combination = Combination.all
    /// Whether to wait until they are *not* met.
    var isNegated = false

    /// Whether they are met; nil when that is unknown.
    func isMet(in view: WaitView) -> Bool? {
        let values = self.list.map { $0.isMet(in: view) }
        // What decides alone: one "no" among all, one "yes" among any.
        let decisive = self.combination == .any
        let value = values.contains(decisive) ? decisive : values.contains(nil) ? nil : !decisive
        return value.map { $0 != self.isNegated }
    }

    /// What is missing, for people; nil when nothing is.
    func missing(in view: WaitView, at now: MonotonicTime) -> String? {
        if self.isMet(in: view) == true { return nil }
        let isHeld = self.isNegated
        let texts = self.list.compactMap { condition -> String? in
            switch condition.isMet(in: view) {
            case true?: isHeld ? "still \(condition.description)" : nil
            case false? where isHeld: nil
            default: condition.missing(in: view, at: now)
            }
        }
        // Several conditions often lack the same.
        var unique: [String] = []
        for text in texts where !unique.contains(text) { unique.append(text) }
        return unique.joined(separator: "; ")
    }
}

extension WaitCondition {
    /// What is missing while the condition is not met.
    func missing(in view: WaitView, at now: MonotonicTime) -> String {
        if case .host(let target) = self { return view.hosts[target]?.reason ?? "\(target.text) is not asked yet" }
        guard let path = view.path else { return view.silence }
        if path.isStale { return "no backend can confirm the last known path: \(path.reason.message)" }
        switch self {
        case .status(.satisfied): return brief(path.reason.message)
        case .status(let status): return "the status is not \(status.rawValue): \(path.reason.message)"
        case .interface(let pattern, let families):
            return self.lack(of: families, in: path) ?? self.obstacle(in: view, at: now)
                ?? "there is no interface \(pattern)"
        case .type(let type, let families):
            return self.lack(of: families, in: path) ?? self.obstacle(in: view, at: now)
                ?? "there is no interface of type \(type.rawValue)"
        case .family, .dns, .internet, .host: break
        }
        if path.status != .satisfied { return brief(path.reason.message) }
        return switch self {
        case .family(let family):
            path.knowsFamilies
                ? "no path for \(family.name)" : "whether there is a path for \(family.name) is not known"
        case .dns: path.dnsServers == nil ? "the name servers are not known" : "no name server can be reached"
        case .internet
        where path.internet == .unknown && path.probes.isEmpty && !path.backends.contains { $0.health == .notAsked }:
            "no probe of the internet is configured, or none has answered yet"
        default: "the internet is \(path.internetText)"
        }
    }

    /// Families that an interface which carries packets does not carry; nil when none does.
    private func lack(of families: Set<AddressFamily>, in path: NetworkPath) -> String? {
        guard let carrier = path.carriers.first(where: { self.concerns($0.name, $0.type) }) else { return nil }
        let lacking = families.filter { !carrier.supports([$0]) }.map(\.name).sorted()
        return lacking.isEmpty ? nil : "\(carrier.name): no path for \(lacking.joined(separator: " and "))"
    }

    /// What keeps the interface that has come farthest from meeting the condition; nil when there is none.
    private func obstacle(in view: WaitView, at now: MonotonicTime) -> String? {
        guard let interfaces = view.interfaces(at: now) else { return "no backend reports interfaces" }
        let candidates = interfaces.filter { self.concerns($0.name, $0.type) }
        guard let best = candidates.min(by: { $0.stage < $1.stage }) else { return self.exclusion(in: view) }
        return brief(best.stage == .up ? view.path?.reason.message ?? best.reason : best.reason)
    }

    /// Why an interface that is there never carries a path by itself; nil when there is none.
    private func exclusion(in view: WaitView) -> String? {
        let interfaces = view.witness?.evidence?.ofThisMachine.interfaces ?? []
        guard let interface = interfaces.first(where: { self.concerns($0.name, $0.type) }) else { return nil }
        if interface.type == .loopback { return "\(interface.name) is loopback, which carries no path" }
        if let controller = interfaces.first(where: { $0.index == interface.controllerIndex }) {
            return "\(interface.name) is a member of \(controller.name), which carries the path in its place"
        }
        return "\(interface.name) is ignored, as the configuration says"
    }
}

/// A sentence about an interface as one line of several: `wlan0: waiting for an address`.
private func brief(_ sentence: String) -> String {
    let words = sentence.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0] != "there" else { return sentence }
    let isState = words[1] == "is" || (words[1] == "has" && words[2].hasPrefix("no "))
    return isState ? "\(words[0]): \(words[2])" : sentence
}

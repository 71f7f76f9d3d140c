// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A command as a walk runs it.
enum WalkCommand: Hashable, Sendable {
    /// A line for `ip -batch`.
    case ip(String)
    /// The same where the words do not tell the family: a rule.
    case ipv6(String)
    /// `ip` in the namespace beyond, where the other ends are.
    case beyond(String)
}

extension NetworkOperation {
    /// The commands that do it; `model` is the network before.
    func commands(in model: NetworkModel) -> [WalkCommand] {
        switch self {
        case .addInterface(let kind, let name, let isUp, let isPlugged):
            Self.adding(kind, name: name, number: model.lastID + 1, isUp: isUp, isPlugged: isPlugged)
        case .deleteInterface(let interface): [.ip("link del \(interface.name)")]
        case .setUp(let interface, let isUp): [.ip("link set \(interface.name) \(isUp ? "up" : "down")")]
        case .setPlugged(let interface, let isPlugged):
            [.beyond("link set \(Self.peer(interface.id)) \(isPlugged ? "up" : "down")")]
        case .rename(let interface, let name): [.ip("link set \(interface.name) name \(name)")]
        case .addAddress(let address, let interface):
            // Duplicate address detection would make the outcome a matter of time.
            [.ip("address add \(address.text) dev \(interface.name)\(address.family == .ipv6 ? " nodad" : "")")]
        case .removeAddress(let address, let interface):
            [.ip("address del \(address.text) dev \(interface.name)")]
        case .addRoute(let route): [.ip("route add \(Self.text(route, in: model))")]
        case .removeRoute(let route): [.ip("route del \(Self.text(route, in: model))")]
        case .addRule(let rule): [Self.rule("add", rule)]
        case .removeRule(let rule): [Self.rule("del", rule)]
        case .noise(let noise): noise.commands
        }
    }

    private static func peer(_ id: Int) -> String { "peer\(id)" }

    private static func adding(
        _ kind: NetworkModel.Kind,
        name: String,
        number: Int,
        isUp: Bool,
        isPlugged: Bool
    ) -> [WalkCommand] {
        var commands: [WalkCommand] = []
        switch kind {
        case .uplink:
            // An index far from those the kernel gives out, free on both sides.
            commands.append(
                .ip(
                    "link add \(name) index \(1_000_000 + number) type veth peer name \(Self.peer(number)) netns FAR"
                )
            )
            if isPlugged { commands.append(.beyond("link set \(Self.peer(number)) up")) }
        case .tunnel: commands.append(.ip("link add \(name) type vxlan id \(number) dstport 4789"))
        case .bridge: commands.append(.ip("link add \(name) type bridge"))
        }
        if isUp { commands.append(.ip("link set \(name) up")) }
        return commands
    }

    private static func text(_ route: NetworkModel.Route, in model: NetworkModel) -> String {
        let prefix = route.destination.prefix(route.family)
        let end = "table \(route.table) metric \(route.metric)"
        switch route.target {
        case .rejection(let rejection): return "\(rejection.rawValue) \(prefix) \(end)"
        case .nextRule: return "throw \(prefix) \(end)"
        case .nextHops(let nextHops):
            let hops = nextHops.map { nextHop in
                let name = model.interface(nextHop.interface)?.name ?? "?"
                return (nextHop.gateway.map { "via \($0) " } ?? "") + "dev \(name)"
            }
            guard hops.count > 1 else { return "\(prefix) \(hops.joined()) \(end)" }
            return "\(prefix) \(end) " + hops.map { "nexthop \($0)" }.joined(separator: " ")
        }
    }

    private static func rule(_ verb: String, _ rule: NetworkModel.Rule) -> WalkCommand {
        var text = "rule \(verb) priority \(rule.priority) table \(rule.table)"
        if rule.suppressesDefaults { text += " suppress_prefixlength 0" }
        return rule.family == .ipv4 ? .ip(text) : .ipv6(text)
    }
}

extension NetworkOperation.Noise {
    var commands: [WalkCommand] {
        switch self {
        case .container(let number):
            [
                .ip("link add cont\(number) type veth peer name cone\(number)"),
                .ip("link set cont\(number) up"), .ip("link set cone\(number) up"),
                .ip("link set cont\(number) promisc on"), .ip("link del cont\(number)"),
            ]
        case .unrelatedRoutes(let interface):
            (0..<20).map { .ip("route replace 10.200.\($0).0/24 dev \(interface.name) metric 50") }
                + (0..<5).map { .ip("route replace fd77:\($0)::/32 dev \(interface.name) metric 50") }
        case .attributes(let interface):
            [
                .ip("link set \(interface.name) promisc on mtu 1400"),
                .ip("link set \(interface.name) promisc off mtu 1450 alias walked"),
            ]
        case .renewal(let address, let interface):
            // Valid for ever: given an end, Linux 6.18 takes the address's on-link route for expired at once.
            [.ip("address change \(address.text) dev \(interface.name) valid_lft forever preferred_lft 1800")]
        case .neighbour(let interface):
            [.ip("neighbour replace 192.0.2.77 lladdr 02:00:00:00:00:77 dev \(interface.name)")]
        case .markedRule(let priority):
            [.ip("rule add priority \(priority) fwmark 0x77 table 4000"), .ip("rule del priority \(priority)")]
        }
    }
}

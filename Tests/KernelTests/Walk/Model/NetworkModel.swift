// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The network of a namespace as the kernel's rules say it must be, without asking a kernel.
///
/// A value. Operations change it the way the kernel changes a real namespace, side effects included, and
/// ``verdict`` says what a monitor has to find there. Nothing of it is shared with the code under test.
struct NetworkModel: Hashable, Sendable {
    enum Family: CaseIterable, Sendable {
        case ipv4
        case ipv6
    }

    /// What an interface is, as far as its states differ.
    enum Kind: Sendable {
        /// One end of a veth pair; the carrier is the other end's being up.
        case uplink
        /// A vxlan device: a carrier whenever it is up.
        case tunnel
        /// A bridge that never had a port: likewise.
        case bridge
    }

    /// An interface, known by a number that survives renaming.
    struct Interface: Hashable, Sendable {
        var id: Int
        var name: String
        var kind: Kind
        var isUp = true
        /// Whether the other end is up; always so for what has no other end.
        var isPlugged = true
        var addresses: [Address] = []

        var hasCarrier: Bool { self.isUp && self.isPlugged }

        /// What sysfs may show as `operstate` once the kernel has settled.
        var operationalStates: [String] {
            switch self.kind {
            // Which of the two an unplugged end shows depends on the index that the other end has beyond.
            case .uplink: self.hasCarrier ? ["up"] : ["down", "lowerlayerdown"]
            case .tunnel, .bridge: self.isUp ? ["unknown"] : ["down"]
            }
        }

        func addresses(of family: Family) -> [Address] { self.addresses.filter { $0.family == family } }
    }

    /// An address of global scope and the gateway that lives in its subnet.
    struct Address: Hashable, Sendable {
        var family: Family
        /// In CIDR notation.
        var text: String
        var gateway: String
    }

    /// Where a route leads; the two halves of a family's address space each hold one reference address.
    enum Destination: CaseIterable, Sendable {
        case everything
        case firstHalf
        case secondHalf
        /// A shorter piece of the first half.
        case partOfFirstHalf

        /// Whether the family's reference address of that half (0 or 1) lies in it.
        func covers(_ half: Int) -> Bool {
            switch self {
            case .everything: true
            case .firstHalf, .partOfFirstHalf: half == 0
            case .secondHalf: half == 1
            }
        }

        func prefix(_ family: Family) -> String {
            switch (family, self) {
            case (.ipv4, .everything): "0.0.0.0/0"
            case (.ipv4, .firstHalf): "0.0.0.0/1"
            case (.ipv4, .secondHalf): "128.0.0.0/1"
            case (.ipv4, .partOfFirstHalf): "8.0.0.0/7"
            case (.ipv6, .everything): "::/0"
            case (.ipv6, .firstHalf): "2000::/4"
            case (.ipv6, .secondHalf): "3000::/4"
            case (.ipv6, .partOfFirstHalf): "2600::/16"
            }
        }

        /// The order of prefix lengths, which is the same for both families.
        var specificity: Int {
            switch self {
            case .everything: 0
            case .firstHalf, .secondHalf: 1
            case .partOfFirstHalf: 2
            }
        }
    }

    enum Rejection: String, CaseIterable, Sendable {
        case blackhole
        case unreachable
        case prohibit
    }

    enum Target: Hashable, Sendable {
        case nextHops([Leg])
        case rejection(Rejection)
        /// The search goes on with the next rule.
        case nextRule
    }

    struct Leg: Hashable, Sendable {
        var interface: Int
        var gateway: String?
        /// A next hop of several that the kernel has put out of use (RTNH_F_DEAD).
        var isDead = false
    }

    struct Route: Hashable, Sendable {
        var family: Family
        var table: Int
        var destination: Destination
        var metric: Int
        var target: Target

        /// Two routes with the same key cannot be added.
        func collides(with other: Route) -> Bool {
            self.family == other.family && self.table == other.table && self.destination == other.destination
                && self.metric == other.metric
        }

        var interfaces: [Int] {
            if case .nextHops(let nextHops) = self.target { nextHops.map(\.interface) } else { [] }
        }
    }

    struct Rule: Hashable, Sendable {
        var family: Family
        var priority: Int
        var table: Int
        /// Answers of a default route are not taken (`suppress_prefixlength 0`).
        var suppressesDefaults = false
    }

    static let mainTable = 254

    var interfaces: [Interface] = []
    var routes: [Route] = []
    /// Besides those every namespace has.
    var rules: [Rule] = []
    /// Whether the kernel gives up routes through interfaces without a carrier (`ignore_routes_with_linkdown`).
    var ignoresRoutesWithoutCarrier = false
    var lastID = 0

    func interface(_ id: Int) -> Interface? { self.interfaces.first { $0.id == id } }

    func position(_ id: Int) -> Int? { self.interfaces.firstIndex { $0.id == id } }
}

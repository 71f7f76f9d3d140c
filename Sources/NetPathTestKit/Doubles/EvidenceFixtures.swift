// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

// Evidence in the words of a table: `.seeing(eth0).routed(.ipv4, through: eth0)`.
extension Evidence {
    /// The addresses that stand for the internet in fixtures: two per family, one in each half.
    static let referenceAddresses: [InternetAddress] = ["16.0.0.1", "160.0.0.1", "2400::1", "3c00::1"]
        .map(InternetAddress.fixture)

    /// What a backend sees that knows everything: these interfaces, and no route to anywhere.
    public static func seeing(
        _ interfaces: NetworkInterface...,
        at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)
    ) -> Evidence {
        var evidence = Evidence(at: time)
        evidence.interfaces = interfaces.sorted { $0.index < $1.index }
        evidence.referenceRoutes = Self.referenceAddresses.map { ReferenceRoute(to: $0, .noRoute) }
        return evidence
    }

    /// Loopback and an interface that carries the path in each family it has a usable global address of.
    public static func online(_ interface: NetworkInterface, gateway: String? = nil) -> Evidence {
        AddressFamily.allCases.reduce(.seeing(.loopback(), interface)) { evidence, family in
            let source = interface.addresses.first {
                $0.prefix.address.family == family && $0.isGlobal && $0.isUsable
            }
            guard let source else { return evidence }
            let gateway = gateway.flatMap { InternetAddress.fixture($0).family == family ? $0 : nil }
            let address = source.prefix.address
            return evidence.routed(family, through: interface, gateway: gateway, source: .address(address))
        }
    }

    /// Loopback and a wired interface without a carrier.
    public static var noLink: Evidence { .seeing(.loopback(), NetworkInterface.wired("eth0", 2).withoutCarrier()) }

    /// What a backend says that only probes.
    public static func probing(
        _ outcomes: ProbeOutcome...,
        isComplete: Bool = true,
        at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)
    ) -> Evidence {
        Evidence(at: time).changed { $0.probes = ProbeRound(outcomes: outcomes, isComplete: isComplete) }
    }

    /// What a backend says that only states a conclusion.
    public static func stating(
        _ conclusion: Conclusion,
        at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)
    ) -> Evidence {
        Evidence(at: time).changed { $0.conclusion = conclusion }
    }

    /// The evidence, changed.
    public func changed(_ change: (inout Evidence) -> Void) -> Evidence {
        var copy = self
        change(&copy)
        return copy
    }

    /// The evidence with the same answer for every reference destination of a family.
    public func answering(_ family: AddressFamily, _ answer: RouteLookupResult) -> Evidence {
        self.answering(family, answer, answer)
    }

    /// The evidence with one answer for each half of a family's addresses.
    public func answering(_ family: AddressFamily, _ lower: RouteLookupResult, _ upper: RouteLookupResult) -> Evidence {
        self.changed { evidence in
            let positions = evidence.referenceRoutes.indices.filter {
                evidence.referenceRoutes[$0].destination.family == family
            }
            for (position, answer) in zip(positions, [lower, upper]) {
                evidence.referenceRoutes[position].answer = answer
            }
        }
    }

    /// The evidence with a route through an interface for a whole family.
    public func routed(
        _ family: AddressFamily,
        through interface: NetworkInterface,
        gateway: String? = nil,
        source: RouteSource = .unknown
    ) -> Evidence {
        self.answering(family, .through(interface, gateway: gateway, source: source))
    }

    /// The evidence without an answer for a family.
    public func unanswered(_ family: AddressFamily) -> Evidence {
        self.answering(family, .unknown)
    }
}

extension RouteLookupResult {
    /// A route with one next hop.
    public static func through(
        _ interface: NetworkInterface,
        gateway: String? = nil,
        source: RouteSource = .unknown,
        isDown: Bool = false
    ) -> RouteLookupResult {
        let nextHop = NextHop(
            interfaceIndex: interface.index,
            gateway: gateway.map(InternetAddress.fixture),
            isDown: isDown
        )
        let table = interface.flags.contains(.loopback) ? Route.localTable : Route.mainTable
        return .route(Route(nextHops: [nextHop], source: source, metric: 100, table: table))
    }
}

extension RouteSource {
    /// A source address in its textual form.
    public static func from(_ text: String) -> RouteSource {
        .address(.fixture(text))
    }
}

extension InternetAddress {
    /// Parses an address that is part of a test; stops the program when it is none.
    public static func fixture(_ text: String) -> InternetAddress {
        guard let address = InternetAddress(text) else { preconditionFailure("\(text) is not an address") }
        return address
    }
}

extension AddressPrefix {
    /// Parses `192.0.2.7/24` that is part of a test; stops the program when it is none.
    public static func fixture(_ text: String) -> AddressPrefix {
        guard let prefix = AddressPrefix(text) else {
            preconditionFailure("\(text) is not an address with a prefix length")
        }
        return prefix
    }
}

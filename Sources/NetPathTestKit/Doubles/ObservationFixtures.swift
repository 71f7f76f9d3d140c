// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

// Observations in the words of a table: `.seeing(eth0).routed(.ipv4, through: eth0)`.
extension Observation {
    /// The addresses that stand for the internet in fixtures: two per family, one in each half.
    public static let representativeAddresses: [IPAddress] = ["16.0.0.1", "160.0.0.1", "2400::1", "3c00::1"]
        .map(IPAddress.fixture)

    /// What a backend sees that knows everything: these interfaces, and no route to anywhere.
    public static func seeing(
        _ interfaces: NetworkInterface...,
        at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)
    ) -> Observation {
        var observation = Observation(at: time)
        observation.interfaces = interfaces.sorted { $0.index < $1.index }
        observation.representatives = Self.representativeAddresses.map { RepresentativeRoute(to: $0, .noRoute) }
        return observation
    }

    /// Loopback and an interface that carries the path in each family it has a usable global address of.
    public static func online(_ interface: NetworkInterface, gateway: String? = nil) -> Observation {
        AddressFamily.allCases.reduce(.seeing(.loopback(), interface)) { observation, family in
            let source = interface.addresses.first {
                $0.prefix.address.family == family && $0.isGlobal && $0.isUsable
            }
            guard let source else { return observation }
            let gateway = gateway.map(IPAddress.fixture).flatMap { $0.family == family ? $0 : nil }
            let leg = RouteLeg(interfaceIndex: interface.index, gateway: gateway)
            return observation.answering(
                family,
                .route(Route(legs: [leg], source: .address(source.prefix.address), metric: 100, table: 254))
            )
        }
    }

    /// Loopback and a wired interface without a carrier.
    public static var noLink: Observation { .seeing(.loopback(), NetworkInterface.wired("eth0", 2).withoutCarrier()) }

    /// What a backend says that only probes.
    public static func probing(
        _ outcomes: ProbeOutcome...,
        isComplete: Bool = true,
        at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)
    ) -> Observation {
        var observation = Observation(at: time)
        observation.probes = ProbeRound(outcomes: outcomes, isComplete: isComplete)
        return observation
    }

    /// The observation, changed.
    public func changed(_ change: (inout Observation) -> Void) -> Observation {
        var copy = self
        change(&copy)
        return copy
    }

    /// The observation with the same answer for every representative of a family.
    public func answering(_ family: AddressFamily, _ answer: RouteAnswer) -> Observation {
        self.answering(family, answer, answer)
    }

    /// The observation with one answer for each half of a family's addresses.
    public func answering(_ family: AddressFamily, _ lower: RouteAnswer, _ upper: RouteAnswer) -> Observation {
        self.changed { observation in
            let positions = observation.representatives.indices.filter {
                observation.representatives[$0].destination.family == family
            }
            for (position, answer) in zip(positions, [lower, upper]) {
                observation.representatives[position].answer = answer
            }
        }
    }

    /// The observation with a route through an interface for a whole family.
    public func routed(
        _ family: AddressFamily,
        through interface: NetworkInterface,
        gateway: String? = nil,
        source: RouteSource = .unknown
    ) -> Observation {
        self.answering(family, .through(interface, gateway: gateway, source: source))
    }

    /// The observation without an answer for a family.
    public func unanswered(_ family: AddressFamily) -> Observation {
        self.answering(family, .unknown)
    }
}

extension RouteAnswer {
    /// A route with one next hop.
    public static func through(
        _ interface: NetworkInterface,
        gateway: String? = nil,
        source: RouteSource = .unknown,
        isDown: Bool = false
    ) -> RouteAnswer {
        let leg = RouteLeg(
            interfaceIndex: interface.index,
            gateway: gateway.map(IPAddress.fixture),
            isDown: isDown
        )
        return .route(Route(legs: [leg], source: source, metric: 100, table: 254))
    }
}

extension RouteSource {
    /// A source address in its textual form.
    public static func from(_ text: String) -> RouteSource {
        .address(.fixture(text))
    }
}

extension IPAddress {
    /// Parses an address that is part of a test; stops the program when it is none.
    public static func fixture(_ text: String) -> IPAddress {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is not an address") }
        return address
    }
}

extension AddressPrefix {
    /// Parses `192.0.2.7/24` that is part of a test; stops the program when it is none.
    public static func fixture(_ text: String) -> AddressPrefix {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let address = IPAddress(parts[0]), let length = Int(parts[1]),
            (0...address.bitWidth).contains(length)
        else { preconditionFailure("\(text) is not an address with a prefix length") }
        return AddressPrefix(address, length: length)
    }
}

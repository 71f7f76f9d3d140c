// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

@testable import NetPath
@testable import NetPathCLI

/// Evidence, and what the core makes of it.
enum Fixtures {
    static let now = MonotonicTime(nanoseconds: 10_000_000_000)
    static let clock = ClockReading(monotonic: now, wall: WallTime(nanoseconds: 1_792_585_906_123_456_789))

    static func address(_ text: String) -> IPAddress {
        IPAddress(text) ?? IPAddress(ipv4: 0)
    }

    static func interface(
        _ name: String = "eth0",
        index: UInt32 = 2,
        type: InterfaceType = .wired,
        carrier: Bool = true,
        addresses: [String] = ["192.0.2.7"],
        gateway: String? = "192.0.2.1"
    ) -> NetworkInterface {
        var interface = NetworkInterface(index: index, name: name, type: type, flags: [.up, .broadcast])
        interface.operationalState = carrier ? .up : .down
        interface.hasCarrier = carrier
        interface.isHardware = true
        interface.addresses = addresses.map { InterfaceAddress(AddressPrefix(self.address($0), length: 24)) }
        interface.defaultRoutes = gateway.map { gateway in
            [InterfaceRoute(family: .ipv4, gateway: self.address(gateway), metric: 100, table: 254)]
        }
        return interface
    }

    /// The IPv4 representatives get this answer, those of IPv6 have no route.
    static func observation(_ interfaces: [NetworkInterface], ipv4 answer: RouteAnswer) -> Observation {
        var observation = Observation(at: self.now)
        observation.interfaces = interfaces
        observation.representatives =
            ["1.1.1.1", "193.0.0.1"].map { RepresentativeRoute(to: self.address($0), answer) }
            + ["2000::1", "3000::1"].map { RepresentativeRoute(to: self.address($0), .noRoute) }
        observation.dnsServers = [DNSServer(self.address("192.0.2.53"))]
        return observation
    }

    static func route(
        through index: UInt32 = 2,
        gateway: String = "192.0.2.1",
        isDown: Bool = false,
        source: RouteSource = .address(address("192.0.2.7"))
    ) -> RouteAnswer {
        let leg = RouteLeg(interfaceIndex: index, gateway: self.address(gateway), isDown: isDown)
        return .route(Route(legs: [leg], source: source, metric: 100, table: 254))
    }

    static var routed: Observation { self.observation([self.interface()], ipv4: self.route()) }

    static func opinion(_ observation: Observation, by name: String = "netlink") -> BackendOpinion {
        let verdict = evaluate(observation, policy: EvaluationPolicy(), now: self.now)
        var report = self.report(name, health: .healthy)
        report.status = verdict?.status
        report.reason = verdict?.reason
        report.reportedAt = self.now + .milliseconds(-12)
        report.limitations = observation.limitations
        return BackendOpinion(report: report, observation: observation, verdict: verdict)
    }

    static func report(_ name: String = "netlink", health: BackendHealth) -> BackendReport {
        BackendReport(
            name: name,
            mode: health == .off ? .off : health == .standby ? .standby : .active,
            health: health,
            limitations: [],
            restarts: 0,
            resynchronizations: 0
        )
    }

    static func snapshot(_ opinions: [BackendOpinion], sequence: UInt64 = 1) -> PathSnapshot {
        var path = merge(opinions, policy: .priority)
        path?.sequence = sequence
        path?.publishedAt = self.now
        return PathSnapshot(path: path, backends: opinions.map(\.report), takenAt: self.clock)
    }

    static func snapshot(_ observation: Observation, sequence: UInt64 = 1) -> PathSnapshot {
        self.snapshot([self.opinion(observation)], sequence: sequence)
    }

    /// A snapshot without any opinion.
    static var unknown: PathSnapshot {
        var report = self.report(health: .unhealthy)
        report.error = "no netlink socket: Operation not permitted"
        return PathSnapshot(backends: [report, self.report("spare", health: .off)], takenAt: self.clock)
    }
}

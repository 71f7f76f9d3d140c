// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

@testable import NetPath
@testable import NetPathCLI

/// Evidence, and what the core makes of it.
enum Fixtures {
    static let now = MonotonicTime(nanoseconds: 10_000_000_000)
    static let clock = ClockReading(monotonic: now, wall: WallTime(nanoseconds: 1_792_585_906_123_456_789))

    static func address(_ text: String) -> InternetAddress {
        InternetAddress(text) ?? InternetAddress(ipv4: 0)
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

    /// The IPv4 reference destinations get this answer, those of IPv6 have no route.
    static func evidence(_ interfaces: [NetworkInterface], ipv4 answer: RouteLookupResult) -> Evidence {
        var evidence = Evidence(at: self.now)
        evidence.interfaces = interfaces
        evidence.referenceRoutes =
            ["1.1.1.1", "193.0.0.1"].map { ReferenceRoute(to: self.address($0), answer) }
            + ["2000::1", "3000::1"].map { ReferenceRoute(to: self.address($0), .noRoute) }
        evidence.dnsServers = [DNSServer(self.address("192.0.2.53"))]
        return evidence
    }

    static func route(
        through index: UInt32 = 2,
        gateway: String = "192.0.2.1",
        isDown: Bool = false,
        source: RouteSource = .address(address("192.0.2.7"))
    ) -> RouteLookupResult {
        let nextHop = NextHop(interfaceIndex: index, gateway: self.address(gateway), isDown: isDown)
        return .route(Route(nextHops: [nextHop], source: source, metric: 100, table: 254))
    }

    static var routed: Evidence { self.evidence([self.interface()], ipv4: self.route()) }

    static func backendSnapshot(_ evidence: Evidence, by name: String = "netlink") -> BackendSnapshot {
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: self.now)
        var report = self.report(name, health: .healthy)
        report.status = verdict?.status
        report.reason = verdict?.reason
        report.isStated = verdict?.isStated == true
        report.host = verdict?.host
        report.reportedAt = self.now + .milliseconds(-12)
        report.limitations = evidence.limitations
        return BackendSnapshot(report: report, evidence: evidence, verdict: verdict)
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

    static func snapshot(_ snapshots: [BackendSnapshot], sequence: UInt64 = 1) -> StatusSnapshot {
        var path = NetworkPath.merging(snapshots, policy: .priority)
        path?.sequence = sequence
        path?.publishedAt = self.now
        return StatusSnapshot(path: path, backends: snapshots.map(\.report), takenAt: self.clock)
    }

    static func snapshot(_ evidence: Evidence, sequence: UInt64 = 1) -> StatusSnapshot {
        self.snapshot([self.backendSnapshot(evidence)], sequence: sequence)
    }

    /// A snapshot without any verdict.
    static var unknown: StatusSnapshot {
        var report = self.report(health: .unhealthy)
        report.error = "no netlink socket: Operation not permitted"
        return StatusSnapshot(backends: [report, self.report("spare", health: .off)], takenAt: self.clock)
    }
}

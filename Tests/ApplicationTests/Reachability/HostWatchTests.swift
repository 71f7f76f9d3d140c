// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import Reachability

/// What a watch told.
private final class Told: Sendable {
    private let statuses = Mutex<[HostStatus]>([])

    var all: [HostStatus] { self.statuses.withLock { $0 } }
    var names: [String] { self.all.map(\.name) }
    func record(_ status: HostStatus) { self.statuses.withLock { $0.append(status) } }
    func wait(for name: String) async throws {
        while self.all.last?.name != name {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct HostWatchTests {
    private let monitor: ScriptedMonitor
    private let coordinator: PathCoordinator
    private let routes = ScriptedResolver()
    private let names = Names()
    private let clock = ManualClock()
    private let told = Told()
    private let wan = NetworkInterface.wired("wan0", 2).with("192.0.2.2/24")

    init() async throws {
        self.monitor = ScriptedMonitor(.online(self.wan, gateway: "192.0.2.1"))
        self.coordinator = PathCoordinator(
            backends: [Backend("scripted", monitor: self.monitor)],
            clock: self.clock
        )
        self.coordinator.start()
        try await self.monitor.waitForRun()
        self.monitor.context?.register(self.routes)
    }

    private func watch(_ host: String) throws -> HostWatch {
        let watch = HostWatch(try HostTarget(host).host, on: self.coordinator, names: self.names.service)
        watch.start()
        _ = watch.subscribe(self.told.record)
        return watch
    }

    @Test func aRouteThatOnlyTheHostUsesIsNoticed() async throws {
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        let watch = try self.watch("203.0.113.9")
        try await self.monitor.waitForWatchedAddresses([.fixture("203.0.113.9")])
        let sequence = self.coordinator.path?.sequence
        self.routes.answer("203.0.113.9", with: .rejected(.blackhole))
        #expect(watch.ask().reason.code == .routeRejects, "asked, the kernel answers at once")
        self.monitor.context?.routesChanged()
        self.routes.answer("203.0.113.9", with: .noRoute)
        self.monitor.context?.routesChanged()
        self.monitor.context?.routesChanged()
        #expect(self.told.names == ["reachable", "unreachable", "unreachable"])
        #expect(self.told.all.map(\.reason.code) == [.routed, .routeRejects, .noRoute])
        #expect(self.coordinator.path?.sequence == sequence, "no path is published for it")
        watch.end()
        try await self.monitor.waitForWatchedAddresses([])
    }

    @Test func detail() throws {
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        self.routes.answer("192.0.2.7", with: .through(self.wan, source: .from("192.0.2.2")))
        let far = try #require(try self.watch("203.0.113.9").ask().route)
        #expect(far.description == "203.0.113.9 through wan0 via 192.0.2.1")
        #expect(far.source == .fixture("192.0.2.2"))
        #expect(far.interfaceType == .wired)
        #expect(!far.isLocalOnly && !far.isTunnel && !far.isVPN)
        let near = try #require(try self.watch("192.0.2.7").ask().route)
        #expect(near.description == "192.0.2.7 through wan0, on the link")
    }

    @Test func tunnelsAndWhatCarriesThem() throws {
        let tunnel = NetworkInterface.tunnel("wg0", 7).with("10.8.0.2/24")
        let online = Evidence.online(self.wan, gateway: "192.0.2.1")
        self.monitor.report(online.changed { $0.interfaces?.append(tunnel) })
        self.routes.answer("198.51.100.9", with: .through(tunnel, source: .from("10.8.0.2")))
        let watch = try self.watch("198.51.100.9")
        #expect(watch.ask().isPending, "what carries the tunnel is being looked up")
        // A backend that cannot tell never will.
        self.clock.advance(by: .seconds(1))
        let route = try #require(watch.ask().route)
        #expect(route.description == "198.51.100.9 through wg0, VPN")
        #expect(!route.isLocalOnly)

        let way = RouteLookupResult.through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2"))
        let outer = TunnelEvidence(routes: [OuterRoute(.endpoint, to: .fixture("203.0.113.1"), way)])
        self.monitor.report(
            online.changed { $0.interfaces?.append(tunnel.changed { $0.tunnelEvidence = outer }) }
                .routed(.ipv4, through: tunnel, source: .from("10.8.0.2"))
        )
        #expect(watch.ask().route?.description == "198.51.100.9 through wg0, VPN over wan0")
        watch.end()
    }

    @Test func nothingIsSaidBeforeTheInterfaceIsKnown() async throws {
        let monitor = ScriptedMonitor()
        let eth = NetworkInterface.wired("eth0", 2).with("192.0.2.2/24")
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("eth*")))
        rule.type = .cellular
        let coordinator = PathCoordinator(
            backends: [Backend("scripted", monitor: monitor)],
            settings: CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule]))
        )
        coordinator.start()
        try await monitor.waitForRun()
        self.routes.answer("203.0.113.9", with: .through(eth, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        monitor.context?.register(self.routes)
        let host = try HostReachability(host: "203.0.113.9", on: coordinator)
        #expect(host.reach().reason.code == .notAnswered)
        let watch = HostWatch(.address(.fixture("203.0.113.9"), zone: nil), on: coordinator)
        watch.start()
        _ = watch.subscribe(self.told.record)
        monitor.report(.online(eth, gateway: "192.0.2.1"))
        #expect(self.told.names == ["unknown", "cellular"])
        #expect(self.told.all.last?.route?.interfaceType == .cellular)
        watch.end()
        coordinator.stop()
    }

    @Test func statusesOfIndependentIterators() async throws {
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        var host: HostReachability? = try HostReachability(host: "203.0.113.9", on: self.coordinator)
        let statuses = try #require(host?.statuses)
        var (first, second) = (statuses.makeAsyncIterator(), statuses.makeAsyncIterator())
        #expect(await first.next()?.name == "reachable")
        #expect(await second.next()?.name == "reachable")
        self.routes.answer("203.0.113.9", with: .noRoute)
        self.monitor.context?.routesChanged()
        #expect(await first.next()?.name == "unreachable")
        #expect(await second.next()?.name == "unreachable")
        host?.cancel()
        host = nil
        #expect(await first.next() == nil)
        #expect(await second.next() == nil)
    }

    @Test func cellularIsTold() throws {
        let cellular = NetworkInterface.cellular("wwan0", 3).with("198.51.100.2/24")
        self.monitor.report(.online(cellular, gateway: "198.51.100.1"))
        let way = RouteLookupResult.through(cellular, gateway: "198.51.100.1", source: .from("198.51.100.2"))
        self.routes.answer("203.0.113.9", with: way)
        let status = try self.watch("203.0.113.9").ask()
        #expect(status.name == "cellular")
        #expect(status.isReachable && status.isReachable(allowingCellular: true))
        #expect(!status.isReachable(allowingCellular: false))
        #expect(status.route?.interface == "wwan0")
    }

    @Test func aLinkWithoutCarrierCarriesNothing() throws {
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        let watch = try self.watch("203.0.113.9")
        self.monitor.report(.seeing(.loopback(), self.wan.withoutCarrier()))
        #expect(self.told.names == ["reachable", "unreachable"])
        #expect(self.told.all.last?.reason.code == .noCarrier)
        watch.end()
    }

    @Test func namesAreLookedUpAgainWhenTheNetworkChanges() async throws {
        self.names.set("example.net", "203.0.113.9", "2001:db8::9")
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        let watch = try self.watch("example.net")
        try await self.told.wait(for: "reachable")
        // The answer may be there before the first call, and then nobody hears of the question.
        #expect(self.told.all.dropLast().allSatisfy { $0.reason.code == .resolving })
        try await self.monitor.waitForWatchedAddresses([.fixture("203.0.113.9"), .fixture("2001:db8::9")])
        self.monitor.context?.routesChanged()
        #expect(self.names.lookups == 1, "another route is no other network")

        self.names.set("example.net", "203.0.113.10")
        self.clock.advance(by: .seconds(10))
        self.monitor.report(
            .online(self.wan, gateway: "192.0.2.1").changed { $0.dnsServers = [DNSServer(.fixture("192.0.2.53"))] }
        )
        try await self.told.wait(for: "unreachable")
        #expect(self.names.lookups == 2)
        #expect(self.told.all.last?.reason.message == "there is no route to 203.0.113.10")
        watch.end()
    }

    @Test func aDeadNameServerIsUnknownAndAskedAgain() async throws {
        let watch = try self.watch("example.net")
        while self.told.all.last?.reason.code != .notResolved { await Task.yield() }
        #expect(self.told.names.allSatisfy { $0 == "unknown" })
        self.names.set("example.net", "203.0.113.9")
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        try await self.clock.waitForSleeper()
        self.clock.advance(by: .seconds(1))
        try await self.told.wait(for: "reachable")
        watch.end()
    }

    @Test func oneAddressThatIsReachedSuffices() async throws {
        self.names.set("example.net", "2001:db8::9", "203.0.113.9")
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        let watch = try self.watch("example.net")
        try await self.told.wait(for: "reachable")
        #expect(watch.ask().route?.address == .fixture("203.0.113.9"))
        #expect(watch.ask().route?.family == .ipv4)
    }

    @Test func aChangeOfTheHostsFileIsNoticed() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("hosts", "1")
        self.names.set("printer", "203.0.113.9")
        self.routes.answer("203.0.113.10", with: .through(self.wan, source: .from("192.0.2.2")))
        let files = ResolverFiles(paths: [directory["nsswitch.conf"], directory["hosts"]])
        let host = try HostTarget("printer").host
        let watch = HostWatch(host, on: self.coordinator, names: self.names.service, files: files)
        watch.start()
        _ = watch.subscribe(self.told.record)
        try await self.told.wait(for: "unreachable")
        self.names.set("printer", "203.0.113.10")
        try directory.write("hosts", "2")
        // Between two lookups there is some time, and this clock has to be moved.
        while self.told.all.last?.name != "reachable" {
            try Task.checkCancellation()
            self.clock.advance(by: HostResolution.spacing)
            await Task.yield()
        }
        watch.end()
    }

    @Test func aZoneNamesTheInterface() async throws {
        let index = Mutex<UInt32?>(nil)
        self.routes.answer("fe80::9", through: 2, with: .through(self.wan, source: .from("192.0.2.2")))
        let host = try HostTarget("fe80::9%wan0").host
        let watch = HostWatch(host, on: self.coordinator) { zone in zone == "wan0" ? index.withLock { $0 } : nil }
        watch.start()
        #expect(watch.ask().reason.code == .noInterface)
        #expect(watch.ask().reason.message.contains("no interface wan0"))
        index.withLock { $0 = 2 }
        #expect(watch.ask().route?.interface == "wan0")
        index.withLock { $0 = 3 }
        #expect(watch.ask().reason.code == .noRoute, "it came back as another one")
        watch.end()
    }

    @Test func aLinkLocalAddressWithoutItsInterfaceIsNotReached() async throws {
        self.routes.answer("fe80::9", with: .through(self.wan, source: .from("192.0.2.2")))
        let status = try self.watch("fe80::9").ask()
        #expect(status.reason.code == .notConnectable)
        #expect(status.reason.message.hasSuffix("name its interface, as in fe80::9%eth0"))
        #expect(HostReachability(address: .fixture("fe80::9")).reach().name == "unreachable")
    }

    @Test func withoutAResolverNobodyKnows() async throws {
        let coordinator = PathCoordinator(backends: [])
        let watch = HostWatch(.address(.fixture("203.0.113.9"), zone: nil), on: coordinator)
        watch.start()
        #expect(watch.ask().reason.code == .notAnswered)
        #expect(watch.subscribe(self.told.record) != nil)
        watch.end()
        #expect(watch.subscribe(self.told.record) == nil)
        #expect(self.told.names == ["unknown"])
    }

    @Test func endedWatchesAreReleased() throws {
        weak var released: HostWatch?
        do {
            let watch = try self.watch("203.0.113.9")
            released = watch
            #expect(released != nil)
        }
        #expect(released == nil, "nothing else keeps a watch alive")
    }
}

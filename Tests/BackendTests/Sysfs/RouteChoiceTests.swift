// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathSysfs

@Suite struct RouteChoiceTests {
    private let ipv4 = InternetAddress(ipv4: 0x0900_0001)
    private let upperIPv4 = InternetAddress(ipv4: 0xC100_0001)
    private let ipv6 = InternetAddress(ipv6: 0x2600 << 112 | 1)
    private var reading = NetworkReading.cards(
        [.card(2, "wan0"), .card(3, "wan1")],
        ipv4: [2: ["192.0.2.2"], 3: ["203.0.113.2"]],
        ipv6: [2: ["fe80::2", "2001:db8::2"]]
    )

    private func route(_ reading: NetworkReading, to destination: InternetAddress? = nil) throws -> Route {
        guard case .route(let route) = RouteChoice(reading).answer(to: destination ?? self.ipv4) else {
            throw Unrouted(answer: RouteChoice(reading).answer(to: destination ?? self.ipv4))
        }
        return route
    }

    private struct Unrouted: Error {
        let answer: RouteLookupResult
    }

    @Test func lowestMetricWins() throws {
        var reading = self.reading
        reading.addRoute(via: "203.0.113.1", metric: 600, through: "wan1")
        reading.addRoute(via: "192.0.2.1", metric: 100, through: "wan0")
        let route = try self.route(reading)
        #expect(route.nextHops == [NextHop(interfaceIndex: 2, gateway: InternetAddress("192.0.2.1"))])
        #expect(route.metric == 100)
        #expect(route.table == 254)
        #expect(route.source == .address(try #require(InternetAddress("192.0.2.2"))))
    }

    @Test func longestPrefixWins() throws {
        var reading = self.reading
        reading.addRoute(via: "192.0.2.1", through: "wan0")
        reading.addRoute("128.0.0.0", 1, via: "203.0.113.1", metric: 9, through: "wan1")
        #expect(try self.route(reading).nextHops.map(\.interfaceIndex) == [2])
        #expect(try self.route(reading, to: self.upperIPv4).nextHops.map(\.interfaceIndex) == [3])
    }

    @Test func rejectionsAndAbsence() {
        var reading = self.reading
        #expect(RouteChoice(reading).answer(to: self.ipv4) == .noRoute)
        reading.addRoute(metric: 5, through: nil)
        reading.addRoute(via: "192.0.2.1", metric: 9, through: "wan0")
        #expect(RouteChoice(reading).isRefused(self.ipv4))
        #expect(RouteChoice(reading).answer(to: self.ipv4) == .unknown)
        reading.refusals[self.ipv4] = .rejected(.blackhole)
        #expect(RouteChoice(reading).answer(to: self.ipv4) == .rejected(.blackhole))
        #expect(RouteChoice(reading).defaultRoute(to: self.ipv4, through: reading.interfaces[0]) == nil)
    }

    @Test func whatWasNotReadIsUnknown() {
        var reading = self.reading
        reading.routes[.ipv6] = nil
        #expect(RouteChoice(reading).answer(to: self.ipv6) == .unknown)
        // Half of a default in the part that was read: the other half may be in the rest.
        reading.routes[.ipv4]?.isComplete = false
        #expect(RouteChoice(reading).answer(to: self.upperIPv4) == .noRoute)
        reading.addRoute("0.0.0.0", 1, via: "192.0.2.1", through: "wan0")
        #expect(RouteChoice(reading).answer(to: self.upperIPv4) == .unknown)
        reading.addRoute(via: "192.0.2.1", through: "wan0")
        #expect(RouteChoice(reading).answer(to: self.upperIPv4) == .unknown)
    }

    @Test func routeThroughAnInterfaceThatIsNotThereIsUnknown() {
        var reading = self.reading
        reading.addRoute(via: "192.0.2.1", through: "gone0")
        #expect(RouteChoice(reading).answer(to: self.ipv4) == .unknown)
    }

    @Test func routeWithoutCarrierTakesThePacketsUnlessIgnored() throws {
        var reading = self.reading
        reading.interfaces[0].hasCarrier = false
        reading.addRoute(via: "192.0.2.1", through: "wan0")
        reading.addRoute(via: "203.0.113.1", metric: 600, through: "wan1")
        #expect(try self.route(reading).nextHops.map(\.isDown) == [true])
        reading.ignoredWithoutCarrier[.ipv4] = ["wan0"]
        #expect(try self.route(reading).nextHops.map(\.interfaceIndex) == [3])
    }

    @Test func nextHopsOfIPv6ShareThePackets() throws {
        var reading = self.reading
        reading.addRoute("::", via: "fe80::1", metric: 1024, through: "wan0", shares: true)
        reading.addRoute("::", via: "fe80::9", metric: 1024, through: "wan1", shares: true)
        reading.addRoute("::", via: "fe80::7", metric: 2000, through: "wan1", shares: true)
        #expect(try self.route(reading, to: self.ipv6).nextHops.map(\.interfaceIndex) == [2, 3])
    }

    @Test func sourceAddresses() throws {
        var reading = self.reading
        reading.addRoute("::", via: "fe80::1", through: "wan1")
        // Another interface's address before none.
        #expect(try self.route(reading, to: self.ipv6).source == .address(try #require(InternetAddress("2001:db8::2"))))
        reading.addresses[.ipv6]?[2]?[1].state = .tentative
        #expect(try self.route(reading, to: self.ipv6).source == .none)
        reading.addresses[.ipv6]?[3] = [try #require(NetworkReading.address("fe80::3", 64))]
        #expect(try self.route(reading, to: self.ipv6).source == .address(try #require(InternetAddress("fe80::3"))))
        reading.addresses[.ipv6] = nil
        #expect(try self.route(reading, to: self.ipv6).source == .unknown)
        // Of several the one in the gateway's network.
        reading.addresses[.ipv4]?[2] = ["198.51.100.2", "192.0.2.2"].compactMap { NetworkReading.address($0, 24) }
        reading.addRoute(via: "192.0.2.1", through: "wan0")
        #expect(try self.route(reading).source == .address(try #require(InternetAddress("192.0.2.2"))))
    }
}

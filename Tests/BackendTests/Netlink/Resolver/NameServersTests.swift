// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct NameServersTests {
    private var packet: Flow {
        var packet = Flow(to: .fixture("::"))
        packet.userID = 7
        packet.transport = Flow.Transport(protocolNumber: Flow.Transport.tcp, destinationPort: Flow.Transport.https)
        return packet
    }

    private func flows(_ servers: inout NameServers, _ zones: [String: UInt32] = [:]) -> [Flow] {
        servers.flows(self.packet) { zones[$0] }
    }

    @Test func aQuestionIsADatagramOfAProgramHere() {
        var servers = NameServers([DNSServer(.fixture("192.0.2.53"))])
        let flow = self.flows(&servers).first
        #expect(flow?.destination == .fixture("192.0.2.53"))
        #expect(flow?.transport == Flow.Transport(protocolNumber: 17, destinationPort: 53))
        #expect(flow?.userID == 7)
        #expect(flow?.interface == nil)
    }

    @Test func aKernelWithoutPortsIsNotAskedAboutAny() {
        var servers = NameServers([DNSServer(.fixture("192.0.2.53"))])
        #expect(servers.flows(Flow(to: .fixture("::"))) { _ in nil }.first?.transport == nil)
    }

    @Test func noServersNoQuestions() {
        for list in [nil, []] as [[DNSServer]?] {
            var servers = NameServers(list)
            #expect(self.flows(&servers) == [])
            #expect(servers.routes == [])
            #expect(servers.addresses == [])
        }
    }

    @Test func aLinkLocalServerIsAskedThroughItsInterface() {
        var servers = NameServers([
            DNSServer(.fixture("fe80::1"), zone: "eth9"), DNSServer(.fixture("192.0.2.53")),
            DNSServer(.fixture("fe80::1"), zone: "eth0"), DNSServer(.fixture("fe80::1")),
        ])
        #expect(servers.needsZones)
        #expect(self.flows(&servers, ["eth0": 2]).map(\.interface) == [nil, 2])
        let route = RouteLookupResult.route(Route(nextHops: [NextHop(interfaceIndex: 2)]))
        servers.setRoute(.unknown, at: 0)
        servers.setRoute(route, at: 1)
        #expect(servers.routes == [.noRoute, .unknown, route, .noRoute])
        // The interface is gone.
        #expect(self.flows(&servers).map(\.destination) == [.fixture("192.0.2.53")])
        #expect(servers.routes == [.noRoute, .unknown, .noRoute, .noRoute])
    }
}

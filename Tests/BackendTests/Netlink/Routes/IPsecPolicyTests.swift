// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Policies of IPsec as a kernel showed them, and which packets they are for.
@Suite struct IPsecPolicyTests {
    private let policies: [IPsecPolicy]

    init() throws {
        self.policies = try Fixture.decode("ipsec-policies", IPsecPolicy.init).compactMap(\.self)
    }

    private func covers(_ policy: IPsecPolicy, _ change: (inout Flow, inout Route) -> Void = { _, _ in }) -> Bool {
        let isIPv4 = policy.selector.destination.address.family == .ipv4
        var flow = Flow(to: .fixture(isIPv4 ? "9.0.0.1" : "2600::1"))
        flow.transport = Flow.Transport(protocolNumber: Flow.Transport.tcp, destinationPort: Flow.Transport.https)
        flow.mark = 7
        var route = Route(nextHops: [NextHop(interfaceIndex: policy.selector.interface)])
        route.source = .address(.fixture(isIPv4 ? "192.0.2.2" : "2001:db8::2"))
        change(&flow, &route)
        return policy.covers(flow, route)
    }

    @Test func aKernelWithoutIPsecIsNotAsked() {
        #expect(IPsecPolicies(procfs: "/nonexistent", loadsModule: false) == nil)
    }

    @Test func onlyWhatProgramsMeetIsRead() {
        // Not the sub-policy, the one for packets that come in, and that of an xfrm interface.
        #expect(self.policies.map(\.priority) == [0, 20, 10])
        #expect(self.policies.map(\.blocks) == [false, false, true])
        #expect(self.policies.map(\.selector.destination.description) == ["2600::/16", "0.0.0.0/0", "9.0.0.0/8"])
    }

    @Test func templates() {
        let esp = IPsecPolicy.Template(protocolNumber: 50, mode: 0, request: 0, number: 0, remote: nil)
        // That of AH may be left out.
        #expect(self.policies[0].required == [esp])
        let tunnel = IPsecPolicy.Template(
            protocolNumber: 50,
            mode: 1,
            request: 5,
            number: 0,
            remote: .fixture("192.0.2.9")
        )
        #expect(self.policies[1].required == [tunnel])
        #expect(self.policies[2].required.isEmpty)
    }

    @Test func packets() {
        for policy in self.policies { #expect(self.covers(policy)) }
        let (transport, tunnel, block) = (self.policies[0], self.policies[1], self.policies[2])
        #expect(!self.covers(transport) { _, route in route.nextHops[0].interfaceIndex += 1 })
        #expect(!self.covers(transport) { flow, _ in flow.destination = .fixture("9.0.0.1") })
        #expect(!self.covers(tunnel) { flow, _ in flow.mark = nil })
        #expect(!self.covers(tunnel) { flow, _ in flow.transport?.destinationPort = 80 })
        #expect(!self.covers(tunnel) { flow, _ in flow.transport?.protocolNumber = Flow.Transport.udp })
        #expect(!self.covers(tunnel) { _, route in route.source = .address(.fixture("192.0.2.3")) })
        // A policy that is for some sources only is not taken for one of all.
        #expect(!self.covers(tunnel) { _, route in route.source = .unknown })
        #expect(!self.covers(block) { flow, _ in flow.destination = .fixture("10.0.0.1") })
    }

    @Test func states() throws {
        let state = try #require(try Fixture.first("ipsec-states", IPsecState.init))
        var template = self.policies[1].required[0]
        #expect(state.fits(template))
        template.request = 6
        #expect(!state.fits(template))
        template = self.policies[1].required[0]
        template.mode = 0
        #expect(!state.fits(template))
        // One that is being negotiated has no number yet.
        for datagram in try Fixture.datagrams("ipsec-states") {
            var bytes = datagram
            for position in 0..<4 { bytes[16 + 72 + position] = 0 }
            #expect(MessageOctets.read(bytes, IPsecState.init) == nil)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Which next hop of several packets take.
@Suite struct MultipathTests {
    private static let sources: [UInt32: InternetAddress] = [2: .fixture("192.0.2.2"), 3: .fixture("198.51.100.2")]
    private static let hops = [
        NextHop(interfaceIndex: 2), NextHop(interfaceIndex: 3, isDown: true, isPassedOver: true),
    ]

    /// A kernel with two next hops, whose hash sends packets without and with a source address through some interface.
    private func kernel(
        _ hops: [NextHop] = Self.hops,
        first: @escaping (Flow) -> UInt32,
        second: @escaping (Flow) -> UInt32
    ) -> ScriptedKernel {
        let kernel = ScriptedKernel { _ in
            .success(RouteReply(type: 1, nextHops: hops, metric: 0, table: 254))
        }
        kernel.appliedAnswer = { flow in
            let interface = flow.source == nil ? first(flow) : second(flow)
            return .route(through: interface, from: flow.source ?? Self.sources[interface])
        }
        return kernel
    }

    private func route(_ kernel: ScriptedKernel, to destination: String = "9.0.0.1") throws -> Route {
        let lookup = RouteLookup(
            kernel,
            packet: Flow(to: .fixture(destination)),
            mayConnect: false,
            clock: SystemMonotonicClock()
        )
        kernel.forget()
        let answer = lookup.route(lookup.packet) { _, _ in [] }
        guard case .route(let route) = answer else { throw NotRouted() }
        return route
    }

    private struct NotRouted: Error {}

    /// The hash has stayed as it was, and RTNH_F_DEAD is made up.
    @Test func whatTheHashTakesIsNotPassedOver() throws {
        let route = try self.route(
            kernel(
                first: { $0.destination.bits % 2 == 0 ? 3 : 2 },
                second: {
                    $0.source == Self.sources[3] ? 3 : 2
                }
            )
        )
        #expect(route.nextHops.map(\.isPassedOver) == [false, false])
        #expect(route.selectedNextHop == 0)
    }

    @Test func whatTheHashAvoidsIsPassedOver() throws {
        let route = try self.route(kernel(first: { _ in 2 }, second: { _ in 2 }))
        #expect(route.nextHops.map(\.isPassedOver) == [false, true])
        #expect(route.selectedNextHop == 0)
    }

    /// IPv4 looks up again with the source address that it has chosen, and that decides; IPv6 does not.
    @Test func theSecondLookupOfIPv4Decides() throws {
        let crossed = { (flow: Flow) -> UInt32 in flow.source == Self.sources[2] ? 3 : 2 }
        #expect(try self.route(kernel(first: { _ in 2 }, second: crossed)).selectedNextHop == 1)
        #expect(try self.route(kernel(first: { _ in 2 }, second: crossed), to: "2600::1").selectedNextHop == 0)
    }

    @Test func wherePortsDecideNothingIsSaidOfOneDestination() throws {
        let kernel = self.kernel(first: { _ in 3 }, second: { _ in 3 })
        kernel.hashesAddresses = false
        let route = try self.route(kernel)
        #expect(route.selectedNextHop == nil)
        #expect(route.nextHops.map(\.isPassedOver) == [false, false], "the kernel uses it all the same")
    }

    /// Nothing more is asked while all next hops are well, or there is one.
    @Test func nothingIsAskedInVain() throws {
        for hops in [
            [NextHop(interfaceIndex: 2), NextHop(interfaceIndex: 3)], [NextHop(interfaceIndex: 2, isDown: true)],
        ] {
            let kernel = self.kernel(hops, first: { _ in 2 }, second: { _ in 2 })
            #expect(try self.route(kernel).selectedNextHop == nil)
            #expect(kernel.asked.count == 2)
        }
    }
}

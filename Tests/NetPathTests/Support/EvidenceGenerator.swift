// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

/// Random evidence, and the same ones with less known.
enum EvidenceGenerator {
    static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    static func evidence(using generator: inout SeededGenerator) -> Evidence {
        var evidence = Evidence.seeing(.loopback())
        for index in 2..<UInt32.random(in: 2...6, using: &generator) {
            evidence.interfaces?.append(self.interface(index, using: &generator))
        }
        for position in evidence.referenceRoutes.indices {
            let family = evidence.referenceRoutes[position].destination.family
            let interfaces = evidence.interfaces ?? []
            let isLikeTheOneBefore = position % 2 == 1 && Int.random(in: 0..<4, using: &generator) > 0
            evidence.referenceRoutes[position].answer =
                isLikeTheOneBefore
                ? evidence.referenceRoutes[position - 1].answer : self.answer(family, interfaces, using: &generator)
        }
        return evidence
    }

    private static func interface(_ index: UInt32, using generator: inout SeededGenerator) -> NetworkInterface {
        let types: [InterfaceType] = [.wired, .wired, .wifi, .cellular, .other]
        var interface = NetworkInterface(index: index, name: "if\(index)", type: self.pick(types, &generator))
        if self.chance(8, &generator) { interface.flags = .up }
        interface.operationalState = self.pick([.up, .up, .up, .unknown, .down, .dormant, nil], &generator)
        interface.hasCarrier = self.pick([true, true, true, false, nil], &generator)
        interface.underlyingIndex = self.pick([nil, nil, nil, 2, 3], &generator)
        interface.controllerIndex = self.pick([nil, nil, nil, nil, 4], &generator)
        interface.isHardware = self.pick([true, false, nil], &generator)
        interface.isRadioBlocked = self.pick([false, nil, true], &generator)
        interface.defaultRoutes = self.pick([[], nil, [InterfaceRoute(family: .ipv4, metric: index)]], &generator)
        interface.expectsConfiguration = self.pick([true, false, nil], &generator)
        interface.carrierSince = self.pick([nil, self.now], &generator)
        interface.configurer = self.pick([nil, .network, .nothing, .session], &generator)
        interface.hadDefaultRoute = self.pick([nil, nil, true], &generator)
        interface.bondFault = self.pick([nil, nil, nil, .fewerLinks(than: 2)], &generator)
        interface.failedAuthentications = self.pick([nil, nil, 2], &generator)
        let states: [AddressState] = [[], [], .deprecated, .tentative, .duplicate]
        if self.chance(7, &generator) {
            interface = interface.with("192.0.2.\(index)/24", state: self.pick(states, &generator))
        }
        if self.chance(5, &generator) {
            interface = interface.with("2001:db8::\(index)/64", state: self.pick(states, &generator))
        }
        return interface
    }

    private static func answer(
        _ family: AddressFamily,
        _ interfaces: [NetworkInterface],
        using generator: inout SeededGenerator
    ) -> RouteLookupResult {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return .unknown
        case 1, 2, 3: return .noRoute
        case 4 where self.chance(3, &generator): return .rejected(.blackhole)
        default:
            let nextHops = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                NextHop(
                    interfaceIndex: self.pick(interfaces, &generator).index,
                    isDown: self.chance(1, &generator)
                )
            }
            let own =
                family == .ipv4 ? "192.0.2.\(nextHops[0].interfaceIndex)" : "2001:db8::\(nextHops[0].interfaceIndex)"
            // No kernel sends from an address that no interface has.
            let canSend = interfaces.contains { $0.canSend(family) }
            let source = canSend ? self.pick([RouteSource.from(own), .from(own), .unknown, .none], &generator) : .none
            return .route(Route(nextHops: nextHops, source: source))
        }
    }

    /// True in so many of ten cases.
    private static func chance(_ tenths: Int, _ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<10, using: &generator) < tenths
    }

    private static func pick<Choice>(_ choices: [Choice], _ generator: inout SeededGenerator) -> Choice {
        choices[Int.random(in: 0..<choices.count, using: &generator)]
    }

    /// The evidence with one fact less, for every fact that can be unknown.
    static func forgettingEachFact(of evidence: Evidence) -> [(fact: String, Evidence)] {
        let forgetInterfaceFact: [(String, @Sendable (inout NetworkInterface) -> Void)] = [
            ("operationalState", { $0.operationalState = nil }),
            ("hasCarrier", { $0.hasCarrier = nil }),
            ("parentIndex", { $0.underlyingIndex = nil }),
            ("controllerIndex", { $0.controllerIndex = nil }),
            ("isHardware", { $0.isHardware = nil }),
            ("isRadioBlocked", { $0.isRadioBlocked = nil }),
            ("defaultRoutes", { $0.defaultRoutes = nil }),
            ("expectsConfiguration", { $0.expectsConfiguration = nil }),
            ("carrierSince", { $0.carrierSince = nil }),
            ("configurer", { $0.configurer = nil }),
            ("hadDefaultRoute", { $0.hadDefaultRoute = nil }),
            ("bondFault", { $0.bondFault = nil }),
            ("failedAuthentications", { $0.failedAuthentications = nil }),
        ]
        var forgotten = [
            ("interfaces", evidence.changed { $0.interfaces = nil }),
            ("referenceRoutes", evidence.changed { $0.referenceRoutes = [] }),
        ]
        for position in evidence.interfaces?.indices ?? 0..<0 {
            for (fact, forget) in forgetInterfaceFact {
                let less = evidence.changed {
                    $0.interfaces = $0.interfaces?.enumerated().map { $0 == position ? $1.changed(forget) : $1 }
                }
                forgotten.append(("\(fact) of interface \(position)", less))
            }
            // Those that a route names; of the others a list has all that are usable.
            let isNamed = evidence.referenceRoutes.contains { referenceRoute in
                guard case .route(let route) = referenceRoute.answer else { return false }
                return route.nextHops.contains { $0.interfaceIndex == evidence.interfaces?[position].index }
            }
            if isNamed {
                forgotten.append(("interface \(position)", evidence.changed { $0.interfaces?.remove(at: position) }))
            }
        }
        for position in evidence.referenceRoutes.indices {
            func answering(_ answer: RouteLookupResult) -> Evidence {
                evidence.changed { $0.referenceRoutes[position].answer = answer }
            }
            forgotten.append(("answer \(position)", answering(.unknown)))
            guard case .route(var route) = evidence.referenceRoutes[position].answer else { continue }
            route.source = .unknown
            forgotten.append(("source \(position)", answering(.route(route))))
            route.nextHops = []
            forgotten.append(("next hops \(position)", answering(.route(route))))
        }
        return forgotten
    }
}

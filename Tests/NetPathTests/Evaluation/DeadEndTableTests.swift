// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

/// The table of ways that lead nowhere, read from the article that shows it: each row with what is known in it.
@Suite struct DeadEndTableTests {
    /// A row of the article.
    struct Row: Sendable, CustomTestStringConvertible {
        let number: Int
        let status: String
        let code: String
        let besides: String

        var testDescription: String { "row \(self.number)" }
    }

    static let rows: [Row] = {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/NetPath/NetPath.docc/Evaluation.md").standardizedFileURL
        let text = (try? String(contentsOf: article, encoding: .utf8)) ?? ""
        let lines = text.components(separatedBy: "| row | packets go to |").last?.split(separator: "\n") ?? []
        return lines.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6, let number = Int(cells[0]) else { return nil }
            return Row(number: number, status: cells[3], code: cells[4], besides: cells[5])
        }
    }()

    private static let dummy = NetworkInterface.virtual("dummy0", 8, kind: "dummy").with("192.0.2.7/24")
    private static let bridge = NetworkInterface.virtual("br0", 8, kind: "bridge").with("192.0.2.7/24")
        .with("2001:db8::7/64").changed { $0.hasPorts = true }
    private static let wan0 = NetworkInterface.wired("wan0", 2).with("192.0.2.7/24")
    private static let wan1 = NetworkInterface.wired("wan1", 3).with("198.51.100.7/24")

    /// Packets leave through an interface, beside an uplink that works.
    private static func through(
        _ interface: NetworkInterface,
        _ change: (inout NetworkInterface) -> Void = { _ in }
    ) -> Evidence {
        .seeing(.loopback(), wan1, interface.withDefaultRoute().changed(change))
            .answering(.ipv4, .through(interface, gateway: "192.0.2.1", source: .from("192.0.2.7")))
    }

    /// Packets leave through the bridge, which has its gateways there.
    private static func through(places ipv4: BridgePlace?, _ ipv6: BridgePlace? = nil) -> Evidence {
        self.through(bridge)
            .answering(.ipv6, .through(bridge, gateway: "2001:db8::1", source: .from("2001:db8::7")))
            .changed { evidence in
                for (address, place) in [("192.0.2.1", ipv4), ("2001:db8::1", ipv6)] where place != nil {
                    evidence.gateways.append(
                        Gateway(address: .fixture(address), interfaceIndex: 8, place: place)
                    )
                }
            }
    }

    /// Packets leave through two next hops.
    private static func hops(
        _ first: NetworkInterface,
        _ second: NetworkInterface,
        selected: Int? = nil,
        _ change: (inout NextHop) -> Void = { _ in }
    ) -> Evidence {
        var lost = NextHop(interfaceIndex: second.index, isDown: true)
        change(&lost)
        var route = Route(
            nextHops: [NextHop(interfaceIndex: first.index), lost],
            source: .address(.fixture("192.0.2.7"))
        )
        route.selectedNextHop = selected
        return .seeing(.loopback(), first, second).answering(.ipv4, .route(route))
    }

    private static let dead = Self.wan1.withoutCarrier()
    private static let uplink: [InterfaceRule] = {
        var rule = InterfaceRule(.init(name: GlobPattern("dummy0")))
        rule.isUplink = true
        return [rule]
    }()

    /// What is known, in each row.
    private static let cases: [Int: [(Evidence, rules: [InterfaceRule])]] = [
        1: [
            (through(dummy) { $0.diversions = [] }, []),
            (through(dummy) { ($0.diversions, $0.kind) = ([], "ifb") }, []),
            (through(dummy) { ($0.diversions, $0.kind) = ([], "nlmon") }, []),
        ],
        2: [
            (through(dummy) { $0.diversions = [.trafficControl] }, []),
            (through(dummy) { $0.diversions = [.mark(1)] }, []),
        ],
        3: [
            (through(dummy) { $0.diversions = [] }, uplink),
            (through(dummy) { $0.diversions = [.trafficControl] }, uplink),
        ],
        4: [
            (through(bridge) { $0.hasPorts = false }, []),
            (through(bridge) { ($0.hasPorts, $0.kind) = (false, "macvlan") }, []),
        ],
        5: [(through(places: nil), [])],
        6: [(through(places: .reachable), []), (through(places: .reachable, .lost(port: "eno1")), [])],
        7: [(through(places: .lost(port: "eno1"), .lost(port: "eno1")), [])],
        8: [(through(places: .lost(port: "eno1")), [])],
        9: [(through(places: .unknown(ports: ["eno1"])), []), (through(places: .unknown(ports: [])), [])],
        10: [
            (through(places: .lost(port: "eno1"), .unknown(ports: ["eno1"])), []),
            (through(places: .unknown(ports: ["eno1"]), .lost(port: "eno1")), []),
        ],
        11: [(hops(wan0, dead), []), (hops(wan0, dead) { $0.weight = 200 }, [])],
        12: [(hops(wan0, dead) { $0.isPassedOver = true }, [])],
        13: [(hops(wan0, dead, selected: 0), []), (hops(wan0, dead, selected: 1), [])],
    ]

    @Test func everyRowIsTried() {
        #expect(Self.rows.map(\.number) == Array(1...13))
        #expect(Set(Self.cases.keys) == Set(1...13))
    }

    @Test(arguments: rows)
    func rowHolds(_ row: Row) throws {
        for (evidence, rules) in try #require(Self.cases[row.number]) {
            var policy = EvaluationPolicy()
            policy.interfaceRules = rules
            let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
            let verdict = try #require(evidence.verdict(policy: policy, now: now))
            let message = verdict.reason.message
            #expect(verdict.status.rawValue == row.status, "\(message)")
            #expect(verdict.reason.code.rawValue == row.code, "\(message)")
            #expect(message.contains("it is unknown") == (row.besides == "doubt"), "\(message)")
            #expect(message.contains("lose packets") == (row.besides == "loss"), "\(message)")
        }
    }

    private func message(_ evidence: Evidence) -> String? {
        evidence.verdict(policy: EvaluationPolicy(), now: MonotonicTime(nanoseconds: 1_000_000_000_000))?.reason
            .message
    }

    @Test func reasons() {
        #expect(message(Self.through(Self.dummy) { $0.diversions = [] }) == "dummy0 discards every packet")
        #expect(message(Self.through(Self.bridge) { $0.hasPorts = false }) == "br0 has no port")
        #expect(
            message(Self.through(Self.bridge) { ($0.hasPorts, $0.kind) = (false, "macvlan") })
                == "br0 has no allowed MAC address (macvlan of mode source)"
        )
        #expect(
            message(Self.through(places: .lost(port: "eno1")))
                == "eno1, the bridge port to the gateway, has no link"
        )
        #expect(
            message(Self.through(places: .unknown(ports: ["eno1", "eno2", "eno3"])))
                == "IPv4 and IPv6 through br0; it is unknown whether the gateway 192.0.2.1 is behind eno1 or eno2 or another "
                + "port, without a link"
        )
        #expect(
            message(Self.hops(Self.wan0, Self.dead) { $0.weight = 200 })
                == "IPv4 through wan0; next hops with 99 % of the packets, through wan1, lose packets"
        )
        #expect(
            message(Self.hops(Self.wan0, Self.dead, selected: 1))
                == "IPv4 through wan0; half of the next hops, through wan1, lose packets, those to 16.0.0.1 and "
                + "160.0.0.1 among them"
        )
    }

    /// A protection is no cause while nothing could be sent anyway.
    @Test func anUplinkThatIsLostIsTheCause() throws {
        let wifi = NetworkInterface.wifi("wlan0", 4).withoutCarrier()
        let evidence = Evidence.seeing(.loopback(), wifi, Self.dummy.changed { $0.diversions = [] })
            .answering(.ipv4, .through(Self.dummy, source: .from("192.0.2.7")))
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: now))
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason.code == .wifiNotAssociated)
    }

    /// Also of a protection that has an address of its own, and the default route.
    @Test func aCableThatIsOutIsTheCause() {
        let protection = Self.dummy.changed { ($0.diversions, $0.hadDefaultRoute) = ([], true) }
        let evidence = Evidence.seeing(.loopback(), .wired("eth0", 2).withoutCarrier(), protection)
            .answering(.ipv4, .through(protection, source: .from("192.0.2.7")))
        #expect(message(evidence) == "eth0 has no carrier")
    }

    /// A bridge that has lost the gateway of the internet still reaches the machines behind its other ports.
    @Test func neighboursBehindOtherPortsAreStillReached() throws {
        let evidence = Self.through(places: .lost(port: "eno1"))
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        func isRouted(_ address: String, _ gateway: String?) throws -> Bool {
            let answer = RouteLookupResult.through(Self.bridge, gateway: gateway, source: .from("192.0.2.7"))
            return try #require(
                evidence.verdict(on: answer, to: .fixture(address), policy: EvaluationPolicy(), now: now)
            ).isRouted
        }
        #expect(try isRouted("192.0.2.9", nil))
        #expect(try isRouted("9.0.0.1", "192.0.2.9"))
        #expect(try !isRouted("9.0.0.1", "192.0.2.1"))
    }
}

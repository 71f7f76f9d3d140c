// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

/// The table of what a tunnel travels on, read from the article that shows it: each row with what is known in it.
@Suite struct TunnelTableTests {
    /// A row of the article.
    struct Row: Sendable, CustomTestStringConvertible {
        let number: Int
        let isSatisfied: Bool
        let isRouted: Bool
        let namesCarrier: Bool
        let isDoubtful: Bool

        var testDescription: String { "row \(self.number)" }
    }

    static let rows: [Row] = {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/NetPath/NetPath.docc/Evaluation.md").standardizedFileURL
        let text = (try? String(contentsOf: article, encoding: .utf8)) ?? ""
        let lines = text.components(separatedBy: "| row | by |").last?.split(separator: "\n") ?? []
        return lines.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 7, let number = Int(cells[0]) else { return nil }
            return Row(
                number: number,
                isSatisfied: cells[3] == "satisfied",
                isRouted: cells[4] == "routed",
                namesCarrier: cells[5].hasPrefix("the interface"),
                isDoubtful: cells[6] == "yes"
            )
        }
    }()

    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
    private static let bare = NetworkInterface.wired("eth0", 2)
    private static let dead = Self.eth0.withoutCarrier()
    private static let eth1 = NetworkInterface.wired("eth1", 5)
    private static let tun0 = NetworkInterface.tunnel("tun0", 8, kind: "tun").with("10.8.0.2/24")
    private static let tap0 = Self.tun0.changed { $0.flags = [.up, .broadcast, .multicast] }
    private static let wg0 = NetworkInterface.tunnel("wg0", 8).with("10.8.0.2/24")

    private static func asked(
        _ basis: OuterRoute.Basis,
        _ answers: RouteLookupResult...,
        gatewayed: [UInt32]? = nil,
        hosts: [UInt32]? = nil,
        former: [UInt32] = [],
        isReceiving: Bool = false,
        isElsewhere: Bool = false
    ) -> TunnelEvidence {
        TunnelEvidence(
            routes: answers.map { OuterRoute(basis, to: .fixture("203.0.113.9"), $0) },
            gatewayedInterfaces: gatewayed,
            hostInterfaces: hosts,
            formerCarriers: former,
            isReceiving: isReceiving,
            isSocketElsewhere: isElsewhere
        )
    }

    /// IPv6 has a way, and IPv4 none.
    private static func askedOfIPv6(_ basis: OuterRoute.Basis) -> TunnelEvidence {
        TunnelEvidence(routes: [
            OuterRoute(basis, to: .fixture("203.0.113.9"), .noRoute),
            OuterRoute(basis, to: .fixture("2001:db8::9"), through(eth0)),
        ])
    }

    private static func through(
        _ interface: NetworkInterface,
        isDown: Bool = false,
        metric: UInt32? = nil,
        place: BridgePlace? = nil
    ) -> RouteLookupResult {
        var nextHop = NextHop(interfaceIndex: interface.index, gateway: .fixture("192.0.2.1"), isDown: isDown)
        nextHop.place = place
        return .route(Route(nextHops: [nextHop], source: .from("192.0.2.7"), metric: metric, table: 254))
    }

    /// What is known, in each row: the tunnel, what was found out about it, and the interfaces beside it.
    private static let cases: [Int: [(NetworkInterface, TunnelEvidence, [NetworkInterface])]] = [
        1: [
            (tun0, asked(.endpoint, .noRoute, through(eth0)), [eth0]),
            (tun0, asked(.mark, through(eth0), .noRoute), [eth0]),
            (tun0, asked(.defaultRoute, through(eth0)), [eth0]),
            (tun0, asked(.defaultRoute, through(eth1), hosts: [2]), [eth1.with("198.51.100.7/24"), eth0]),
        ],
        2: [
            (wg0, asked(.endpoint, .unknown, .noRoute), [eth0]),
            (wg0, asked(.mark, .unknown), [dead]),
            (wg0, asked(.endpoint, through(eth0, place: .unknown(ports: ["eno1"]))), [eth0]),
            (
                tun0, asked(.defaultRoute, through(dead, isDown: true, metric: 1), through(eth1, metric: 2)),
                [dead, eth1]
            ),
            (wg0, askedOfIPv6(.mark), [eth0]),
            (tun0, askedOfIPv6(.defaultRoute), [eth0]),
            (tun0, asked(.defaultRoute, through(eth0), hosts: []), [eth0]),
            (tun0, asked(.defaultRoute, through(eth0), hosts: [2, 5]), [eth0, eth1.withoutCarrier()]),
        ],
        3: [
            (wg0, asked(.endpoint, .noRoute, isElsewhere: true), [dead]),
            (wg0, asked(.endpoint, through(dead, isDown: true), isElsewhere: true), [dead]),
        ],
        4: [
            (wg0, asked(.mark, .noRoute, isReceiving: true), [dead]),
            (wg0, asked(.defaultRoute, through(dead, isDown: true), isReceiving: true), [dead]),
        ],
        5: [
            (wg0, asked(.endpoint, .rejected(.blackhole), isReceiving: true), [eth0]),
            (wg0, asked(.endpoint, .noRoute, isReceiving: true), [dead]),
            (tun0, asked(.endpoint, .noRoute, isReceiving: true), [eth0]),
            (tap0, asked(.mark, .noRoute, isReceiving: true), [bare]),
        ],
        6: [
            (tun0, asked(.endpoint, .noRoute), [eth0]),
            (wg0, asked(.endpoint, through(eth0, place: .lost(port: "eno1"))), [eth0]),
            // A program that answers by itself.
            (tun0, asked(.endpoint, through(dead, isDown: true), isReceiving: true), [dead]),
        ],
        7: [(wg0, asked(.mark, .noRoute, gatewayed: [2]), [bare])],
        8: [
            (wg0, asked(.mark, .noRoute), [eth0]),
            // Its route is gone, and the link is there.
            (wg0, asked(.mark, .noRoute, former: [2]), [eth0]),
        ],
        9: [
            (wg0, asked(.mark, .noRoute), [dead]),
            (wg0, asked(.mark, .noRoute), [bare]),
            (wg0, asked(.mark, .noRoute, former: [5]), [eth0]),
            (wg0, asked(.mark, through(eth1)), [eth0, eth1.withoutCarrier()]),
        ],
        10: [
            (tun0, asked(.defaultRoute), [eth0]),
            (tun0, asked(.defaultRoute, former: [5]), [eth0]),
            (tun0, asked(.defaultRoute, gatewayed: [2]), [bare]),
        ],
        11: [
            (tap0, asked(.defaultRoute), [bare]),
            (tap0, asked(.defaultRoute, former: [2]), [bare]),
        ],
        12: [
            (tun0, asked(.defaultRoute, through(dead, isDown: true)), [dead]),
            (tun0, asked(.defaultRoute, gatewayed: [2]), [dead]),
            (tun0, asked(.defaultRoute, gatewayed: [2], isReceiving: true), [dead]),
            (tap0, asked(.defaultRoute, former: [5]), [dead]),
            (tun0, asked(.defaultRoute, former: [5]), []),
        ],
        13: [
            (tun0, asked(.defaultRoute), [bare]),
            (wg0, asked(.defaultRoute), [dead]),
            (tun0, asked(.defaultRoute), [.wifi("wlan0", 3).down().changed { $0.hasHadCarrier = true }]),
        ],
        14: [
            (tun0, asked(.defaultRoute), []),
            (tap0, asked(.defaultRoute), [dead]),
            (tun0, asked(.defaultRoute), [eth0.neverConnected()]),
            (tun0, asked(.defaultRoute, through(dead, isDown: true)), [eth0.neverConnected()]),
            (tun0, asked(.defaultRoute), [.virtual("ve-pod", 3, kind: "veth").withoutCarrier()]),
        ],
    ]

    @Test func everyRowHasCases() {
        #expect(Self.rows.map(\.number) == Array(1...14))
        #expect(Set(Self.cases.keys) == Set(Self.rows.map(\.number)))
    }

    @Test(arguments: Self.rows)
    func rowDecides(_ row: Row) throws {
        for (number, (tunnel, outer, beside)) in (Self.cases[row.number] ?? []).enumerated() {
            let tunnel = tunnel.changed { $0.tunnelEvidence = outer }
            let evidence = Evidence.seeing()
                .changed { $0.interfaces = (beside + [tunnel]).sorted { $0.index < $1.index } }
                .routed(.ipv4, through: tunnel, source: .from("10.8.0.2"))
            let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
            let assessed = AssessedEvidence(evidence, policy: EvaluationPolicy(), now: now)
            #expect(assessed.judge(tunnel).row == row.number, "case \(number)")
            let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: now))
            #expect((verdict.status == .satisfied) == row.isSatisfied, "case \(number): \(verdict.reason)")
            #expect((verdict.reason.code == .routed) == row.isRouted, "case \(number): \(verdict.reason)")
            let says = verdict.reason.message
            let isNo = says.hasSuffix("; nothing carries \(tunnel.name)")
            #expect(isNo != row.isRouted, "case \(number): \(says)")
            let isInDoubt = says.hasSuffix("; it is unknown whether anything carries \(tunnel.name)")
            #expect(isInDoubt == row.isDoubtful, "case \(number): \(says)")
            #expect(verdict.carriedByIndex == (row.namesCarrier ? 2 : nil), "case \(number)")
        }
    }
}

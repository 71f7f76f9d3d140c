// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Reachability
import Testing

@testable import NetPath
@testable import NetPathCLI

/// What is waited for, and what is said to be missing.
@Suite struct WaitConditionTests {
    private static let unplugged = Fixtures.view(
        Fixtures.evidence([Fixtures.interface(carrier: false)], ipv4: .noRoute)
    )
    private static let up = Fixtures.view(Fixtures.routed)

    private static func interface(_ pattern: String, _ families: Set<AddressFamily> = []) -> WaitCondition {
        .interface(Fixtures.pattern(pattern), families)
    }

    private func missing(_ condition: WaitCondition, _ view: WaitView) -> String? {
        #expect(condition.isMet(in: view) != true)
        return WaitConditions(list: [condition]).missing(in: view, at: Fixtures.now)
    }

    @Test func eachCondition() throws {
        let met: [WaitCondition] = [
            .status(.satisfied), .family(.ipv4), Self.interface("eth*"), Self.interface("eth0", [.ipv4]),
            .type(.wired, []), .dns,
        ]
        for condition in met { #expect(condition.isMet(in: Self.up) == true, "\(condition)") }
        let unmet: [WaitCondition] = [
            .status(.unsatisfied), .family(.ipv6), Self.interface("wlan*"), Self.interface("eth0", [.ipv4, .ipv6]),
            .type(.wifi, []), .internet,
        ]
        for condition in unmet { #expect(condition.isMet(in: Self.up) == false, "\(condition)") }
        for condition in met { #expect(condition.isMet(in: Self.unplugged) == false, "\(condition)") }
        let host = WaitCondition.host(try HostTarget("192.0.2.1"))
        for condition in met + unmet + [host] { #expect(condition.isMet(in: WaitView()) == nil, "\(condition)") }
    }

    @Test func whatIsMissing() {
        #expect(self.missing(.status(.satisfied), Self.unplugged) == "eth0: no carrier")
        #expect(self.missing(.family(.ipv6), Self.unplugged) == "eth0: no carrier")
        #expect(self.missing(.family(.ipv6), Self.up) == "no path for IPv6")
        #expect(self.missing(.status(.unsatisfied), Self.up) == "the status is not unsatisfied: IPv4 through eth0")
        #expect(self.missing(Self.interface("wlan*"), Self.up) == "there is no interface wlan*")
        #expect(self.missing(Self.interface("eth0", [.ipv6]), Self.up) == "eth0: no path for IPv6")
        #expect(self.missing(.type(.wifi, []), Self.up) == "there is no interface of type wifi")
        #expect(
            self.missing(.internet, Self.up) == "no probe of the internet is configured, or none has answered yet"
        )
        #expect(self.missing(.dns, WaitView()) == "no backend has a verdict yet")
    }

    /// While there is a path, interfaces that could not carry it are not part of it.
    @Test func anInterfaceBesideAPath() {
        var wireless = Fixtures.interface("wlan0", index: 3, type: .wifi, addresses: [], gateway: nil)
        wireless.carrierSince = Fixtures.now
        wireless.configurer = .network
        let view = Fixtures.view(Fixtures.evidence([Fixtures.interface(), wireless], ipv4: Fixtures.route()))
        #expect(view.path?.status == .satisfied)
        #expect(self.missing(Self.interface("wlan*"), view) == "wlan0: waiting for an address")
        #expect(self.missing(.type(.wifi, []), view) == "wlan0: waiting for an address")
    }

    @Test func interfacesThatNeverCarryAPath() {
        var member = Fixtures.interface("eth1", index: 3)
        member.controllerIndex = 4
        let loopback = Fixtures.interface("lo", index: 1, type: .loopback)
        let interfaces = [loopback, Fixtures.interface(), member, Fixtures.interface("br0", index: 4)]
        var view = Fixtures.view(Fixtures.evidence(interfaces, ipv4: Fixtures.route()))
        #expect(
            self.missing(Self.interface("eth1"), view) == "eth1 is a member of br0, which carries the path in its place"
        )
        #expect(self.missing(Self.interface("lo"), view) == "lo is loopback, which carries no path")
        view = Fixtures.view(Fixtures.routed)
        var rule = InterfaceRule(InterfaceRule.Match(name: Fixtures.pattern("eth*")))
        rule.isIgnored = true
        view.policy.interfaceRules = [rule]
        view.path?.interfaces = []
        #expect(self.missing(Self.interface("eth0"), view) == "eth0 is ignored, as the configuration says")
    }

    @Test func whatNobodyCanConfirmIsUnknown() {
        var view = Self.up
        view.path?.isStale = true
        for isNegated in [false, true] {
            let conditions = WaitConditions(list: [.status(.satisfied)], isNegated: isNegated)
            #expect(conditions.isMet(in: view) == nil)
        }
        #expect(
            self.missing(.status(.satisfied), view)
                == "no backend can confirm the last known path: IPv4 through eth0"
        )
    }

    @Test func hosts() throws {
        let target = try HostTarget("db.example:5432")
        func host(_ result: ProbeOutcome.Result?) -> WaitedHost {
            WaitedHost(target, result.map { ProbeOutcome(target: "", result: $0) })
        }
        #expect(host(.connected).isReached == true)
        #expect(host(.refused).isReached == false, "somebody has to listen")
        #expect(host(.timedOut).isReached == false)
        #expect(host(.notResolved).isReached == nil)
        #expect(host(nil).isReached == nil)
        let address = try HostTarget("192.0.2.1:5432")
        #expect(WaitedHost(address, nil).reason == "192.0.2.1 port 5432 has not answered yet")
        #expect(host(nil).reason == "db.example is being looked up, or port 5432 has not answered yet")
        #expect(WaitedHost(.unreachable(PathReason(.noRoute, ""))).isReached == false)
        #expect(WaitedHost(.unknown(PathReason(.resolving, ""))).isReached == nil)
        var view = Self.up
        view.hosts[target] = host(.refused)
        #expect(
            self.missing(.host(target), view) == "db.example port 5432 refuses connections: no program listens there"
        )
    }

    // MARK: Several

    private static let yes = WaitCondition.dns
    private static let no = WaitCondition.family(.ipv6)

    private func isMet(
        _ list: [WaitCondition],
        _ combination: WaitConditions.Combination,
        not isNegated: Bool = false
    ) throws -> Bool? {
        WaitConditions(list: list, combination: combination, isNegated: isNegated).isMet(in: Self.up)
    }

    @Test func combinations() throws {
        let unknown = WaitCondition.host(try HostTarget("192.0.2.1"))
        #expect(try self.isMet([Self.yes, Self.no], .all) == false)
        #expect(try self.isMet([Self.yes, Self.no], .any) == true)
        #expect(try self.isMet([Self.yes, unknown], .all) == nil)
        #expect(try self.isMet([Self.no, unknown], .all) == false)
        #expect(try self.isMet([Self.yes, unknown], .any) == true)
        #expect(try self.isMet([Self.no, unknown], .any) == nil)
        #expect(try self.isMet([Self.yes, Self.no], .all, not: true) == true)
        #expect(try self.isMet([Self.yes, Self.no], .any, not: true) == false)
        #expect(try self.isMet([Self.yes, unknown], .all, not: true) == nil, "what nobody knows is not over")
    }

    @Test func theSameIsSaidOnce() {
        let conditions = WaitConditions(list: [.status(.satisfied), .dns, .type(.wifi, [])])
        #expect(
            conditions.missing(in: Self.unplugged, at: Fixtures.now)
                == "eth0: no carrier; there is no interface of type wifi"
        )
    }

    @Test func whatHasToEnd() {
        let conditions = WaitConditions(list: [.interface(Fixtures.pattern("eth0"), []), .dns], isNegated: true)
        #expect(conditions.missing(in: Self.up, at: Fixtures.now) == "still interface eth0; still dns")
        #expect(conditions.missing(in: Self.unplugged, at: Fixtures.now) == nil)
    }

    // MARK: Output

    @Test func theReport() throws {
        var report = WaitReport(
            terms: WaitMachine.Terms(conditions: WaitConditions(list: [.family(.ipv6), .dns]), timeout: .seconds(30)),
            outcome: .timedOut,
            view: Self.up,
            waited: .milliseconds(30_004),
            takenAt: Fixtures.clock
        )
        #expect(report.message == "timed out after 30s: no path for IPv6")
        let document = report.document
        #expect(document.members.first { $0.key == "met" }?.value == .bool(false))
        #expect(document.members.first { $0.key == "outcome" }?.value == "timedOut".json)
        #expect(document.members.first { $0.key == "missing" }?.value == "no path for IPv6".json)
        #expect(
            document.members.first { $0.key == "conditions" }?.value.line
                == """
                [{"condition":"family","value":"ipv6","met":false,"missing":"no path for IPv6"},\
                {"condition":"dns","value":null,"met":true,"missing":null}]
                """
        )
        report.terms = WaitMachine.Terms(
            conditions: WaitConditions(list: [.dns]),
            stable: .seconds(3),
            timeout: .seconds(2)
        )
        #expect(report.message == "timed out after 2s: it did not hold for 3s")
        report.outcome = .met
        report.waited = .milliseconds(1_234)
        #expect(report.line == "met after 1234ms: satisfied, IPv4 through eth0\n")
        let target = try HostTarget("db.example:5432")
        report.terms.conditions.list = [.host(target)]
        report.view.hosts[target] = WaitedHost(target, ProbeOutcome(target: "", result: .connected))
        #expect(report.line == "met after 1234ms: db.example port 5432 accepts connections\n")
        report.outcome = .hopeless("eth0 is down")
        report.remedies = ["Bring it up"]
        #expect(report.message == "nothing that is there now can come up: eth0 is down\n  - Bring it up")
    }
}

extension String {
    fileprivate var json: JSONNode { .string(self) }
}

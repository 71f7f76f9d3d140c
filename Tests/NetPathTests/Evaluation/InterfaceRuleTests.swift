// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import NetPathTestKit
import Testing

@testable import NetPath

/// What the rules of a policy change about verdicts, whichever backend the evidence comes from.
@Suite struct InterfaceRuleTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").withDefaultRoute("192.0.2.1")
    private let wwan0 = NetworkInterface.cellular("wwan0", 4).with("100.64.0.7/24").withDefaultRoute(metric: 700)
    private let docker0 = NetworkInterface.virtual("docker0", 9, kind: "bridge").with("172.17.0.1/16")
    private let wg0 = NetworkInterface.tunnel("wg0", 7).with("10.8.0.2/24")

    private func rule(_ name: String, _ change: (inout InterfaceRule) -> Void) -> InterfaceRule {
        var rule = InterfaceRule(.init(name: GlobPattern(name)))
        change(&rule)
        return rule
    }

    private func verdict(_ evidence: Evidence, _ rules: InterfaceRule...) throws -> Verdict {
        try #require(evidence.verdict(policy: EvaluationPolicy(interfaceRules: rules), now: self.now))
    }

    // MARK: Which rule applies

    @Test func everyGivenCriterionHasToHold() throws {
        let modem = self.wwan0.changed {
            $0.kind = "wwan"
            $0.driver = "cdc_mbim"
            $0.hardwareAddress = [2, 0xAB, 0, 0, 0, 1]
        }
        func fits(_ change: (inout InterfaceRule.Match) -> Void) -> Bool {
            var match = InterfaceRule.Match(
                name: GlobPattern("wwan*"),
                kind: "wwan",
                driver: "cdc_mbim",
                hardwareAddressPrefix: [2, 0xAB]
            )
            change(&match)
            return match.fits(modem)
        }
        #expect(fits { _ in })
        #expect(!fits { $0.name = GlobPattern("wlan*") })
        #expect(!fits { $0.kind = "veth" })
        #expect(!fits { $0.driver = "qmi_wwan" })
        #expect(!fits { $0.hardwareAddressPrefix = [2, 0xAC] })
        #expect(!fits { $0.hardwareAddressPrefix = [2, 0xAB, 0, 0, 0, 1, 0] })
        // What is not known fits nothing.
        #expect(!InterfaceRule.Match(hardwareAddressPrefix: [2]).fits(self.wwan0))
        #expect(!InterfaceRule.Match(driver: "cdc_mbim").fits(self.wwan0))
        #expect(InterfaceRule.Match().isEmpty && InterfaceRule.Match().fits(self.wwan0))
    }

    @Test func firstMatchWins() throws {
        let evidence = Evidence.online(self.eth0)
        let exempt = self.rule("eth0") { _ in }
        let expensive = self.rule("eth*") { $0.isExpensive = true }
        #expect(try self.verdict(evidence, expensive, exempt).isExpensive)
        #expect(try !self.verdict(evidence, exempt, expensive).isExpensive)
    }

    // MARK: What it changes

    @Test func typeIsTheRulesWord() throws {
        let wifi = self.rule("eth0") { $0.type = .wifi }
        #expect(try self.verdict(.online(self.eth0), wifi).interfaces.first?.type == .wifi)
        let verdict = try self.verdict(.seeing(self.eth0.withoutCarrier()), wifi)
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason.code == .wifiNotAssociated)
        let cellular = self.rule("eth0") { $0.type = .cellular }
        #expect(try self.verdict(.online(self.eth0), cellular).isExpensive)
    }

    @Test func costIsTheRulesWord() throws {
        let evidence = Evidence.online(self.wwan0)
        #expect(try self.verdict(evidence).isExpensive)
        #expect(try !self.verdict(evidence, self.rule("wwan0") { $0.isExpensive = false }).isExpensive)
        #expect(try !self.verdict(evidence).isConstrained)
        #expect(try self.verdict(evidence, self.rule("wwan0") { $0.isConstrained = true }).isConstrained)
        let snapshot = BackendSnapshot(
            report: BackendReport(
                name: "b",
                mode: .active,
                health: .healthy,
                limitations: [],
                restarts: 0,
                resynchronizations: 0
            ),
            evidence: evidence,
            verdict: try self.verdict(evidence, self.rule("wwan0") { $0.isConstrained = true })
        )
        #expect(NetworkPath.merging([snapshot], policy: .priority)?.isConstrained == true)
    }

    @Test func costOfATunnelIsThatOfItsCarrier() throws {
        let evidence = Evidence.seeing(self.eth0, self.wg0)
            .routed(.ipv4, through: self.wg0, source: .from("10.8.0.2"))
        let carrier = self.rule("eth0") {
            $0.isExpensive = true
            $0.isConstrained = true
        }
        #expect(try self.verdict(evidence, carrier).isExpensive)
        #expect(try self.verdict(evidence, carrier).isConstrained)
        let tunnel = self.rule("wg0") { $0.isExpensive = false }
        #expect(try !self.verdict(evidence, carrier, tunnel).isExpensive)
    }

    @Test func ignoredInterfacesAreNeitherListedNorCounted() throws {
        let ignoring = self.rule("docker*") { $0.isIgnored = true }
        let unplugged = Evidence.seeing(self.eth0.withoutCarrier().changed { $0.isHardware = nil }, self.docker0)
        #expect(try self.verdict(unplugged).reason.code == .noRoute)
        let verdict = try self.verdict(unplugged, ignoring)
        #expect(verdict.reason.code == .noCarrier)
        #expect(verdict.interfaces.map(\.name) == ["eth0"])
        let alternative = self.docker0.withDefaultRoute("172.17.0.9")
        let online = Evidence.online(self.eth0).changed { $0.interfaces?.append(alternative) }
        #expect(try self.verdict(online).interfaces.map(\.name) == ["eth0", "docker0"])
        #expect(try self.verdict(online, ignoring).interfaces.map(\.name) == ["eth0"])
        #expect(try self.verdict(.seeing(self.docker0), ignoring).reason.code == .noInterface)
    }

    @Test func aRouteThroughAnIgnoredInterfaceIsNoPath() throws {
        let ignoring = self.rule("eth0") { $0.isIgnored = true }
        let verdict = try self.verdict(.online(self.eth0), ignoring)
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason.code == .ignoredInterface)
        #expect(verdict.interfaces.isEmpty)
        let policy = EvaluationPolicy(interfaceRules: [ignoring])
        let explanation = Evidence.online(self.eth0).explanation(of: verdict, policy: policy, now: self.now)
        #expect(explanation.rule.hasPrefix("Rule 2"))
        #expect(explanation.evidence.contains("Ignored, because the configuration says so: eth0"))
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.contains("the rule about eth0") == true)
    }

    @Test func aRouteThroughWhatARuleCallsLoopbackIsNoPathAndSaysSo() throws {
        let rule = self.rule("eth0") { $0.type = .loopback }
        let other = NetworkInterface.wired("eth1", 9).with("198.51.100.2/24").withDefaultRoute("198.51.100.1")
        let evidence = Evidence.online(self.eth0).changed { $0.interfaces?.append(other) }
        let verdict = try self.verdict(evidence, rule)
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason.code == .ignoredInterface, "not that eth1, which has a default route, has none")
        #expect(verdict.reason.message == "the kernel's route uses eth0, which the configuration says is loopback")
        #expect(verdict.interfaces.map(\.name) == ["eth1"])
        #expect(verdict.interfaces.first?.reason.code == .alternative)
        let policy = EvaluationPolicy(interfaceRules: [rule])
        let explanation = evidence.explanation(of: verdict, policy: policy, now: self.now)
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.contains("`type: loopback` from the rule about eth0") == true)
    }

    @Test func dialOnDemandIsTheLastResort() throws {
        let dialing = self.rule("ppp*") { $0.dialsOnDemand = true }
        let ppp0 = NetworkInterface.tunnel("ppp0", 8, kind: "ppp").down()
        let unplugged = Evidence.seeing(self.eth0.withoutCarrier(), ppp0)
        #expect(try self.verdict(unplugged).reason.code == .noCarrier)
        let verdict = try self.verdict(unplugged, dialing)
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason == PathReason(.dialOnDemand, "ppp0 is connected when there is traffic"))
        #expect(verdict.interfaces.map(\.name) == ["eth0", "ppp0"])
        let wlan0 = NetworkInterface.wifi("wlan0", 3).withoutCarrier()
        #expect(try self.verdict(.seeing(wlan0, ppp0), dialing).reason.code == .wifiNotAssociated)
        #expect(try self.verdict(.online(self.eth0), dialing).status == .satisfied)
        let blocked = ppp0.changed { $0.isRadioBlocked = true }
        #expect(try self.verdict(.seeing(blocked), dialing).status == .unsatisfied)
        let dead = Evidence.seeing(self.eth0.withoutCarrier(), ppp0).routed(.ipv4, through: self.eth0)
        #expect(try self.verdict(dead, dialing).reason.code == .noCarrier, "packets are lost, nothing dials")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct InterfaceRelevanceTests {
    private func relevance(
        _ change: (inout NetworkInterface) -> Void = { _ in },
        rule: ((inout InterfaceRule) -> Void)? = nil
    ) -> InterfaceRelevance {
        var interface = NetworkInterface(index: 3, name: "x0", type: .other, flags: .up)
        change(&interface)
        var rules: [InterfaceRule] = []
        if let rule {
            rules = [InterfaceRule(.init(name: GlobPattern("x*")))]
            rule(&rules[0])
        }
        return InterfaceRelevance(of: interface, rules: rules)
    }

    @Test func virtualInterfaceWithoutAnAddressIsSpare() {
        #expect(self.relevance() == .spare)
        #expect(self.relevance { $0.type = .wired } == .spare)
    }

    @Test func whatCanCarryOrStartAPathIsRelevant() {
        #expect(self.relevance { $0.isHardware = true } == .relevant)
        #expect(self.relevance { $0.type = .wifi } == .relevant)
        #expect(self.relevance { $0.type = .cellular } == .relevant)
        #expect(self.relevance { $0.operationalState = .dormant } == .relevant)
        #expect(self.relevance { $0.expectsConfiguration = true } == .relevant)
        let address = InterfaceAddress(.fixture("192.0.2.7/24"), scope: .global, state: [])
        #expect(self.relevance { $0.addresses = [address] } == .relevant)
    }

    @Test func ruleDecides() {
        #expect(self.relevance(rule: { $0.dialsOnDemand = true }) == .relevant)
        #expect(self.relevance(rule: { $0.type = .cellular }) == .relevant)
        #expect(self.relevance(rule: { $0.isExpensive = true }) == .spare, "it counts only where packets leave")
        #expect(self.relevance({ $0.isHardware = true }, rule: { $0.isIgnored = true }) == .ignored)
    }

    @Test func limitationIsShownWhereThereIsNoPath() throws {
        var evidence = Evidence.noLink
        evidence.isAbridged = true
        let machine = CoordinatorHarness.reporting(evidence)
        #expect(machine.limitations.count == 1)
        evidence = .through("eth0")
        evidence.isAbridged = true
        #expect(CoordinatorHarness.reporting(evidence).limitations.isEmpty)
    }
}

extension CoordinatorHarness {
    /// What the only backend's report is after evidence.
    fileprivate static func reporting(_ evidence: Evidence) -> BackendReport {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, evidence)
        return harness.machine.snapshots[0].report
    }
}

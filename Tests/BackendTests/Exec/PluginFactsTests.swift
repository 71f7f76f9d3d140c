// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathExec

/// What a plugin can say of interfaces, and the numbers that it gives.
struct PluginFactsTests {
    private let start = MonotonicTime(nanoseconds: 100_000_000_000)

    private func actions(_ line: String, _ settings: ExecMonitor.Options = .init()) -> [PluginMachine.Action] {
        var machine = PluginMachine(
            settings,
            instance: "here",
            index: { ["eth0": 2, "eth1": 3, "br0": 9][$0] },
            now: self.start
        )
        let actions = machine.received(Array("{\"netpath\":1}\n\(line)\n".utf8), now: self.start)
        return Array(actions.drop { $0 == .takesNoRefreshRequests })
    }

    private func evidence(_ line: String) throws -> Evidence {
        let actions = self.actions(line)
        guard case .report(let evidence, _)? = actions.last else { throw Unexpected(actions: actions) }
        return evidence
    }

    private func failure(_ line: String, _ settings: ExecMonitor.Options = .init()) throws -> String {
        let actions = self.actions(line, settings)
        guard case .fail(let reason)? = actions.last else { throw Unexpected(actions: actions) }
        return reason
    }

    private struct Unexpected: Error {
        var actions: [PluginMachine.Action]
    }

    // MARK: Facts

    @Test func factsAreRead() throws {
        let evidence = try self.evidence(
            """
            {"ageMilliseconds":500,"facts":[{"name":"wlan0","type":"wifi","isExpensive":true,"isConstrained":false,\
            "pending":{"code":"authenticating","message":"802.1X"},"label":"home\\u001b[2J"},\
            {"name":"gone0","pending":"the SIM wants its PIN"},{"name":"eth0"}]}
            """
        )
        #expect(evidence.interfaces == nil && evidence.conclusion == nil)
        #expect(evidence.observedAt == self.start + .milliseconds(-500))
        var wifi = InterfaceFacts("wlan0")
        wifi.type = .wifi
        wifi.isExpensive = true
        wifi.isConstrained = false
        wifi.pendingStep = PathReason(.authenticating, "802.1X")
        wifi.label = "home\\u{1B}[2J"
        var gone = InterfaceFacts("gone0")
        gone.pendingStep = PathReason(.stated, "the SIM wants its PIN")
        #expect(evidence.facts == [wifi, gone, InterfaceFacts("eth0")], "none needs to exist")
    }

    @Test func factsMayStandBesideEvidence() throws {
        let evidence = try self.evidence(
            #"{"evidence":{"conclusion":{"status":"satisfied"},"facts":[{"name":"eth0","label":"dock"}]}}"#
        )
        #expect(evidence.conclusion?.status == .satisfied)
        #expect(evidence.facts.map(\.label) == ["dock"])
    }

    @Test(arguments: [
        (#"{"facts":{}}"#, "'facts' as an object"),
        (#"{"facts":[{}]}"#, "lacks 'name'"),
        (#"{"facts":[{"name":"a-name-that-is-too-long"}]}"#, "without a name of 1 to 15 bytes"),
        (#"{"facts":[{"name":"a"},{"name":"a"}]}"#, "about 'a' twice"),
        (#"{"facts":[{"name":"a","type":"token ring"}]}"#, "allowed: wifi"),
        (#"{"facts":[{"name":"a","pending":{}}]}"#, "lacks 'message'"),
        (#"{"facts":[{"name":"a","isExpensive":1}]}"#, "not as true or false"),
    ])
    func whatIsNoFactIsSaidToBe(line: String, reason: String) throws {
        #expect(try self.failure(line).contains(reason))
    }

    @Test func ofAnotherMachineThereAreNoFacts() throws {
        let line = #"{"facts":[{"name":"a"}]}"#
        #expect(try self.failure(line, .init(isRemote: true)).contains("only a conclusion counts"))
    }

    // MARK: Evidence

    @Test func evidenceSaysWhatTheValuesCan() throws {
        let evidence = try self.evidence(
            """
            {"evidence":{"interfaces":[{"name":"eth0","carrierMilliseconds":3000,"hasHadCarrier":true,\
            "configurer":"network","hadDefaultRoute":true,"failedAuthentications":2,"underlying":"eth1",\
            "controller":"br0","addresses":["192.0.2.2/24",\
            {"address":"2001:db8::2/64","state":["tentative","optimistic"],"ageMilliseconds":100,"isDynamic":true},\
            {"address":"2001:db8::3/64","scope":"site"}],\
            "defaultRoutes":[{"gateway":"192.0.2.1","metric":100,"table":254,"expiresInMilliseconds":1000},\
            {"family":"ipv6"}]},{"name":"eth1","index":3}],\
            "routes":[{"destination":"9.0.0.1","source":"none","encapsulation":"seg6","nextHops":[\
            {"interface":"eth0","gateway":"192.0.2.1","weight":3},{"interface":3,"isDown":true},\
            {"interface":3,"isPassedOver":true}]},{"destination":"193.0.0.1","isKnown":false}]}}
            """
        )
        let interface = try #require(evidence.interface(2))
        #expect(interface.carrierSince == self.start + .seconds(-3))
        #expect(interface.hasHadCarrier == true && interface.hadDefaultRoute == true)
        #expect(interface.configurer == .network && interface.failedAuthentications == 2)
        #expect(interface.underlyingIndex == 3, "one that comes later")
        #expect(interface.controllerIndex == 9, "one that is not listed")
        #expect(interface.addresses.map(\.state) == [[], [.tentative, .optimistic], []])
        #expect(interface.addresses[1].addedAt == self.start + .milliseconds(-100))
        #expect(interface.addresses[1].dynamicSince == interface.addresses[1].addedAt)
        #expect(interface.addresses[2].scope == .site)
        #expect(interface.defaultRoutes?.map(\.family) == [.ipv4, .ipv6])
        #expect(interface.defaultRoutes?.first?.expiresAt == self.start + .seconds(1))
        guard case .route(let route) = evidence.referenceRoutes[0].answer else {
            throw Unexpected(actions: [])
        }
        #expect(route.source == .none && route.encapsulation == "seg6")
        #expect(route.nextHops.map(\.interfaceIndex) == [2, 3, 3])
        #expect(route.nextHops.map(\.isDown) == [false, true, true])
        #expect(route.nextHops.map(\.isPassedOver) == [false, false, true])
        #expect(route.nextHops[0].weight == 3)
        #expect(evidence.referenceRoutes[1].answer == .unknown)
    }

    @Test(arguments: [
        (#"{"name":"eth0","addresses":[{"address":"192.0.2.2/24","state":["new"]}]}"#, "allowed: tentative"),
        (#"{"name":"eth0","addresses":[{"state":[]}]}"#, "lacks 'address'"),
        (#"{"name":"eth0","defaultRoutes":[{"metric":1}]}"#, "neither 'family' nor 'gateway'"),
        (#"{"name":"eth0","carrierMilliseconds":-1}"#, "a whole number from 0 to"),
    ])
    func whatIsNoDetailIsSaidToBe(interface: String, reason: String) throws {
        #expect(try self.failure("{\"evidence\":{\"interfaces\":[\(interface)]}}").contains(reason))
    }

    // MARK: Metrics

    @Test func metricsAreRead() throws {
        let actions = self.actions(
            """
            {"metrics":[{"name":"signal_dbm","help":"Signal.","value":-61,"labels":{"interface":"wlan0"}},\
            {"name":"retries","type":"counter","samples":[{"value":1.5}]}]}
            """
        )
        #expect(
            actions == [
                .metrics([
                    BackendMetric("signal_dbm", "Signal.", samples: [.init(-61, ["interface": "wlan0"])]),
                    BackendMetric("retries", "retries", kind: .counter, samples: [.init(1.5)]),
                ])
            ]
        )
    }

    @Test(arguments: [
        (#"{"metrics":[{"name":"ends","value":1}]}"#, "which netpath counts itself"),
        (#"{"metrics":[{"name":"a"}]}"#, "lacks 'value'"),
        (#"{"metrics":[{"name":"a","value":"1"}]}"#, "'value' as text"),
        (#"{"metrics":[{"name":"a","value":1,"labels":["b"]}]}"#, "something else than an object"),
        (#"{"metrics":[{"name":"a","value":1,"type":"histogram"}]}"#, "allowed: gauge, counter"),
    ])
    func whatIsNoMetricIsSaidToBe(line: String, reason: String) throws {
        #expect(try self.failure(line).contains(reason))
    }

    private func run(_ script: String, _ change: (inout ExecMonitor.Options) -> Void = { _ in }) -> BackendRun {
        var options = ExecMonitor.Options(command: ["/bin/sh", "-c", script])
        change(&options)
        return BackendRun(ExecMonitor(options))
    }

    private func ends(_ reason: String) -> [BackendMetric.Sample] { [.init(1, ["reason": reason])] }

    @Test func numbersGoWithTheRunAndItsEndIsCounted() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; echo '{"metrics":[{"name":"signal_dbm","value":-61}]}'; exec sleep 1000"#
        )
        try await run.waitForMetrics { $0.map(\.name) == ["signal_dbm"] }
        try await run.stop()
        #expect(run.metrics.isEmpty, "an end on request is none")
    }

    @Test(arguments: [
        ("exit 3", "exit"),
        ("kill -KILL $$", "signal"),
        ("echo nonsense; exec sleep 1000", "breach"),
        ("echo '{\"netpath\":1}'; exec >&-; exec sleep 1000", "closed"),
        ("exec sleep 1000", "silence"),
    ])
    func everyEndHasItsReason(script: String, reason: String) async throws {
        let run = self.run(script) { $0.helloDeadline = .milliseconds(300) }
        await #expect(throws: (any Error).self) { try await run.waitForEnd() }
        #expect(run.metrics.map(\.name) == ["ends"])
        #expect(run.metrics.first?.samples == self.ends(reason))
    }

    @Test func aProgramThatIsMissingIsCounted() async throws {
        let run = BackendRun(ExecMonitor(.init(command: ["/nonexistent/plugin"])))
        await #expect(throws: (any Error).self) { try await run.waitForEnd() }
        #expect(run.metrics.first?.samples == self.ends("start"))
    }

    @Test func droppedLinesAreCounted() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; for i in $(seq 100); do echo message $i >&2; done; exec sleep 1000"#
        )
        try await run.waitForMetrics { metrics in
            metrics.contains { $0.name == "dropped_lines" && $0.samples.contains { $0.labels == ["kind": "message"] } }
        }
        try await run.stop()
    }
}

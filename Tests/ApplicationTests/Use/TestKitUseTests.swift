// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathConfiguration
import NetPathNetlink
import NetPathTestKit
import Reachability
import Testing

/// The doubles as another package uses them: a program's own code without a network.
@Suite(.timeLimit(.minutes(5)))
struct TestKitUseTests {
    private let wifi = Evidence.online(.wifi("wlan0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")

    @Test func hostsOfAResolver() async throws {
        let wlan = NetworkInterface.wifi("wlan0", 2)
        let resolver = ScriptedResolver()
        resolver.answer("203.0.113.9", with: .through(wlan, gateway: "192.0.2.1"))
        let script = ScriptedMonitor(self.wifi, resolver: resolver)
        let coordinator = PathCoordinator(backends: [Backend("scripted", monitor: script)])
        // Nobody has started the coordinator: whoever needs it does.
        let host = try HostReachability(url: "https://203.0.113.9/", on: coordinator)
        for await status in host.statuses where status.isReachable(allowingCellular: false) { break }
        let other = HostReachability(address: .fixture("203.0.113.10"), on: coordinator)
        #expect(other.reach().name == "unreachable")
        try await resolver.waitForQuestion(about: .fixture("203.0.113.10"))
        #expect(resolver.questions.contains(ScriptedResolver.Question(.fixture("203.0.113.9"))))
        coordinator.stop()
    }

    /// A telephone's Wi-Fi: expensive, and not cellular, for everybody who goes by the coordinator.
    @Test func aMeteredNetworkThatIsNotCellular() async throws {
        let resolver = ScriptedResolver(.through(.wifi("wlan0", 2), gateway: "192.0.2.1"))
        let script = ScriptedMonitor(self.wifi, resolver: resolver)
        let coordinator = PathCoordinator(
            backends: [Backend("scripted", monitor: script)],
            settings: .metered("wlan*")
        )
        let monitor = NetworkMonitor(coordinator: coordinator, deliverOn: .queue(DispatchQueue(label: "metered")))
        let update = try await monitor.wait { $0.isConnected && $0.path != nil }
        #expect(update.isExpensive && update.connectionType == .wifi)
        #expect(try HostReachability(host: "203.0.113.9", on: coordinator).reach().name == "reachable")
        let direct = NetworkMonitor(monitor: ScriptedMonitor(self.wifi), settings: .metered("wlan*"))
        #expect(direct.isExpensive)
        coordinator.stop()
    }

    /// What a person writes into a file reaches the monitor of an application, beside a backend of its own.
    @Test func rulesOfAFile() async throws {
        let script = ScriptedMonitor(self.wifi)
        var registry = BackendRegistry.builtIn
        registry.register("scripted", summary: "says what it is told") { _ in script }
        let text = """
            backends: [{type: scripted}]
            interfaces: [{match: {name: "wlan*"}, type: cellular}]
            """
        let file = try LoadedConfiguration.parse(ConfigurationSource(name: "test", text: text), registry: registry)
        let monitor = NetworkMonitor(
            coordinator: file.makeCoordinator(),
            deliverOn: .queue(DispatchQueue(label: "file"))
        )
        let update = try await monitor.wait { $0.path != nil }
        #expect(update.isExpensive && update.connectionType == .cellular)
    }

    @Test func aBackendWithoutACoordinator() async throws {
        let run = BackendRun(NetlinkMonitor())
        let first = try await run.waitForEvidence { $0.interfaces != nil }
        #expect(!first.referenceRoutes.isEmpty)
        #expect(run.resolver?.route(to: InternetAddress(ipv4: 0x7F00_0001), through: nil) != .unknown)
        let count = run.reports.count
        run.refresh()
        try await run.waitForReports(count + 1)
        try await run.stop()
    }

    /// A failure in the field as a test: the lines of the documentation.
    @Test func aRecordingAsAFixture() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/Recording/cable.jsonl")
        let run = try RecordedRun(contentsOf: fixture.path())
        let paths = run.paths()
        #expect(paths.last?.status == .satisfied)
        #expect(paths.map(\.status) == run.recordedStatuses)
        #expect(paths.contains { $0.reason.code == .noCarrier } && !run.reports.isEmpty)
        #expect(throws: RecordedRun.Failure.self) { try RecordedRun(contentsOf: "/dev/null") }
    }

    @Test func aBackendThatFails() async throws {
        let script = ScriptedMonitor()
        let run = BackendRun(script)
        run.watch([.fixture("203.0.113.9")])
        try await script.waitForWatchedAddresses([.fixture("203.0.113.9")])
        script.context?.log(.warning, "no modem")
        script.context?.routesChanged()
        #expect(run.messages == ["warning: no modem"] && run.routeChanges == 1)
        script.fail("broken")
        await #expect(throws: ScriptedMonitor.Failure("broken")) { try await run.waitForEvidence() }
        await #expect(throws: ScriptedMonitor.Failure("broken")) { try await run.waitForEnd() }
    }
}

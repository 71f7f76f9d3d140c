// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// swift-format-ignore-file
// It stands here as the page has it.

// What the page about tests shows: tests themselves, and run as such.

import Connectivity
import NetPath
import NetPathTestKit
import Testing

@Suite struct TestingSnippets {
    @Test func theBannerFollowsThePath() async throws {
        let backend = ScriptedMonitor(.online(.wifi("wlan0", 3).with("192.0.2.7/24")))
        let coordinator = PathCoordinator(backends: [Backend("scripted", monitor: backend)])
        coordinator.start()
        defer { coordinator.stop() }
        let monitor = NetworkMonitor(coordinator: coordinator)
        try await monitor.wait { $0.isConnected }
        backend.report(.noLink)
        try await monitor.wait { !$0.isConnected }
    }
}

@Suite(.needsNamespaces) struct NamespaceSnippets {
    @Test func theProgramSaysWhy() throws {
        let network = try NetworkNamespace()
        let cable = try network.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let program = try network.start(MonitorProcess.builtProduct("netpath"), ["watch", "--json"])
        try program.next { $0["status"] == "satisfied" }
        try cable.setPeerCarrier(false)
        try program.next { $0["reason"]?["code"] == "noCarrier" }
    }
}

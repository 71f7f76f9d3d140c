// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import Connectivity

/// What becomes of a path.
@Suite struct ValueTests {
    private func update(_ evidence: Evidence?) -> ConnectivityUpdate {
        let monitor = NetworkMonitor(monitor: ScriptedMonitor(evidence))
        return ConnectivityUpdate(monitor.path)
    }

    @Test func nothingToConnectWith() {
        let wifi = NetworkInterface.wifi("wlan0", 2)
        let blocked = wifi.down().changed { $0.isRadioBlocked = true }
        for evidence in [.noLink, .seeing(.loopback()), .seeing(wifi.down()), .seeing(blocked)] as [Evidence] {
            let update = self.update(evidence)
            #expect(update.status == .disconnected, "\(update.path?.reason.message ?? "none")")
            #expect(update.status.displayName == "Offline")
            #expect(update.connectionType == .none)
            #expect(!update.isConnected && !update.isExpensive && !update.isConstrained)
        }
    }

    @Test func aLinkWithoutAPath() {
        let wired = NetworkInterface.wired("eth0", 2)
        #expect(self.update(.seeing(wired)).status == .unsatisfied)
        #expect(self.update(.seeing(wired.with("192.0.2.7/24"))).status == .unsatisfied)
        let waiting = self.update(.seeing(NetworkInterface.wifi("wlan0", 2).inState(.dormant)))
        #expect(waiting.status == .requiresConnection)
        #expect(!waiting.isConnected)
    }

    @Test func aPathWithoutTheInternetIsNotOnline() {
        var path = self.update(.wifi).path
        #expect(ConnectivityUpdate(path).internet == .unknown)
        path?.internet = .reachable
        #expect(ConnectivityUpdate(path).status.displayName == "Online")
        path?.internet = .portal
        let portal = ConnectivityUpdate(path)
        #expect(portal.internet == .portal && portal.status == .portal && portal.isConnected)
        #expect(portal.status.displayName == "Sign In" && portal.connectionType == .wifi)
        path?.internet = .unreachable
        #expect(ConnectivityUpdate(path).status == .noInternet && ConnectivityUpdate(path).isConnected)
        path?.status = .unsatisfied
        #expect(ConnectivityUpdate(path).status.displayName == "Offline")
    }

    @Test func nobodyKnowsIsNotOffline() {
        let unknown = ConnectivityUpdate(nil)
        #expect(unknown.status == .unknown && unknown.status.displayName == "Unknown")
        #expect(unknown.isConnected && unknown.connectionType == .other)
        let after = unknown.following(wasConnected: false)
        #expect(after.status == .unknown && !after.isConnected && after.connectionType == .none)
        #expect(self.update(.wifi).following(wasConnected: false).isConnected)
    }

    @Test func namesOfTypes() {
        let wifi = self.update(.wifi)
        #expect(wifi.isConnected && wifi.status == .connected && wifi.status.displayName == "Online")
        #expect(wifi.connectionType.phrase == "via WiFi")
        #expect(self.update(.ethernet).connectionType.phrase == "via Ethernet")
        let modem = self.update(.modem)
        #expect(modem.connectionType.phrase == "via Cellular")
        #expect(modem.isExpensive)
        #expect(Set(ConnectionType.allCases.map(\.phrase)).count == ConnectionType.allCases.count)
    }

    @Test func tunnelIsWhatIsBelow() {
        var path = self.update(.wifi).path
        var tunnel = path?.interfaces.first
        tunnel?.index = 9
        tunnel?.type = .other
        path?.interfaces.insert(contentsOf: [tunnel].compactMap { $0 }, at: 0)
        #expect(ConnectionType(path) == .other)
        path?.carriedByIndex = 2
        #expect(ConnectionType(path) == .wifi)
    }
}

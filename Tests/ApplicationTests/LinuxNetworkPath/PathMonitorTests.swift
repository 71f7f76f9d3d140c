// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathStandard
import NetPathTestKit
import Synchronization
import Testing

@testable import LinuxNetworkPath

/// What no network of a test can be made to say: Wi-Fi, cellular, radio switches, silence.
@Suite struct PathMonitorTests {
    private let wifi = NetworkInterface.wifi("wlan0", 2).with("192.0.2.7/24")

    private func path(
        of evidence: Evidence?,
        filter: InterfaceFilter = .everything
    ) -> NWPath {
        let shared = SharedCoordinator(clock: BackgroundExecutor()) { executor in
            let backend = Backend("scripted", monitor: ScriptedMonitor(evidence))
            return PathCoordinator(backends: [backend], clock: executor, executor: executor)
        }
        return NWPathMonitor(filter: filter, shared: shared).currentPath
    }

    @Test func wifiInText() {
        let path = self.path(of: .online(self.wifi, gateway: "192.0.2.1"))
        #expect("\(path)" == "satisfied (Path is satisfied), interface: wlan0[802.11], ipv4, uses wifi")
        #expect(path.usesInterfaceType(.wifi))
        #expect(!path.isExpensive)
        #expect("\(path.availableInterfaces)" == "[wlan0]")
        #expect(path.localEndpoint == nil && path.remoteEndpoint == nil)
    }

    @Test func cellularIsExpensive() {
        var modem = self.wifi
        modem.type = .cellular
        modem.name = "wwan0"
        let path = self.path(of: .online(modem, gateway: "192.0.2.1"))
        #expect(path.isExpensive)
        #expect("\(path)" == "satisfied (Path is satisfied), interface: wwan0, ipv4, expensive, uses cell")
    }

    /// An address and a route of another family do not make a path.
    @Test func anotherInterfaceServesItsOwnFamilies() {
        let wired = NetworkInterface.wired("eth0", 3).with("198.51.100.7/24").with("2001:db8::7/64")
            .withDefaultRoute(nil)
        var evidence = Evidence.online(self.wifi, gateway: "192.0.2.1")
        evidence.interfaces?.append(wired)
        let path = self.path(of: evidence, filter: .only(.wiredEthernet))
        #expect("\(path)" == "satisfied (Path is satisfied), interface: eth0, ipv4")
        #expect(self.path(of: evidence).supportsIPv4)
    }

    @Test func blockedRadioIsTheOnlyReason() {
        var blocked = self.wifi
        blocked.isRadioBlocked = true
        blocked.flags = []
        blocked.addresses = []
        var evidence = Evidence.online(blocked, gateway: "192.0.2.1")
        evidence.referenceRoutes = evidence.referenceRoutes.map { .init(to: $0.destination, .noRoute) }
        let path = self.path(of: evidence)
        #expect(path.status == .unsatisfied)
        #expect(path.unsatisfiedReason == .wifiDenied)
        #expect("\(path)" == "unsatisfied (Denied over wifi interface)")
        #expect(self.path(of: evidence, filter: .only(.cellular)).unsatisfiedReason == .notAvailable)
    }

    @Test func silenceStillHasAFirstPath() async {
        let monitor = NWPathMonitor(
            filter: .everything,
            shared: SharedCoordinator(clock: BackgroundExecutor()) { executor in
                let backend = Backend("silent", monitor: ScriptedMonitor())
                return PathCoordinator(backends: [backend], clock: executor, executor: executor)
            }
        )
        let path = await monitor.first { _ in true }
        #expect(path?.status == .unsatisfied)
        #expect(path.map { "\($0)" } == "unsatisfied (No network route)")
        monitor.cancel()
    }

    @Test func circumstancesAreNoChange() {
        let evidence = Evidence.online(self.wifi, gateway: "192.0.2.1")
        var limited = evidence
        limited.limitations = ["something is missing"]
        #expect(self.path(of: evidence) == self.path(of: limited))
        var renamed = self.wifi
        renamed.addresses.append(renamed.addresses[0])
        #expect(self.path(of: evidence) != self.path(of: .online(renamed, gateway: "192.0.2.1")))
        #expect(self.path(of: evidence) != self.path(of: .online(self.wifi, gateway: "192.0.2.2")))
    }

    @Test func interfacesAreEqualByIndexAndName() {
        let wired = NWInterface(index: 2, name: "eth0", type: .wiredEthernet)
        #expect(wired == NWInterface(index: 2, name: "eth0", type: .other))
        #expect(wired != NWInterface(index: 3, name: "eth0", type: .wiredEthernet))
        #expect(Set([wired, NWInterface(index: 2, name: "eth0", type: .other)]).count == 1)
        #expect("\(wired)" == "eth0")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import ConnectivityNotifications
import Foundation
import LinuxNetworkPath
import NetPath
import NetPathCLI
import NetPathConfiguration
import NetPathCurl
import NetPathExec
import NetPathExplanation
import NetPathHTTP
import NetPathHTTPProbe
import NetPathNetlink
import NetPathNetwork
import NetPathPluginKit
import NetPathStandard
import NetPathSysfs
import NetPathTCPProbe
import NetPathTestKit
import Network
import OfflineRequests
import Reachability

// Something of every product, in a process that ends.
let now = MonotonicTime(nanoseconds: 0)
let monitors: [any PathMonitor] = [
    NetlinkMonitor(), SysfsMonitor(), TCPProbeMonitor(.init()), ExecMonitor(.init(command: ["/bin/true"])),
    HTTPProbeMonitor(.init(), transport: CurlTransport.shared), ScriptedMonitor(Evidence(at: now)),
]
print("backends:", monitors.count)
let coordinator = PathCoordinator.standard()
coordinator.start()
for await path in coordinator.paths() {
    print("path:", path.status == .satisfied)
    break
}
for backend in coordinator.snapshots where backend.evidence != nil {
    let explanation = (backend.evidence ?? Evidence(at: now)).explanation(of: backend.verdict, now: now) { "\($0)" }
    print("explained:", !explanation.rule.isEmpty)
}
coordinator.stop()
let source = ConfigurationSource(name: "products.yaml", text: "backends:\n  - type: netlink\n")
print("configured:", try LoadedConfiguration.parse(source).backends.count)
print("connected:", NetworkMonitor.shared.isConnected)
print("notification:", NetworkMonitor.connectivityRestoredNotification.rawValue)
print("loopback:", try HostReachability(host: "127.0.0.1").reach().isReachable)
print("path monitor:", NWPathMonitor().currentPath.status == .satisfied)
let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
defer { try? FileManager.default.removeItem(atPath: file) }
let queue = try OfflineRequestQueue(file: file)
print("pending:", try queue.counts.ready)
queue.close()
print("tool:", NetPathTool.self)

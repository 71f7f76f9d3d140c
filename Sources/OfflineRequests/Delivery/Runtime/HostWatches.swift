// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath
import NetPathHTTP
import NetPathStandard
import Reachability

/// Watches the way to the hosts of requests while there is no path to the internet: one on a link is reached without, and
/// one on this machine.
struct HostWatches {
    /// Each costs a question at every change of the network, and more than so many hosts are hardly near.
    static let capacity = 128

    private let core: QueueCore
    /// What tells of the network tells of hosts: rules and backends of one's own count for both.
    private var source: SharedCoordinator = .process
    private var watches: [String: HostReachability] = [:]
    /// Names that have no address as the network is now.
    ///
    /// They would be looked up again every minute, for which a host without a path must not wake up.
    private var unknown: Set<String> = []

    init(core: QueueCore) {
        self.core = core
    }

    /// Goes by the coordinator of a monitor, for the hosts that are watched from then on.
    mutating func follow(_ monitor: NetworkMonitor) { self.source = monitor.source }

    /// Another network may know other names.
    mutating func networkChanged() { self.unknown = [] }

    /// Watches these hosts, as ``Gate/host`` has them, and no others.
    mutating func set(_ hosts: Set<String>) {
        for (host, watch) in self.watches where !hosts.contains(host) {
            watch.cancel()
            self.watches[host] = nil
        }
        for host in hosts where self.watches[host] == nil && !self.unknown.contains(host) {
            guard self.watches.count < Self.capacity else { return }
            guard let watch = try? HostReachability(url: "http://\(host)", sharing: self.source) else { continue }
            self.watches[host] = watch
            watch.reach { [core = self.core] status in
                // Where nothing can tell there is no way.
                let (route, isUnknown) = (status.route, status.reason.code == .notResolved)
                core.post { worker, now in
                    if isUnknown { worker.hosts.giveUp(host) }
                    worker.host(host, is: route, at: now)
                }
            }
        }
    }

    private mutating func giveUp(_ host: String) {
        self.watches.removeValue(forKey: host)?.cancel()
        self.unknown.insert(host)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath
import NetPathStandard
import Reachability

/// Watches the hosts that requests ask for, as long as requests that are ready do.
struct HostWatches {
    private let core: QueueCore
    /// What tells of the network tells of hosts: rules and backends of one's own count for both.
    private var source: SharedCoordinator = .process
    private var watches: [String: HostReachability] = [:]

    init(core: QueueCore) {
        self.core = core
    }

    /// Goes by the coordinator of a monitor, for the hosts that are watched from then on.
    mutating func follow(_ monitor: NetworkMonitor) { self.source = monitor.source }

    /// Watches these hosts and no others.
    mutating func set(_ hosts: Set<String>) {
        for (host, watch) in self.watches where !hosts.contains(host) {
            watch.cancel()
            self.watches[host] = nil
        }
        for host in hosts where self.watches[host] == nil {
            // What is no name of a host is never reachable, which is what the request waits for.
            guard let watch = try? HostReachability(host: host, sharing: self.source) else { continue }
            self.watches[host] = watch
            watch.reach { [core = self.core] status in
                // Also where nobody can tell, but not while the name is being looked up.
                let isReachable = status.isReachable || status.reason.code == .notAnswered
                core.post { worker, now in worker.host(host, isReachable: isReachable, at: now) }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// Watches the hosts that requests ask for, as long as requests that are ready do.
struct HostWatches {
    private let core: QueueCore
    private var watches: [String: HostReachability] = [:]

    init(core: QueueCore) {
        self.core = core
    }

    /// Watches these hosts and no others.
    mutating func set(_ hosts: Set<String>) {
        guard hosts.count != self.watches.count || hosts.contains(where: { self.watches[$0] == nil }) else { return }
        for (host, watch) in self.watches where !hosts.contains(host) {
            watch.cancel()
            self.watches[host] = nil
        }
        for host in hosts where self.watches[host] == nil {
            // What is no name of a host is never reachable, which is what the request waits for.
            guard let watch = try? HostReachability(host: host) else { continue }
            self.watches[host] = watch
            watch.reach { [core = self.core] status in
                // Also where nobody can tell, but not while the name is being looked up.
                let isReachable = status.isReachable || status.reason.code == .notAnswered
                core.post { worker, now in worker.host(host, isReachable: isReachable, at: now) }
            }
        }
    }
}

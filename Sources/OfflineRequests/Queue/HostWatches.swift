// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// Watches the hosts that requests ask for, as long as requests that are ready do.
struct HostWatches {
    private let mailbox: Mailbox<QueueMessage>
    private var watches: [String: HostReachability] = [:]

    init(mailbox: Mailbox<QueueMessage>) {
        self.mailbox = mailbox
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
            watch.reach { [mailbox = self.mailbox] status in
                mailbox.post(.host(host, isReachable: status.mayBeReached))
            }
        }
    }
}

extension HostStatus {
    /// Whether to try: also where nobody can tell, but not while the name is being looked up.
    fileprivate var mayBeReached: Bool { self.isReachable || self.reason.code == .notAnswered }
}

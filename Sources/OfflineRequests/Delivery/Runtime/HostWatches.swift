// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath
import NetPathHTTP
import NetPathStandard
import Reachability

/// Watches the way to the hosts of requests while there is no path to the internet: one on a link is reached without, and
/// one on this machine.
///
/// Each watch costs a question at every change of the network, so there are few at a time. Where there are more hosts they
/// are asked about in turns: the watch of one that there is no way to gives its place to another host.
struct HostWatches {
    /// How many hosts are watched at the same time.
    private static let capacity = 128
    /// How many hosts are asked about in all.
    private static let longestTurn = 4_096

    private struct Watch {
        var reachability: HostReachability
        var leadsNowhere = false
    }

    private let core: QueueCore
    /// What tells of the network tells of hosts: rules and backends of one's own count for both.
    private var source: SharedCoordinator = .process
    private var watches: [String: Watch] = [:]
    /// Hosts that are not asked about again as the network is now: there is no way to them, or their names have no address.
    ///
    /// A name would be looked up again every minute, for which a host without a path must not wake up.
    private var passed: Set<String> = []

    init(core: QueueCore) {
        self.core = core
    }

    /// How many hosts to set: those whose turn is over, or may be, come first again.
    var limit: Int {
        let idle = self.watches.values.count { $0.leadsNowhere }
        return min(Self.capacity + self.passed.count + idle, Self.longestTurn)
    }

    /// Goes by the coordinator of a monitor, for the hosts that are watched from then on.
    mutating func follow(_ monitor: NetworkMonitor) { self.source = monitor.source }

    /// Another network may know other names, and other ways.
    mutating func networkChanged() {
        if self.watches.count >= Self.capacity {
            // A watch that gives up its place says nothing of the network as it is now.
            for (host, watch) in self.watches where watch.leadsNowhere { self.stop(host) }
        }
        self.passed = []
    }

    /// Watches these hosts, as ``Gate/host`` has them, and no others.
    mutating func set(_ hosts: Set<String>) {
        for host in self.watches.keys where !hosts.contains(host) { self.stop(host) }
        self.passed.formIntersection(hosts)
        for host in hosts where self.watches[host] == nil && !self.passed.contains(host) {
            if self.watches.count >= Self.capacity {
                guard let other = self.watches.first(where: \.value.leadsNowhere)?.key else { return }
                self.pass(other)
            }
            self.watch(host)
        }
    }

    private mutating func watch(_ host: String) {
        guard let reachability = try? HostReachability(url: "http://\(host)", sharing: self.source) else { return }
        self.watches[host] = Watch(reachability: reachability)
        reachability.reach { [core = self.core] status in
            // Where nothing can tell there is no way.
            let (isReachable, isUnknown) = (status.route != nil, status.reason.code == .notResolved)
            let isBeyondRouter = status.route?.isLocalOnly == false
            core.post { worker, now in
                worker.hosts.answered(host, leadsNowhere: !isReachable, isUnknown: isUnknown)
                worker.machine.host(host, isReachable: isReachable, isBeyondRouter: isBeyondRouter, at: now)
            }
        }
    }

    private mutating func answered(_ host: String, leadsNowhere: Bool, isUnknown: Bool) {
        if isUnknown { return self.pass(host) }
        self.watches[host]?.leadsNowhere = leadsNowhere
    }

    private mutating func pass(_ host: String) {
        self.stop(host)
        self.passed.insert(host)
    }

    private mutating func stop(_ host: String) { self.watches.removeValue(forKey: host)?.reachability.cancel() }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath

/// The network as a queue sees it, and what a change of it means for what is being sent.
struct NetworkView {
    /// How long connections survive without their path when it comes back as it was: TCP sends again what was lost.
    static let grace: Duration = .seconds(5)

    /// What is known; nil before anything is.
    private(set) var facts: PathFacts?
    private var reachableHosts: Set<String> = []
    /// The links and addresses of the last path there was, which connections were made from.
    private var links: [UInt32: Set<AddressPrefix>] = [:]
    private var lostAt: MonotonicTime?

    /// Whether there is a path.
    var isSatisfied: Bool { self.facts?.isSatisfied ?? false }

    /// Takes what the monitor says.
    ///
    /// - Returns: Whether connections that stood before are certainly of no use any more. While there is no path they
    ///   are left alone: what is on its way may still arrive.
    mutating func change(to update: ConnectivityUpdate, at now: MonotonicTime) -> Bool {
        // A monitor that knows nothing any more leaves what was known.
        guard update.path != nil || self.facts == nil else { return false }
        self.facts = PathFacts(update: update, reachableHosts: self.reachableHosts)
        guard update.isConnected else {
            if self.lostAt == nil { self.lostAt = now }
            return false
        }
        guard let path = update.path else { return false }
        let links = path.interfaces.reduce(into: [UInt32: Set<AddressPrefix>]()) { links, interface in
            if interface.reason.code == .routed { links[interface.index] = Set(interface.addresses) }
        }
        defer {
            self.links = links
            self.lostAt = nil
        }
        if let lostAt, now - lostAt > Self.grace { return true }
        return !self.links.allSatisfy { index, addresses in
            path.interfaces.contains {
                $0.index == index && addresses.isSubset(of: $0.addresses)
                    && [.routed, .alternative].contains($0.reason.code)
            }
        }
    }

    mutating func host(_ host: String, isReachable: Bool) {
        if isReachable { self.reachableHosts.insert(host) } else { self.reachableHosts.remove(host) }
        self.facts?.reachableHosts = self.reachableHosts
    }
}

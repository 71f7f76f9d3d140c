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
    private var nearHosts: Set<String> = []
    /// The links and addresses of the last path there was, which connections were made from.
    private var links: [UInt32: Set<AddressPrefix>] = [:]
    private var lostAt: MonotonicTime?

    /// Whether there is a path to the internet.
    var isSatisfied: Bool { self.facts?.isSatisfied ?? false }

    /// Takes what the monitor says.
    ///
    /// - Returns: The addresses whose connections are certainly of no use any more, none for all connections; nil when all
    ///   may be. While there is no path they are left alone: what is on its way may still arrive.
    mutating func change(to update: ConnectivityUpdate, at now: MonotonicTime) -> Set<InternetAddress>? {
        // A monitor that knows nothing any more leaves what was known.
        guard update.path != nil || self.facts == nil else { return nil }
        self.facts = PathFacts(update: update, nearHosts: self.nearHosts)
        guard update.isConnected else {
            if self.lostAt == nil { self.lostAt = now }
            return nil
        }
        guard let path = update.path else { return nil }
        let links = path.interfaces.reduce(into: [UInt32: Set<AddressPrefix>]()) { links, interface in
            if interface.reason.code == .routed { links[interface.index] = Set(interface.addresses) }
        }
        let last = self.links
        let isLong = self.lostAt.map { now - $0 > Self.grace } ?? false
        (self.links, self.lostAt) = (links, nil)
        if isLong { return Set(last.values.joined().map(\.address)) }
        let lost = last.compactMap { index, addresses -> Set<AddressPrefix>? in
            let interface = path.interfaces.first { $0.index == index }
            guard let interface, [.routed, .alternative].contains(interface.reason.code) else { return addresses }
            let gone = addresses.subtracting(interface.addresses)
            return gone.isEmpty ? nil : gone
        }
        return lost.isEmpty ? nil : Set(lost.joined().map(\.address))
    }

    /// Takes what the kernel says of the way to a host.
    mutating func host(_ host: String, isReachable: Bool) {
        if isReachable { self.nearHosts.insert(host) } else { self.nearHosts.remove(host) }
        self.facts?.nearHosts = self.nearHosts
    }

    /// Forgets the hosts that are not asked about any more.
    mutating func forgetHosts(but hosts: Set<String>) {
        self.nearHosts.formIntersection(hosts)
        self.facts?.nearHosts = self.nearHosts
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The gateways whose entries in the neighbour table the kernel looks at before it chooses a route.
///
/// Of IPv6 defaults of the same metric it takes one whose router answers (RFC 4191 section 3.2), and sends no event
/// about routes when that becomes another one. IPv4 does so among equal routes, and for multipath routes where
/// `net.ipv4.fib_multipath_use_neigh` says so.
struct GatewayWatch {
    /// Those in use now or lately: a route that comes and goes needs no other filter each time.
    private(set) var used: Set<Neighbour> = []
    /// Those that did not answer, in use or not: the kernel may come back to them.
    private(set) var silent: Set<Neighbour> = []

    /// More of them are not remembered: each one costs the kernel a comparison at every event.
    private static let silentLimit = 8
    /// Where there would be more than that many, those that are not in use any more are forgotten.
    private static let usedLimit = 4

    /// The addresses to hear of.
    var addresses: Set<IPAddress> { Set(self.used.union(self.silent).map(\.address)) }

    /// Notes which gateways are in use.
    ///
    /// - Returns: Those that were not before; what became of them meanwhile is for the caller to ask.
    mutating func use(_ gateways: Set<Neighbour>) -> Set<Neighbour> {
        let newcomers = gateways.subtracting(self.used)
        guard !newcomers.isEmpty else { return [] }
        self.used = self.used.count + newcomers.count > Self.usedLimit ? gateways : self.used.union(newcomers)
        return newcomers
    }

    /// Notes what became of a neighbour.
    ///
    /// - Returns: Whether the kernel may choose another route now.
    mutating func apply(_ update: NeighbourUpdate) -> Bool {
        let isWatched = self.used.contains(update.neighbour) || self.silent.contains(update.neighbour)
        // A router that nobody uses matters when others fail.
        guard isWatched || (update.isRouter && !self.silent.isEmpty) else { return false }
        guard update.hasFailed else {
            self.silent.remove(update.neighbour)
            return true
        }
        if self.silent.count < Self.silentLimit || self.used.contains(update.neighbour) {
            self.silent.insert(update.neighbour)
        }
        return true
    }
}

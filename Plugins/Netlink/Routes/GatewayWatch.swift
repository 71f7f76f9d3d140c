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
    private(set) var used: [Neighbour] = []
    /// Those that did not answer, in use or not: the kernel may come back to them.
    private(set) var silent: [Neighbour] = []
    /// Those of them of which that says nothing (``NeighbourUpdate/isOutdated(on:now:)``).
    private(set) var doubtful: Set<Neighbour> = []
    /// Those in use that did.
    private var answering: [Neighbour] = []
    /// Where those in use answer from, or did.
    private(set) var hardwareAddresses: [Neighbour: [UInt8]] = [:]

    /// More of them are not remembered: each one costs the kernel a comparison at every event.
    private static let silentLimit = 8
    /// Where there would be more than that many, those that are not in use any more are forgotten.
    private static let usedLimit = 4

    /// All to hear of.
    var known: [Neighbour] { self.used + self.silent.filter { !self.used.contains($0) } }

    /// Their addresses.
    var addresses: Set<InternetAddress> { Set(self.known.map(\.address)) }

    /// The addresses of those in use whose link-layer address is not known.
    var unknownAddresses: Set<InternetAddress> {
        Set(self.used.lazy.filter { self.hardwareAddresses[$0] == nil }.map(\.address))
    }

    /// Whether a gateway answers; nil when it is unknown.
    func answers(_ gateway: Neighbour) -> Bool? {
        if self.doubtful.contains(gateway) { return nil }
        return self.silent.contains(gateway) ? false : self.answering.contains(gateway) ? true : nil
    }

    /// Forgets who did not answer through an interface that lost its link: behind the next cable is another network.
    mutating func forget(_ interface: UInt32) {
        self.silent.removeAll { $0.interfaceIndex == interface }
        self.doubtful = self.doubtful.filter { $0.interfaceIndex != interface }
    }

    /// Notes which gateways are in use.
    ///
    /// - Returns: Those that were not before; what became of them meanwhile is for the caller to ask.
    mutating func use(_ gateways: [Neighbour]) -> [Neighbour] {
        let newcomers = gateways.filter { !self.used.contains($0) }
        guard !newcomers.isEmpty else { return [] }
        self.used = self.used.count + newcomers.count > Self.usedLimit ? gateways : self.used + newcomers
        self.answering.removeAll { !self.used.contains($0) }
        self.hardwareAddresses = self.hardwareAddresses.filter { self.used.contains($0.key) }
        return newcomers
    }

    /// Notes what became of a neighbour.
    ///
    /// A gateway that did not answer is silent until it does: that the kernel forgets it or asks again is no answer.
    ///
    /// - Parameters:
    ///   - update: What the kernel says of it.
    ///   - isOutdated: Whether that it does not answer says nothing of what is behind the link now.
    /// - Returns: Whether the kernel may choose another route now, or more is known of a gateway in use.
    mutating func apply(_ update: NeighbourUpdate, isOutdated: Bool = false) -> Bool {
        let isWatched = self.used.contains(update.neighbour) || self.silent.contains(update.neighbour)
        // A router that no route uses matters when others fail.
        guard isWatched || (update.isRouter && !self.silent.isEmpty) else { return false }
        let wasSilent = self.silent.contains(update.neighbour)
        let wasAnswering = self.answering.contains(update.neighbour)
        var hasMoved = false
        if let address = update.hardwareAddress, self.used.contains(update.neighbour) {
            hasMoved = self.hardwareAddresses.updateValue(address, forKey: update.neighbour) != address
        }
        if update.isDecreed { self.answering.removeAll { $0 == update.neighbour } }
        if update.answers == true || update.isDecreed {
            self.silent.removeAll { $0 == update.neighbour }
            self.doubtful.remove(update.neighbour)
        }
        switch update.answers {
        case true?:
            guard self.used.contains(update.neighbour), !wasAnswering else {
                return wasSilent || !isWatched || hasMoved
            }
            self.answering.append(update.neighbour)
            return true
        case nil: return wasSilent || !isWatched || hasMoved || (update.isDecreed && wasAnswering)
        case false?:
            self.answering.removeAll { $0 == update.neighbour }
            if !wasSilent, self.silent.count < Self.silentLimit || self.used.contains(update.neighbour) {
                self.silent.append(update.neighbour)
            }
            if !isOutdated { self.doubtful.remove(update.neighbour) }
            if isOutdated, !wasSilent { self.doubtful.insert(update.neighbour) }
            // Also when it had failed before: the kernel may have come back to it meanwhile.
            return true
        }
    }
}

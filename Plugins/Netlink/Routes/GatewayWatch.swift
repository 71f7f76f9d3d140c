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
        let gateway = update.neighbour
        let (isUsed, wasSilent) = (self.used.contains(gateway), self.silent.contains(gateway))
        // A router that no route uses matters when others fail.
        guard isUsed || wasSilent || (update.isRouter && !self.silent.isEmpty) else { return false }
        let wasAnswering = self.answering.contains(gateway)
        var isNews = wasSilent || !isUsed
        if let address = update.hardwareAddress, isUsed {
            isNews = self.hardwareAddresses.updateValue(address, forKey: gateway) != address || isNews
        }
        if update.isDecreed || update.answers == false { self.answering.removeAll { $0 == gateway } }
        if update.isDecreed || update.answers == true {
            self.silent.removeAll { $0 == gateway }
            self.doubtful.remove(gateway)
        }
        switch update.answers {
        case true?:
            guard isUsed, !wasAnswering else { return isNews }
            self.answering.append(gateway)
            return true
        case nil: return isNews || (update.isDecreed && wasAnswering)
        case false?:
            if !wasSilent, self.silent.count < Self.silentLimit || isUsed { self.silent.append(gateway) }
            if !isOutdated { self.doubtful.remove(gateway) }
            if isOutdated, !wasSilent { self.doubtful.insert(gateway) }
            // Also when it had failed before: the kernel may have come back to it meanwhile.
            return true
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What only a watcher knows, and what is seen to give interfaces their addresses.
extension LinkTable.Entry {
    /// Takes over what no reading tells.
    mutating func inheritHistory(of old: LinkTable.Entry) {
        self.hasDynamicAddressHistory = self.hasDynamicAddressHistory || old.hasDynamicAddressHistory
        self.hasSessionHistory = old.hasSessionHistory
        self.interface.hadDefaultRoute = old.interface.hadDefaultRoute
        self.interface.failedAuthentications = old.interface.failedAuthentications
    }

    /// Counts authentications that end with the loss of the carrier, as with a wrong key.
    mutating func countAuthentication(from former: OperationalState?, hadCarrier: Bool) {
        if self.interface.operationalState == .up || !self.interface.flags.contains(.up) {
            self.interface.failedAuthentications = nil
        } else if former == .dormant, hadCarrier, !self.hasCarrier {
            self.interface.failedAuthentications = (self.interface.failedAuthentications ?? 0) + 1
        }
    }

    /// When the carrier came, as far as that is known.
    fileprivate var age: MonotonicTime? { self.interface.carrierSince ?? self.linkLocalSince }

    /// Whether it matters who gives it an address, without a default route: it lacks one, or has one with a lifetime.
    fileprivate var isIncomplete: Bool {
        self.hasCarrier && self.interface.addresses.allSatisfy { !$0.isGlobal || $0.dynamicSince != nil }
    }
}

extension LinkTable {
    /// How long after the carrier came a missing sign of a client says nothing: clients take a moment to
    /// start, and routers are asked when the link-local address is checked.
    static let settling = Duration.seconds(5)
    /// How long a client may take from its answer to the address.
    private static let addressDelay = Duration.seconds(2)
    /// For how long after that it is looked again with other changes.
    private static let interest = Duration.seconds(60)

    /// The interfaces of which it matters now who gives them an address.
    // Inlined, as it is asked at every event: else the call copies the table.
    @inline(__always) func incomplete(at now: MonotonicTime) -> [UInt32] {
        self.principals.filter { index in
            // An entry is large.
            guard self.entries[index]?.interface.defaultRoutes?.isEmpty != false,
                let entry = self.entries[index], entry.isIncomplete
            else { return false }
            return entry.interface.configurer == nil || entry.age.map { now < $0 + Self.interest } == true
        }
    }

    /// Notes who gives interfaces their addresses.
    ///
    /// - Returns: When to look again, because it is too early to tell.
    mutating func setConfigurers(
        of indices: [UInt32],
        by sockets: PacketSockets,
        at now: MonotonicTime
    ) -> MonotonicTime? {
        var lookAgainAt: MonotonicTime?
        func lookAgain(at time: MonotonicTime) { lookAgainAt = min(lookAgainAt ?? time, time) }
        for index in indices {
            guard var entry = self.entries[index] else { continue }
            // A stamp of the kernel may be ahead by a tick; in a time namespace it is by any amount, and tells nothing.
            let age = entry.age.flatMap { $0 <= now + .seconds(1) ? $0 : nil }
            var found: NetworkInterface.Configurer? =
                index == self.dialledDevice ? .session : sockets.configurer(of: index)
            if found == .nothing, entry.sawRouterAdvertisement { found = .network }
            if found == .nothing, !entry.hasSessionHistory, let age, now < age + Self.settling {
                // Also before that, as a client that was never seen may just have closed its socket.
                let early = age + (Self.settling - Self.addressDelay)
                lookAgain(at: now < early ? early : age + Self.settling)
                found = nil
            }
            // A client that has its answer closes the socket before it sets the address.
            let isGone = found == .nothing && entry.interface.configurer == .network
            entry.clientGoneSince = isGone ? entry.clientGoneSince ?? now : nil
            if let missedAt = entry.clientGoneSince.map({ $0 + Self.addressDelay }), now < missedAt {
                lookAgain(at: missedAt)
                found = .network
            }
            // Who has just begun to look counts from now: a client does not wait for ever.
            if found == .network || found == .session, entry.age == nil { entry.interface.carrierSince = now }
            entry.interface.configurer = found
            self.store(entry)
        }
        return lookAgainAt
    }
}

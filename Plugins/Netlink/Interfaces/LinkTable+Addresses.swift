// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LinkTable {
    /// Applies RTM_NEWADDR, which also announces changes of state and renewals.
    mutating func apply(_ update: AddressUpdate) {
        guard var entry = self.entries[update.interfaceIndex] else { return }
        entry.remove(update)
        var address = update.address
        address.addedAt = update.createdAt
        if update.isDynamic { address.dynamicSince = update.createdAt }
        entry.insert(address, peer: update.peer)
        if update.isDynamic, address.prefix.address.family == .ipv4 { entry.hasDynamicAddressHistory = true }
        if address.prefix.address.family == .ipv6, address.scope == .link { entry.linkLocalSince = update.createdAt }
        self.store(entry)
    }

    /// Applies RTM_DELADDR; also sent when duplicate address detection fails.
    mutating func remove(_ update: AddressUpdate) {
        guard var entry = self.entries[update.interfaceIndex] else { return }
        entry.remove(update)
        if update.address.prefix.address.family == .ipv6, update.address.scope == .link { entry.linkLocalSince = nil }
        self.store(entry)
    }
}

extension LinkTable.Entry {
    fileprivate mutating func remove(_ update: AddressUpdate) {
        guard let position = self.position(of: update.address.prefix, peer: update.peer) else { return }
        self.interface.addresses.remove(at: position)
        self.peers.remove(at: position)
    }

    fileprivate mutating func insert(_ address: InterfaceAddress, peer: InternetAddress?) {
        let addresses = self.interface.addresses
        let position = addresses.firstIndex { address < $0 } ?? addresses.count
        self.interface.addresses.insert(address, at: position)
        self.peers.insert(peer, at: position)
    }

    /// Takes over the addresses that it lacks.
    mutating func addAddresses(missingFrom other: LinkTable.Entry) {
        for (address, peer) in zip(other.interface.addresses, other.peers)
        where self.position(of: address.prefix, peer: peer) == nil { self.insert(address, peer: peer) }
    }

    /// Where an address is that the kernel takes for the same: in IPv6 an interface has each only once
    /// (`ipv6_add_addr`, net/ipv6/addrconf.c), in IPv4 it may have several that differ in length or in the other end
    /// (`__inet_insert_ifa`, net/ipv4/devinet.c).
    private func position(of prefix: AddressPrefix, peer: InternetAddress?) -> Int? {
        let addresses = self.interface.addresses
        return switch prefix.address.family {
        case .ipv4: addresses.indices.first { addresses[$0].prefix == prefix && self.peers[$0] == peer }
        case .ipv6: addresses.firstIndex { $0.prefix.address == prefix.address }
        }
    }
}

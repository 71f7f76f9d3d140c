// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LinkTable {
    /// That many source addresses are tried at most where it is not known which one the kernel chooses.
    static let sourceLimit = 8

    /// Addresses that packets to the internet may be sent from, of one interface or of all: loopback may hold that of a
    /// host whose uplinks have none (BGP unnumbered).
    func sources(_ family: AddressFamily, of interface: UInt32?) -> [InternetAddress] {
        var addresses: [InternetAddress] = []
        for index in interface.map({ [$0] }) ?? self.principals + [RouteLookup.loopback] {
            guard let interface = self.entries[index]?.interface, interface.flags.contains(.up) else { continue }
            for address in interface.addresses where address.isUsable && address.isGlobal {
                guard address.prefix.address.family == family else { continue }
                addresses.append(address.prefix.address)
                if addresses.count == Self.sourceLimit { return addresses }
            }
        }
        return addresses
    }
}

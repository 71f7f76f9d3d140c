// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ConfigurationSection {
    /// Reads the addresses that stand for the whole internet.
    func readRepresentatives() -> [IPAddress] {
        let key = "representatives"
        let addresses = self.addresses(key, default: RepresentativeRoute.defaultDestinations)
        for (index, address) in addresses.enumerated() {
            let kind =
                address.isUnspecified
                ? "no address at all"
                : address.isLoopback ? "this machine itself" : address.isLinkLocal ? "on the link only" : nil
            guard let kind else { continue }
            self.reject(key, at: index, "must be an address on the internet; this one is \(kind)")
        }
        // What is not asked is not known, and without knowing there is never a "no".
        for (family, name) in [(AddressFamily.ipv4, "IPv4"), (.ipv6, "IPv6")]
        where !addresses.contains(where: { $0.family == family }) {
            self.reject(key, "must hold at least one address of each family; there is none of \(name)")
        }
        return addresses
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ConfigurationSection {
    /// Reads the addresses that stand for the whole internet.
    func readRepresentatives() -> [IPAddress] {
        let key = "representatives"
        let texts = self.strings(key, default: RepresentativeRoute.defaultDestinations.map(\.description))
        var addresses: [IPAddress] = []
        for (index, text) in texts.enumerated() {
            guard let address = IPAddress(text) else {
                self.reject(key, at: index, "must be an IP address such as 9.0.0.1 or 2600::1")
                continue
            }
            addresses.append(address)
            let kind =
                address.isUnspecified
                ? "no address at all"
                : address.isLoopback ? "this machine itself" : address.isLinkLocal ? "on the link only" : nil
            if let kind { self.reject(key, at: index, "must be an address on the internet; this one is \(kind)") }
        }
        guard addresses.count == texts.count else { return addresses }
        // What is not asked is not known, and without knowing there is never a "no".
        for (family, name) in [(AddressFamily.ipv4, "IPv4"), (.ipv6, "IPv6")]
        where !addresses.contains(where: { $0.family == family }) {
            self.reject(key, "must hold at least one address of each family; there is none of \(name)")
        }
        return addresses
    }
}

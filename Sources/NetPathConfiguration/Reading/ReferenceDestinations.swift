// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ConfigurationSection {
    /// Reads the addresses that stand for the whole internet.
    func readReferenceDestinations() -> [InternetAddress] {
        let key = self.key("referenceDestinations", formerly: "representatives")
        let texts = self.strings(key, default: ReferenceRoute.defaultDestinations.map(\.description))
        var addresses: [InternetAddress] = []
        for (index, text) in texts.enumerated() {
            guard let address = InternetAddress(text) else {
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

    /// The key by which a value is given: its name, or the one it had before, which is warned of.
    private func key(_ name: String, formerly former: String) -> String {
        guard self.contains(former) else { return name }
        if self.contains(name) {
            self.reject(former, "is the former name of '\(name)', which is given, too; leave one of them out")
        } else {
            self.warn(former, "is called '\(name)' now")
        }
        return self.contains(name) ? name : former
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension InterfaceRule {
    /// Reads the rules of the list `interfaces`.
    static func read(from root: ConfigurationSection) -> [InterfaceRule] {
        root.sections("interfaces").map { section in
            section.require("match")
            var rule = InterfaceRule(section.section("match").map { Match($0, of: section) } ?? Match())
            rule.type = section.choice("type")
            rule.isExpensive = section.boolean("expensive")
            rule.isConstrained = section.boolean("constrained")
            rule.isIgnored = section.boolean("ignore", default: false)
            rule.dialsOnDemand = section.boolean("dialOnDemand", default: false)
            rule.expectsAddress = section.boolean("expectsAddress")
            rule.isUplink = section.boolean("uplink")
            rule.tunnelEndpoints = section.readTunnelEndpoints()
            rule.tunnelMark = section.integer("tunnelMark", in: 0...Int(UInt32.max)).map(UInt32.init)
            for key in ["tunnelEndpoint", "tunnelMark"] where rule.isUplink == true && section.contains(key) {
                section.reject(key, "is for tunnels, and cannot stand beside `uplink: true`")
            }
            if rule == InterfaceRule(rule.match), !section.contains("ignore"), !section.contains("dialOnDemand") {
                section.warn("match", "selects interfaces, and the rule sets nothing for them")
            }
            return rule
        }
    }
}

extension ConfigurationSection {
    /// Reads the far ends of a tunnel: an address, or a list of them.
    fileprivate func readTunnelEndpoints() -> [TunnelEndpoint] {
        let key = "tunnelEndpoint"
        return self.strings(key).enumerated().compactMap { index, text in
            let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let address = parts.first.flatMap({ InternetAddress($0) }), !address.isUnspecified else {
                self.reject(key, at: index, "must be an address such as 203.0.113.7, 2001:db8::7 or fe80::1%wan0")
                return nil
            }
            let zone = parts.count == 2 ? parts[1] : nil
            // The kernel's bounds of a name (IFNAMSIZ).
            if let zone, !(1...15).contains(zone.utf8.count) {
                self.reject(key, at: index, "has a zone that cannot be the name of an interface")
            }
            if zone == nil, address.family == .ipv6, address.isLinkLocal {
                self.reject(key, at: index, "is valid on one link only; name its interface, as in fe80::1%wan0")
            }
            return TunnelEndpoint(address, zone: zone)
        }
    }
}

extension InterfaceRule.Match {
    fileprivate init(_ section: ConfigurationSection, of rule: ConfigurationSection) {
        self.init(
            name: section.string("name").flatMap { text in
                let pattern = GlobPattern(text)
                if pattern == nil { section.reject("name", "must be a pattern such as wwan*, eth? or w[lw]an[0-9]") }
                return pattern
            },
            kind: section.string("kind"),
            driver: section.string("driver"),
            hardwareAddressPrefix: section.string("mac").flatMap { text in
                let bytes = Self.bytes(text)
                if bytes == nil {
                    section.reject("mac", "must be a hardware address or its beginning such as 02:1a:7f")
                }
                return bytes
            }
        )
        let criteria = ["name", "kind", "driver", "mac"]
        if !criteria.contains(where: section.contains) {
            rule.reject("match", "must have a key that says which interfaces are meant", allowed: criteria)
        }
    }

    /// Reads pairs of hexadecimal digits between colons or hyphens.
    private static func bytes(_ text: String) -> [UInt8]? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "-" }
        let bytes = parts.compactMap { part in
            part.utf8.count == 2 && part.allSatisfy(\.isHexDigit) ? UInt8(part, radix: 16) : nil
        }
        return bytes.count == parts.count ? bytes : nil
    }
}

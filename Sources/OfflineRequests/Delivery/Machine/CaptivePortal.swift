// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension NetworkPath {
    /// Whether a captive portal would answer what goes through a gate, in the place of a server that is asked over plain
    /// http and is beyond the routers of this host.
    func hasPortal(before gate: Gate) -> Bool {
        self.internet == .portal && gate.isPlain && !self.isNear(gate.host)
    }

    /// Whether a host is this one, or on the same link; names are not looked up for that.
    private func isNear(_ authority: String) -> Bool {
        guard let host = NetworkHost(authority: authority) else { return false }
        switch host {
        case .name(let name): return name == "localhost" || name.hasSuffix(".localhost") || name.hasSuffix(".local")
        case .address(let address, zone: _):
            let links = self.interfaces.flatMap(\.addresses)
            return address.isLoopback || address.isLinkLocal
                || links.contains { $0.length > 0 && $0.contains(address) }
        }
    }
}

extension NetworkHost {
    /// Reads the host of an address; RFC 6874 writes the zone of a link-local one with an encoded percent sign.
    init(urlHost host: String) throws(Fault) {
        if host.hasPrefix("[") {
            let address = host.dropFirst().prefix { $0 != "]" }
            try self.init(ipv6: address.replacing("%25", with: "%", maxReplacements: 1)[...])
        } else {
            try self.init(bare: host[...])
        }
    }

    /// The same of an ``Endpoint/authority``; nil when it is none.
    init?(authority: String) {
        let host = authority.hasPrefix("[") ? authority[...] : authority.prefix { $0 != ":" }
        guard let host = try? NetworkHost(urlHost: String(host)) else { return nil }
        self = host
    }
}

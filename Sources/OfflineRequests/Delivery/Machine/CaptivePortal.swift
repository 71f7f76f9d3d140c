// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A captive portal, which answers in the place of every server that is asked over plain http.
struct CaptivePortal: Hashable, Sendable {
    /// The networks of this host, beyond whose routers it is.
    var links: Set<AddressPrefix>

    init(links: Set<AddressPrefix> = []) {
        self.links = links
    }

    /// The one that the path leads to; nil without.
    init?(_ path: NetworkPath?) {
        guard let path, path.internet == .portal else { return nil }
        self.init(links: Set(path.interfaces.flatMap(\.addresses)))
    }

    /// Whether it would answer what goes through a gate.
    func answers(_ gate: Gate) -> Bool { gate.isPlain && !self.isNear(gate.host) }

    /// Whether a host is this one, or on the same link; names are not looked up for that.
    private func isNear(_ authority: String) -> Bool {
        guard let host = NetworkHost(authority: authority) else { return false }
        switch host {
        case .name(let name): return name == "localhost" || name.hasSuffix(".localhost") || name.hasSuffix(".local")
        case .address(let address, zone: _):
            return address.isLoopback || address.isLinkLocal || self.links.contains { $0.covers(address) }
        }
    }
}

extension NetworkHost {
    /// Reads what an ``Endpoint`` says of itself, without the port.
    init?(authority: String) {
        let host: NetworkHost?
        if authority.hasPrefix("[") {
            let address = authority.dropFirst().prefix { $0 != "]" }
            host = try? NetworkHost(bracketed: Substring(address.replacing("%25", with: "%", maxReplacements: 1)))
        } else {
            host = try? NetworkHost(bare: authority.prefix { $0 != ":" })
        }
        guard let host else { return nil }
        self = host
    }
}

extension AddressPrefix {
    fileprivate func covers(_ address: IPAddress) -> Bool {
        guard address.family == self.address.family, self.length > 0 else { return false }
        return (address.bits ^ self.address.bits) >> UInt128(max(0, address.bitWidth - self.length)) == 0
    }
}

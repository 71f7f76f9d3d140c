// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What was found out about the ways of tunnels, for people.
extension AssessedEvidence {
    /// What the kernel said about the packets that the path's tunnels themselves send, one sentence each.
    var tunnelFacts: [String] {
        self.transports.keys.sorted().flatMap { index -> [String] in
            guard let tunnel = self.byIndex[index] else { return [] }
            let outer = tunnel.outerPackets
            var facts = (outer?.routes ?? []).map { route in
                let fact = self.fact(RepresentativeRoute(to: route.destination, route.answer)).dropFirst("To ".count)
                let subject =
                    switch route.basis {
                    case .endpoint: "The far end of \(tunnel.name), "
                    case .mark: "With the mark of \(tunnel.name), to "
                    case .defaultRoute: "Beside \(tunnel.name), to "
                    }
                return subject + fact
            }
            if outer?.isReceiving == true { facts.append("Packets keep coming in through \(tunnel.name)") }
            return facts
        }
    }

    /// How to tell what cannot be found out.
    var remediesForDoubtfulTunnels: [String] {
        self.doubtfulTunnels.map { index in
            let name = self.name(index)
            return """
                Say where the packets of \(name) itself go, so that the kernel can be asked: put `tunnelEndpoint: [ADDRESS]` \
                into a rule about \(name) in the configuration
                """
        }
    }

    /// What helps a tunnel whose packets find no way although interfaces could carry them; nil for what is no such tunnel.
    func remediesForLostWay(of tunnel: UInt32) -> [String]? {
        guard case .notCarried(let cause)? = self.transports[tunnel] else { return nil }
        switch cause {
        case .interface, .source: return nil
        case .nothingLeft:
            return ["Connect an interface that \(self.name(tunnel)) can travel on, or take the tunnel down"]
        case .route(let destination, nil), .loop(let destination):
            let ip = destination.family == .ipv4 ? "ip" : "ip -6"
            let command = "\(ip) route add \(destination) via GATEWAY dev INTERFACE"
            return ["Add a route to \(destination), the far end of \(self.name(tunnel)): `\(command)`"]
        case .route(let destination, _?):
            let ip = destination.family == .ipv4 ? "ip" : "ip -6"
            return ["Find the route that refuses packets to \(destination): `\(ip) route get \(destination)`"]
        }
    }
}

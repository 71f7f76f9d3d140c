// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

// What was found out about the ways of tunnels, for people.
extension AssessedEvidence {
    /// What the kernel said about the packets that the path's tunnels themselves send, one sentence each.
    var tunnelFacts: [String] {
        self.transports.keys.sorted().flatMap { index -> [String] in
            guard let tunnel = self.byIndex[index] else { return [] }
            let outer = tunnel.tunnelEvidence
            var facts = (outer?.routes ?? []).map { route in
                let fact = self.fact(ReferenceRoute(to: route.destination, route.answer)).dropFirst("To ".count)
                let subject =
                    switch route.basis {
                    case .endpoint: "The far end of \(tunnel.name), "
                    case .mark: "With the mark of \(tunnel.name), to "
                    case .defaultRoute: "Past \(tunnel.name), to "
                    }
                return subject + fact
            }
            if outer?.isSocketElsewhere == true {
                facts.append("No socket in this network namespace uses the port of \(tunnel.name)")
            }
            if outer?.isReceiving == true { facts.append("Packets keep coming in through \(tunnel.name)") }
            return facts
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

extension RouteLookup {
    /// Asks about the outer packets of tunnels.
    ///
    /// - Parameters:
    ///   - flows: The packets.
    ///   - addresses: The addresses they may be sent from.
    /// - Returns: The answers in the same order.
    func answers(toOuter flows: [Flow], from addresses: SourceAddresses) -> [RouteLookupResult] {
        // Multicast needs no route where the interface is given, as with the group of a VXLAN.
        let questions = flows.map(Question.init)
        let replies = self.replies(
            questions.map { $0.flow.destination.isMulticast ? $0.source : $0.verdict },
            questions.map(\.family)
        )
        var answers = zip(replies, flows).map(self.answer)
        self.askWithSources(
            &answers,
            at: answers.indices.filter { self.mayDependOnSource(replies[$0], flows[$0]) },
            of: questions,
            from: addresses
        )
        self.addSources(to: &answers, of: questions)
        // IPv6 has routes from any address, but its tunnels send from one of the machine only (`ip6_tnl_xmit_ctl`).
        for (position, flow) in flows.enumerated() {
            guard case .route(var route) = answers[position], let source = flow.source, source.family == .ipv6,
                !self.isLocal(source, flow)
            else { continue }
            route.source = .none
            answers[position] = .route(route)
        }
        return answers
    }
}

extension InternetAddress {
    /// Whether the address stands for a group of hosts: 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291).
    var isMulticast: Bool { self.family == .ipv4 ? self.bits >> 28 == 0xE : self.bits >> 120 == 0xFF }
}

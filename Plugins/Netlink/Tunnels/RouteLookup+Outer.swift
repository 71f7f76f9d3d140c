// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

extension RouteLookup {
    /// The loopback interface, which every namespace has under this index (LOOPBACK_IFINDEX of the kernel's `flow.h`).
    static let loopback: UInt32 = 1

    /// Asks about the outer packets of tunnels.
    ///
    /// - Parameters:
    ///   - flows: The packets.
    ///   - addresses: The addresses they may be sent from.
    /// - Returns: The answers in the same order; packets to this machine itself go through loopback.
    func answers(toOuter flows: [Flow], from addresses: SourceAddresses) -> [RouteLookupResult] {
        // Multicast needs no route where the interface is given, as with the group of a VXLAN.
        let questions = flows.map(Question.init)
        let replies = self.replies(
            questions.map { $0.flow.destination.isMulticast ? $0.source : $0.verdict },
            questions.map(\.family)
        )
        var answers = zip(flows, replies).map(self.answer)
        self.askWithSources(
            &answers,
            at: answers.indices.filter { self.mayDependOnSource(replies[$0], flows[$0]) },
            of: questions,
            from: addresses
        )
        self.addSources(to: &answers, of: questions)
        return answers
    }

    private func answer(_ flow: Flow, _ reply: Result<RouteReply, KernelError>) -> RouteLookupResult {
        if case .success(let reply) = reply, reply.type == RTN_LOCAL {
            return .route(Route(nextHops: [NextHop(interfaceIndex: Self.loopback)]))
        }
        return self.answer(reply, to: flow)
    }
}

extension InternetAddress {
    /// Whether the address stands for a group of hosts: 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291).
    fileprivate var isMulticast: Bool { self.family == .ipv4 ? self.bits >> 28 == 0xE : self.bits >> 120 == 0xFF }
}

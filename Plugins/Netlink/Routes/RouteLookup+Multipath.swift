// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Which next hop of several the kernel's hash picks, asked where some lose packets.
extension RouteLookup {
    /// So many packets to addresses side by side are asked about.
    private static let flowLimit = 8

    /// Notes which next hops packets take, and that the kernel uses those that it says to pass over.
    ///
    /// RTNH_F_DEAD is made up as the route is shown, and the hash is another matter: when
    /// `ignore_routes_with_linkdown` is set, it stays as it was until the next event of the hop's link
    /// (`fib_rebalance`, net/ipv4/fib_semantics.c).
    func selectNextHops(of answers: inout [RouteLookupResult], _ questions: [Question]) {
        for position in answers.indices {
            guard answers[position].hasSeveralNextHops, case .route(var route) = answers[position],
                route.nextHops.contains(where: { $0.isDown || $0.interfaceIndex == NetworkInterface.loopbackIndex })
            else { continue }
            let flow = questions[position].flow
            let selected = self.hopsTaken(beside: flow).map { hop in
                route.nextHops.firstIndex { $0.interfaceIndex == hop?.interfaceIndex && $0.gateway == hop?.gateway }
            }
            for case let taken? in selected { route.nextHops[taken].isPassedOver = false }
            if let first = selected[0], self.kernel.hashesAddressesOnly(flow.destination.family) {
                route.selectedNextHop = first
            }
            answers[position] = .route(route)
        }
    }

    /// The next hops that a packet takes, which comes first, and those to addresses behind its own; nil where the kernel
    /// does not say.
    private func hopsTaken(beside flow: Flow) -> [NextHop?] {
        let flows = (0..<Self.flowLimit).map { flow.with(\.destination, flow.destination.advanced(by: $0)) }
        var replies = self.replies(flows, matchesTable: false)
        // IPv4 looks up again with the source address that it has chosen, and IPv6 does not.
        if flow.destination.family == .ipv4, flow.source == nil {
            let sent = zip(flows, replies).map { flow, reply in flow.with(\.source, try? reply.get().source) }
            replies = self.replies(sent, matchesTable: false)
        }
        return replies.map { try? $0.get().nextHops.first }
    }
}

extension RouteLookupResult {
    // In place: a route is large.
    fileprivate var hasSeveralNextHops: Bool {
        if case .route(let route) = self { route.nextHops.count > 1 } else { false }
    }
}

extension InternetAddress {
    /// The address so many behind this one.
    fileprivate func advanced(by count: Int) -> InternetAddress {
        self.family == .ipv4
            ? InternetAddress(ipv4: UInt32(truncatingIfNeeded: self.bits) &+ UInt32(count))
            : InternetAddress(ipv6: self.bits &+ UInt128(count))
    }
}

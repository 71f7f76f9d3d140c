// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

extension InterfaceQueries {
    /// Connects a datagram socket, which sends nothing (`udp(7)`), and takes the answer from what the program is told.
    func refusal(of destination: InternetAddress) -> RouteLookupResult {
        guard let socket = FileDescriptor(socketOf: destination.family) else { return .unknown }
        // The port of HTTPS, which policy rules may go by.
        return RouteLookupResult(refusal: socket.connect(to: destination, port: 443))
    }
}

extension RouteLookupResult {
    /// What becomes of packets that a route of the main table refuses, by the error a program gets that connects:
    /// `fib_props` (net/ipv4/fib_semantics.c), `ip6_rt_type_to_error` (net/ipv6/route.c).
    init(refusal error: Int32) {
        self =
            switch error {
            case EINVAL: .rejected(.blackhole)
            case EHOSTUNREACH: .rejected(.unreachable)
            case EACCES: .rejected(.prohibit)
            // The route is a throw, and no other table has one; or there is nothing at all to send from.
            case ENETUNREACH, EADDRNOTAVAIL: .noRoute
            // A table that does not show has a route, or a sandbox forbids to connect.
            default: .unknown
            }
    }
}

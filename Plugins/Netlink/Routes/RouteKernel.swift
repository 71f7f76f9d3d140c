// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Whom route lookups ask: the kernel, or in tests a script of what one answers.
protocol RouteKernel: AnyObject {
    /// Asks for routes (RTM_GETROUTE), many with one system call; the answers come in the same order.
    func routes(_ requests: [NetlinkRequest]) -> [Result<RouteReply, KernelError>]

    /// Asks for a next-hop object.
    func nextHop(_ id: UInt32) -> Result<NextHopReply, KernelError>

    /// Asks for all policy rules of both families.
    func rules() -> Result<[RoutingRule], KernelError>

    /// Asks which source address a program gets that connects.
    func source(of flow: Flow) -> SourceChoice

    /// Whether the addresses of a packet alone decide which next hop of several it takes.
    func hashesAddressesOnly(_ family: AddressFamily) -> Bool
}

extension KernelQueries: RouteKernel {
    func routes(_ requests: [NetlinkRequest]) -> [Result<RouteReply, KernelError>] {
        self.ask(requests, RouteReply.init)
    }

    func nextHop(_ id: UInt32) -> Result<NextHopReply, KernelError> {
        self.ask(.nextHop(id), NextHopReply.init)
    }

    func rules() -> Result<[RoutingRule], KernelError> {
        self.collect(.dumpRules(), into: []) { rules, message in
            if let rule = RoutingRule(message) { rules.append(rule) }
        }
    }

    func source(of flow: Flow) -> SourceChoice {
        DatagramSocket.source(
            to: flow.destination,
            through: flow.interface,
            port: flow.transport?.destinationPort ?? Flow.Transport.https
        )
    }

    func hashesAddressesOnly(_ family: AddressFamily) -> Bool {
        let policy = FileAccess.contents("/proc/sys/net/\(family.rawValue)/fib_multipath_hash_policy", limit: 8)
        // Kernels before 4.12 have no other policy.
        return policy.map { $0.first == "0" } ?? true
    }
}

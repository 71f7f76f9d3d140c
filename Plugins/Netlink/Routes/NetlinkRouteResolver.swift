// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Answers for hosts that a client asks about, over a socket of its own, on the client's thread.
final class NetlinkRouteResolver: RouteResolver {
    private let tools: Guarded<(queries: KernelQueries, lookup: RouteLookup)>

    /// Opens the socket, to ask about packets as another lookup does.
    ///
    /// - Throws: ``NetlinkError`` when the system refuses.
    init(like other: RouteLookup) throws(NetlinkError) {
        let queries = try KernelQueries()
        let lookup = RouteLookup(
            queries,
            packet: other.packet,
            mayConnect: other.mayConnect,
            clock: other.clock,
            ipsec: other.ipsec
        )
        self.tools = Guarded((queries, lookup))
    }

    func route(to destination: InternetAddress, through interface: UInt32?) -> RouteLookupResult {
        self.tools.withLock { tools in
            // No events come here that tell of changed rules.
            tools.lookup.rulesChanged()
            var flow = tools.lookup.packet.with(\.destination, destination)
            if let interface { flow.interface = interface }
            return tools.lookup.route(flow) { family, interface in
                tools.queries.sources(family, of: interface)
            }
        }
    }
}

extension KernelQueries {
    /// Addresses that packets may be sent from.
    fileprivate func sources(_ family: AddressFamily, of interface: UInt32?) -> [InternetAddress] {
        var addresses: [InternetAddress] = []
        _ = self.dumpRepeatedly(.dumpAddresses()) { message in
            guard let update = AddressUpdate(message), update.address.prefix.address.family == family,
                update.address.isUsable, update.address.isGlobal,
                update.interfaceIndex == interface ?? update.interfaceIndex
            else { return }
            let address = update.address.prefix.address
            if !addresses.contains(address) { addresses.append(address) }
        }
        return Array(addresses.prefix(LinkTable.sourceLimit))
    }
}

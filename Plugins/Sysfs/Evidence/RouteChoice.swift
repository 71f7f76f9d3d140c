// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What the kernel would do with packets, as far as its main tables tell: no policy rules, no other tables.
///
/// The rules are the kernel's: the longest prefix, then the lowest metric; routes through interfaces that are down are
/// not in the tables; those without a carrier are, and take the packets unless the system says to ignore them.
struct RouteChoice {
    private let reading: NetworkReading
    private let byName: [String: InterfaceReading]

    init(_ reading: NetworkReading) {
        self.reading = reading
        self.byName = Dictionary(reading.interfaces.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What would happen to a packet.
    func answer(to destination: InternetAddress) -> RouteLookupResult {
        guard let table = self.reading.routes[destination.family] else { return .unknown }
        let candidates = self.candidates(for: destination, in: table)
        guard let best = candidates.first else {
            // Without a default route, but with a part of it: the rest may lie in what was not read.
            return table.isComplete || table.entries.isEmpty ? .noRoute : .unknown
        }
        // One half of the address space shows, the other may lie in what was not read.
        if !table.isComplete, best.destination.length == 0,
            table.entries.contains(where: { (1...8).contains($0.destination.length) })
        {
            return .unknown
        }
        if best.isRefusal { return self.reading.refusals[destination] ?? .unknown }
        let nextHops = candidates.prefix { candidate in
            candidate == best || (best.sharesPackets && candidate.sharesPackets && candidate.isRival(of: best))
        }.compactMap(self.nextHop)
        // An interface that came or was renamed while the tables were read.
        guard let first = nextHops.first else { return .unknown }
        let source = self.source(for: destination.family, through: first)
        return .route(Route(nextHops: nextHops, source: source, metric: best.metric, table: Route.mainTable))
    }

    /// Whether the route of a packet refuses it, which tells neither how nor whether another table may be asked.
    func isRefused(_ destination: InternetAddress) -> Bool {
        guard let table = self.reading.routes[destination.family] else { return false }
        return self.candidates(for: destination, in: table).first?.isRefusal == true
    }

    /// Whether two readings say the same of what becomes of packets, and of the interfaces and addresses they use.
    func decidesLike(_ other: RouteChoice, for destinations: [InternetAddress]) -> Bool {
        destinations.allSatisfy { destination in
            let answer = self.answer(to: destination)
            guard answer == other.answer(to: destination) else { return false }
            guard case .route(let route) = answer else { return true }
            return route.nextHops.allSatisfy {
                self.reading.interface($0.interfaceIndex) == other.reading.interface($0.interfaceIndex)
            }
        }
    }

    /// The default route an interface would use by itself; nil when there is none.
    func defaultRoute(to destination: InternetAddress, through interface: InterfaceReading) -> InterfaceRoute? {
        guard let table = self.reading.routes[destination.family],
            let best = self.candidates(for: destination, in: table, through: interface.name).first,
            !best.isRefusal, interface.hasCarrier != false
        else { return nil }
        return InterfaceRoute(
            family: destination.family,
            gateway: best.gateway,
            metric: best.metric,
            table: Route.mainTable
        )
    }

    /// The routes that cover a destination, the one the kernel prefers first.
    private func candidates(
        for destination: InternetAddress,
        in table: RouteTable,
        through name: String? = nil
    ) -> [RouteEntry] {
        let ignored = self.reading.ignoredWithoutCarrier[destination.family] ?? []
        let candidates = table.entries.enumerated().filter { _, entry in
            guard entry.destination.contains(destination), name == nil || entry.interface == name || entry.isRefusal
            else { return false }
            guard let interface = entry.interface, ignored.contains(interface) else { return true }
            return self.byName[interface]?.hasCarrier != false
        }
        func rank(_ route: (offset: Int, element: RouteEntry)) -> (Int, UInt32, Int) {
            (-route.element.destination.length, route.element.metric, route.offset)
        }
        return candidates.sorted { rank($0) < rank($1) }.map(\.element)
    }

    private func nextHop(_ entry: RouteEntry) -> NextHop? {
        entry.interface.flatMap { self.byName[$0] }.map { interface in
            NextHop(
                interfaceIndex: interface.index,
                gateway: entry.gateway,
                isDown: interface.isUp && interface.hasCarrier == false
            )
        }
    }

    // MARK: The source address

    /// The address the kernel would probably send from; a preferred source of the route itself does not show.
    private func source(for family: AddressFamily, through nextHop: NextHop) -> RouteSource {
        guard let all = self.reading.addresses[family] else { return .unknown }
        let own = (all[nextHop.interfaceIndex] ?? []).filter(Self.canLeave)
        if let chosen = Self.preferred(own, towards: nextHop.gateway) { return .address(chosen) }
        // The kernel takes an address of another interface before it gives up.
        let others = self.reading.interfaces.filter { $0.isUp && $0.index != nextHop.interfaceIndex }
            .flatMap { all[$0.index] ?? [] }.filter(Self.canLeave)
        if let chosen = Self.preferred(others, towards: nil) { return .address(chosen) }
        // A link-local address is better than none, which is for the evaluation to judge.
        let local = (all[nextHop.interfaceIndex] ?? []).first { $0.isUsable && $0.scope == .link }
        return local.map { .address($0.prefix.address) } ?? .none
    }

    private static func canLeave(_ address: InterfaceAddress) -> Bool {
        address.isUsable && (address.isGlobal || (address.scope == .link && address.prefix.address.family == .ipv4))
    }

    private static func preferred(
        _ addresses: [InterfaceAddress],
        towards gateway: InternetAddress?
    ) -> InternetAddress? {
        // The first of equals.
        addresses.min { Self.rank($0, towards: gateway) < Self.rank($1, towards: gateway) }?.prefix.address
    }

    private static func rank(_ address: InterfaceAddress, towards gateway: InternetAddress?) -> Int {
        var rank = 0
        if address.scope == .link { rank += 4 }
        if address.state.contains(.deprecated) { rank += 2 }
        if let gateway, !address.prefix.contains(gateway) { rank += 1 }
        return rank
    }
}

extension RouteEntry {
    /// Whether the kernel would send to either of two routes.
    func isRival(of other: RouteEntry) -> Bool {
        self.destination == other.destination && self.metric == other.metric && !self.isRefusal
    }
}

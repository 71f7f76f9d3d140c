// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// Draws operations that the kernel accepts in the present state of a network.
struct OperationGenerator {
    private var numbers: SeededGenerator
    private var count = 0
    /// Whether there are no tables but the main one, and no rules.
    private let isPlain: Bool

    init(seed: UInt64, isPlain: Bool = false) {
        self.numbers = SeededGenerator(seed: seed)
        self.isPlain = isPlain
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.numbers) < percent }

    mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.numbers) }

    /// One operation; what can happen is drawn first, then to what.
    mutating func next(in model: NetworkModel) -> NetworkOperation {
        self.count += 1
        while true {
            let operation: NetworkOperation? =
                switch Int.random(in: 0..<100, using: &self.numbers) {
                case 0..<8: self.newInterface(in: model)
                case 8..<11: model.interfaces.randomElement(using: &self.numbers).map { .deleteInterface($0) }
                case 11..<22: self.upOrDown(in: model)
                case 22..<34: self.plug(in: model)
                case 34..<36: self.rename(in: model)
                case 36..<51: self.newAddress(in: model)
                case 51..<56: self.lostAddress(in: model)
                case 56..<76: self.newRoute(in: model)
                case 76..<84: model.routes.randomElement(using: &self.numbers).map { .removeRoute($0) }
                case 84..<88: self.newRule(in: model)
                case 88..<90: model.rules.randomElement(using: &self.numbers).map { .removeRule($0) }
                default: self.noise(in: model).map { .noise($0) }
                }
            if let operation { return operation }
        }
    }

    /// An uplink as a network manager leaves it: most often with addresses and default routes.
    mutating func uplink(in model: NetworkModel) -> [NetworkOperation] {
        var model = model
        var operations: [NetworkOperation] = []
        func add(_ operation: NetworkOperation) {
            operations.append(operation)
            operation.apply(to: &model)
        }
        add(.addInterface(.uplink, name: "wan\(model.lastID)", isUp: true, isPlugged: self.chance(90)))
        for family in NetworkModel.Family.allCases where self.chance(family == .ipv4 ? 90 : 60) {
            guard let interface = model.interfaces.last else { break }
            let address = Self.address(family, of: interface, net: 0)
            add(.addAddress(address, interface))
            let route = NetworkModel.Route(
                family: family,
                table: NetworkModel.mainTable,
                destination: .everything,
                metric: interface.id * 100,
                target: .nextHops([NetworkModel.Leg(interface: interface.id, gateway: address.gateway)])
            )
            let isTaken = family == .ipv4 || interface.hasCarrier || !model.ignoresRoutesWithoutCarrier
            if isTaken, self.chance(90) { add(.addRoute(route)) }
        }
        return operations
    }

    // MARK: Links

    private mutating func newInterface(in model: NetworkModel) -> NetworkOperation? {
        guard model.interfaces.count < 6 else { return nil }
        let kind: NetworkModel.Kind = self.chance(65) ? .uplink : self.chance(75) ? .tunnel : .bridge
        guard model.interfaces.count(where: { $0.kind == kind }) < (kind == .uplink ? 4 : 1) else { return nil }
        let prefix =
            switch kind {
            case .uplink: "wan"
            case .tunnel: "tun"
            case .bridge: "br"
            }
        let isPlugged = kind != .uplink || self.chance(80)
        return .addInterface(kind, name: "\(prefix)\(model.lastID)", isUp: self.chance(80), isPlugged: isPlugged)
    }

    private mutating func upOrDown(in model: NetworkModel) -> NetworkOperation? {
        guard let interface = model.interfaces.randomElement(using: &self.numbers) else { return nil }
        // Up more often than down, or walks end where nothing is left to happen.
        if interface.isUp, self.chance(40) { return nil }
        return .setUp(interface, !interface.isUp)
    }

    private mutating func plug(in model: NetworkModel) -> NetworkOperation? {
        let uplinks = model.interfaces.filter { $0.kind == .uplink }
        guard let interface = uplinks.randomElement(using: &self.numbers) else { return nil }
        return .setPlugged(interface, !interface.isPlugged)
    }

    private mutating func rename(in model: NetworkModel) -> NetworkOperation? {
        model.interfaces.filter { !$0.isUp }.randomElement(using: &self.numbers).map { .rename($0, "new\(self.count)") }
    }

    // MARK: Addresses

    private mutating func newAddress(in model: NetworkModel) -> NetworkOperation? {
        guard let interface = model.interfaces.randomElement(using: &self.numbers) else { return nil }
        let address = Self.address(self.chance(55) ? .ipv4 : .ipv6, of: interface, net: self.number(in: 0...1))
        guard !interface.addresses.contains(address), address.family == .ipv4 || interface.isUp else { return nil }
        return .addAddress(address, interface)
    }

    private static func address(
        _ family: NetworkModel.Family,
        of interface: NetworkModel.Interface,
        net: Int
    ) -> NetworkModel.Address {
        let start = family == .ipv4 ? "10.\(interface.id).\(net)." : "2001:db8:\(interface.id):\(net)::"
        return NetworkModel.Address(
            family: family,
            text: "\(start)2/\(family == .ipv4 ? 24 : 64)",
            gateway: "\(start)1"
        )
    }

    private mutating func lostAddress(in model: NetworkModel) -> NetworkOperation? {
        guard let interface = model.interfaces.randomElement(using: &self.numbers),
            let address = interface.addresses.randomElement(using: &self.numbers)
        else { return nil }
        return .removeAddress(address, interface)
    }

    // MARK: Routes and rules

    private static let tables = [NetworkModel.mainTable, 77, 51_820]

    private mutating func newRoute(in model: NetworkModel) -> NetworkOperation? {
        let family: NetworkModel.Family = self.chance(60) ? .ipv4 : .ipv6
        let table =
            self.isPlain || self.chance(75) ? NetworkModel.mainTable : Self.tables[self.number(in: 1...2)]
        guard let target = self.target(family, table: table, in: model),
            let destination = NetworkModel.Destination.allCases.randomElement(using: &self.numbers)
        else { return nil }
        let route = NetworkModel.Route(
            family: family,
            table: table,
            // A route to everything is what there is most of.
            destination: self.chance(70) ? .everything : destination,
            metric: [100, 200, 600][self.number(in: 0...2)],
            target: target
        )
        return model.routes.contains { $0.collides(with: route) } ? nil : .addRoute(route)
    }

    private mutating func target(
        _ family: NetworkModel.Family,
        table: Int,
        in model: NetworkModel
    ) -> NetworkModel.Target? {
        if self.chance(12) {
            return self.chance(20)
                ? .nextRule : NetworkModel.Rejection.allCases.randomElement(using: &self.numbers).map { .rejection($0) }
        }
        let nextHops = model.interfaces.filter(\.isUp).compactMap { self.nextHop(family, $0, table: table, in: model) }
        guard let nextHop = nextHops.randomElement(using: &self.numbers) else { return nil }
        // Several next hops in IPv4 only: of IPv6 routes the kernel tells the next hops in an order that depends on a hash.
        guard family == .ipv4, self.chance(25), let other = nextHops.randomElement(using: &self.numbers),
            other != nextHop
        else {
            return .nextHops([nextHop])
        }
        return .nextHops([nextHop, other])
    }

    private mutating func nextHop(
        _ family: NetworkModel.Family,
        _ interface: NetworkModel.Interface,
        table: Int,
        in model: NetworkModel
    ) -> NetworkModel.Leg? {
        guard interface.kind == .uplink else {
            return interface.kind == .tunnel ? NetworkModel.Leg(interface: interface.id, gateway: nil) : nil
        }
        // The kernel takes a gateway only from a subnet of the interface. An IPv6 one it looks up as packets are: where
        // the route to that subnet is given up for want of a carrier, or a rule leads elsewhere, it refuses.
        let isFound =
            (interface.hasCarrier || !model.ignoresRoutesWithoutCarrier)
            && (table == NetworkModel.mainTable
                || !model.rules.contains { $0.family == .ipv6 && $0.table != NetworkModel.mainTable })
        guard family == .ipv4 || isFound else { return nil }
        return interface.addresses(of: family).randomElement(using: &self.numbers).map {
            NetworkModel.Leg(interface: interface.id, gateway: $0.gateway)
        }
    }

    private mutating func newRule(in model: NetworkModel) -> NetworkOperation? {
        guard !self.isPlain else { return nil }
        let family: NetworkModel.Family = self.chance(60) ? .ipv4 : .ipv6
        let priority = self.number(in: 1...9) * 100
        guard !model.rules.contains(where: { $0.family == family && $0.priority == priority }) else { return nil }
        // The pair of a VPN's rules comes together now and then, as does one without the other.
        if self.chance(40) {
            return .addRule(
                NetworkModel.Rule(
                    family: family,
                    priority: priority,
                    table: NetworkModel.mainTable,
                    suppressesDefaults: true
                )
            )
        }
        return .addRule(
            NetworkModel.Rule(family: family, priority: priority, table: Self.tables[self.number(in: 1...2)])
        )
    }

    // MARK: Noise

    private mutating func noise(in model: NetworkModel) -> NetworkOperation.Noise? {
        let interface = model.interfaces.filter(\.isUp).randomElement(using: &self.numbers)
        switch self.number(in: 0...5) {
        case 0: return .container(number: self.count)
        case 1: return interface.map { .unrelatedRoutes($0) }
        case 2: return interface.map { .attributes($0) }
        case 3:
            guard let interface, let address = interface.addresses.randomElement(using: &self.numbers) else {
                return nil
            }
            return .renewal(address, interface)
        case 4: return interface.map { .neighbour($0) }
        default: return .markedRule(priority: 30_000 + self.count)
        }
    }
}

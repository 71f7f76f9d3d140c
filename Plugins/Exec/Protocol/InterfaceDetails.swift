// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

// The parts of facts: what can be a text or an object.

extension JSONNode {
    /// Takes an age in milliseconds.
    func moment(_ name: String, before time: MonotonicTime) throws(PluginFault) -> MonotonicTime? {
        guard let milliseconds: UInt32 = try self.optionalNumber(name) else { return nil }
        return time + .milliseconds(-Int64(milliseconds))
    }
}

extension InterfaceAddress {
    /// Reads an address: in CIDR notation, or an object with that as `address` and what else is known.
    init(_ node: JSONNode, at time: MonotonicTime) throws(PluginFault) {
        let isObject = if case .object = node { true } else { false }
        let text = try isObject ? node.required("address").text("address") : node.text("addresses")
        guard let prefix = AddressPrefix(text)
        else { throw PluginFault("has '\(text.printable(limit: 60))' as an address, and not as 192.0.2.2/24") }
        let address = prefix.address
        self.init(prefix, scope: address.isLoopback ? .host : address.isLinkLocal ? .link : .global)
        if let word = node["scope"] {
            self.scope = try word.choice(
                "scope",
                among: [("global", .global), ("site", .site), ("link", .link), ("host", .host)]
            )
        }
        let states: [(String, AddressState)] = [
            ("tentative", .tentative), ("optimistic", .optimistic), ("duplicate", .duplicate),
            ("deprecated", .deprecated),
        ]
        for word in try node.list("state") { self.state.insert(try word.choice("state", among: states)) }
        self.addedAt = try node.moment("ageMilliseconds", before: time)
        if try node.optionalTruth("isDynamic") == true { self.dynamicSince = self.addedAt }
    }
}

extension InterfaceRoute {
    /// Reads a default route through an interface.
    init(_ node: JSONNode, at time: MonotonicTime) throws(PluginFault) {
        let gateway = try node.object("defaultRoutes")["gateway"]?.address("gateway")
        let family = try node["family"]?.choice("family", among: AddressFamily.self)
        guard let family = family ?? gateway?.family
        else { throw PluginFault("has a default route with neither 'family' nor 'gateway'") }
        self.init(
            family: family,
            gateway: gateway,
            metric: try node.optionalNumber("metric"),
            table: try node.optionalNumber("table")
        )
        let remaining: UInt32? = try node.optionalNumber("expiresInMilliseconds")
        self.expiresAt = remaining.map { time + .milliseconds(Int64($0)) }
    }
}

extension NextHop {
    /// Reads a next hop; nil where its interface does not exist any more.
    init?(_ node: JSONNode, _ listed: ListedInterfaces) throws(PluginFault) {
        let gateway = try node.object("nextHops")["gateway"]?.address("gateway")
        let isPassedOver = try node.optionalTruth("isPassedOver") ?? false
        guard let index = try listed.index(node.required("interface")) else { return nil }
        self.init(
            interfaceIndex: index,
            gateway: gateway,
            isDown: try node.optionalTruth("isDown") ?? isPassedOver,
            isPassedOver: isPassedOver
        )
        self.weight = try node.optionalNumber("weight")
    }
}

extension InterfaceFacts {
    /// Reads what a plugin states of interfaces that others see.
    static func list(_ node: JSONNode) throws(PluginFault) -> [InterfaceFacts] {
        var list: [InterfaceFacts] = []
        for element in try node.list("facts") {
            let facts = try InterfaceFacts(element)
            guard !list.contains(where: { $0.name == facts.name }) else {
                throw PluginFault("has facts about '\(facts.name)' twice")
            }
            guard list.count < Self.limit
            else { throw PluginFault("has facts about more than \(Self.limit) interfaces") }
            list.append(facts)
        }
        return list
    }

    /// The most interfaces that a plugin may speak of.
    private static let limit = 256

    private init(_ node: JSONNode) throws(PluginFault) {
        let name = try node.object("facts").required("name").text("name")
        guard (1...15).contains(name.utf8.count)
        else { throw PluginFault("has facts about an interface without a name of 1 to 15 bytes") }
        self.init(name.printable(limit: 60))
        self.type = try node["type"]?.choice("type", among: InterfaceType.self)
        self.isExpensive = try node.optionalTruth("isExpensive")
        self.isConstrained = try node.optionalTruth("isConstrained")
        self.label = try node.optionalText("label")?.printable(limit: 100)
        self.pendingStep = try node.reason("pending")
    }
}

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
        var text: String
        if case .object = node {
            text = try node.required("address").text("address")
        } else {
            text = try node.text("addresses")
        }
        guard let prefix = AddressPrefix(text)
        else { throw PluginFault("has '\(text.printable(limit: 60))' as an address, and not as 192.0.2.2/24") }
        let address = prefix.address
        self.init(prefix, scope: address.isLoopback ? .host : address.isLinkLocal ? .link : .global)
        if let word = node["scope"] { self.scope = try word.choice("scope", among: Scope.self).value }
        for word in try node.list("state") { self.state.insert(try word.choice("state", among: State.self).value) }
        self.addedAt = try node.moment("ageMilliseconds", before: time)
        if try node.optionalTruth("isDynamic") == true { self.dynamicSince = self.addedAt }
    }

    private enum Scope: String, CaseIterable {
        case global, site, link, host

        var value: AddressScope {
            switch self {
            case .global: .global
            case .site: .site
            case .link: .link
            case .host: .host
            }
        }
    }

    private enum State: String, CaseIterable {
        case tentative, optimistic, duplicate, deprecated

        var value: AddressState {
            switch self {
            case .tentative: .tentative
            case .optimistic: .optimistic
            case .duplicate: .duplicate
            case .deprecated: .deprecated
            }
        }
    }
}

extension InterfaceRoute {
    /// Reads a default route through an interface.
    init(_ node: JSONNode, at time: MonotonicTime) throws(PluginFault) {
        let gateway = try node.object("defaultRoutes")["gateway"].map { gateway throws(PluginFault) in
            try gateway.address("gateway")
        }
        let family = try node["family"].map { family throws(PluginFault) in
            try family.choice("family", among: Family.self).value
        }
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

    private enum Family: String, CaseIterable {
        case ipv4, ipv6

        var value: AddressFamily { self == .ipv4 ? .ipv4 : .ipv6 }
    }
}

extension NextHop {
    /// Reads a next hop; nil where its interface does not exist any more.
    init?(_ node: JSONNode, _ listed: ListedInterfaces) throws(PluginFault) {
        let gateway = try node.object("nextHops")["gateway"].map { gateway throws(PluginFault) in
            try gateway.address("gateway")
        }
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
        self.type = try node["type"].map { word throws(PluginFault) in
            try word.choice("type", among: InterfaceType.self)
        }
        self.isExpensive = try node.optionalTruth("isExpensive")
        self.isConstrained = try node.optionalTruth("isConstrained")
        self.label = try node.optionalText("label")?.printable(limit: 100)
        switch node["pending"] {
        case nil: break
        case .string(let sentence)?: self.pendingStep = PathReason(.stated, sentence.printable(limit: 300))
        case let step?:
            let code = try step.object("pending").optionalText("code")?.printable(limit: 64)
            let message = try step.required("message").text("message").printable(limit: 300)
            self.pendingStep = PathReason(code.map(PathReason.Code.init(rawValue:)) ?? .stated, message)
        }
    }
}

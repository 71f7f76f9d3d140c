// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension Evidence {
    /// Reads facts in the names of netpath's own JSON.
    ///
    /// - Parameters:
    ///   - time: When the plugin began to read them.
    ///   - node: The facts; what is absent is not known.
    ///   - index: The kernel's index of an interface by its name.
    ///   - missing: The names of the interfaces that this machine does not have, or not any more: they are left out, and so
    ///     is what leads through them.
    /// - Throws: ``PluginFault`` with the first fact that is none.
    init(
        at time: MonotonicTime,
        facts node: JSONNode,
        index: @Sendable (String) -> UInt32?,
        missing: inout [String]
    ) throws(PluginFault) {
        self.init(at: time)
        var listed = ListedInterfaces()
        if node["interfaces"] != nil {
            var interfaces: [NetworkInterface] = []
            let elements = try node.list("interfaces")
            for element in elements {
                var interface = try NetworkInterface(element, at: time)
                // An index is only what the plugin read a moment ago.
                let known = index(interface.name)
                let exists = known != nil && (interface.index == 0 || interface.index == known)
                guard listed.indexes.updateValue(known.flatMap { exists ? $0 : nil }, forKey: interface.name) == nil
                else { throw PluginFault("has two interfaces '\(interface.name.printable(limit: 40))'") }
                if let known, exists {
                    interface.index = known
                    interfaces.append(interface)
                } else {
                    listed.missing.insert(interface.index)
                    missing.append(interface.name)
                }
            }
            // They may name one that comes later, or is not listed.
            let positions = Dictionary(uniqueKeysWithValues: zip(interfaces.map(\.name), interfaces.indices))
            for element in elements where element["underlying"] != nil || element["controller"] != nil {
                let name = try element.required("name").text("name").printable(limit: 60)
                guard let position = positions[name] else { continue }
                interfaces[position].underlyingIndex = try listed.index(element, "underlying", index)
                interfaces[position].controllerIndex = try listed.index(element, "controller", index)
            }
            self.interfaces = interfaces.sorted { $0.index < $1.index }
            guard Set(interfaces.map(\.index)).count == interfaces.count
            else { throw PluginFault("has two interfaces of one index") }
        }
        for element in try node.list("routes") {
            let destination = try element.required("destination").address("destination")
            let answer = try RouteLookupResult(element, listed)
            self.referenceRoutes.append(ReferenceRoute(to: destination, answer))
        }
        for element in try node.list("gateways") {
            let address = try element.required("address").address("address")
            guard let interface = try listed.index(element.required("interface")) else { continue }
            let answers = try element.optionalTruth("answers")
            self.gateways.append(Gateway(address: address, interfaceIndex: interface, answers: answers))
        }
        if node["dnsServers"] != nil {
            self.dnsServers = try node.list("dnsServers").map { element throws(PluginFault) in
                let parts = try element.text("dnsServers").split(separator: "%", maxSplits: 1).map(String.init)
                guard let address = InternetAddress(parts.first ?? "")
                else { throw PluginFault("has a name server that is no address") }
                return DNSServer(address, zone: parts.count == 2 ? parts[1].printable(limit: 15) : nil)
            }
        }
        if node["probes"] != nil {
            self.probes = ProbeRound(
                outcomes: try node.list("probes").map(ProbeOutcome.init),
                isComplete: try node.optionalTruth("isProbingComplete") ?? true
            )
        }
        self.facts = try InterfaceFacts.list(node)
        self.isPartial = try node.optionalTruth("isPartial") ?? false
        self.limitations = try node.texts("limitations", limit: 300, most: 16)
    }
}

extension JSONNode {
    func required(_ name: String) throws(PluginFault) -> JSONNode {
        guard let value = self[name] else { throw PluginFault("lacks '\(name)'") }
        return value
    }
}

/// The interfaces that a plugin lists, by which it names those of routes and gateways.
struct ListedInterfaces {
    /// The kernel's index by name; nil for one that does not exist.
    var indexes: [String: UInt32?] = [:]
    /// The indexes that it told of those that do not exist.
    var missing: Set<UInt32> = []

    /// Takes an interface by its index, or by the name of one that was listed; nil when it does not exist.
    func index(_ node: JSONNode) throws(PluginFault) -> UInt32? {
        guard case .string(let text) = node else {
            let index: UInt32 = try node.number("interface")
            return self.missing.contains(index) ? nil : index
        }
        guard let index = self.indexes[text] else {
            throw PluginFault("has 'interface' as '\(text.printable(limit: 40))', which is none of its interfaces")
        }
        return index
    }

    /// Takes a member that refers to an interface, which need not be listed; nil also where there is none of that name.
    func index(
        _ node: JSONNode,
        _ name: String,
        _ kernelIndex: @Sendable (String) -> UInt32?
    ) throws(PluginFault) -> UInt32? {
        guard let node = node[name] else { return nil }
        guard case .string(let text) = node else { return try node.number(name) }
        return self.indexes[text] ?? kernelIndex(text)
    }
}

extension NetworkInterface {
    /// Reads an interface; its index is 0 where the plugin tells none.
    fileprivate init(_ node: JSONNode, at time: MonotonicTime) throws(PluginFault) {
        let name = try node.object("interfaces").required("name").text("name")
        guard (1...15).contains(name.utf8.count) else {
            throw PluginFault("has an interface without a name of 1 to 15 bytes")
        }
        let type = try node["type"]?.choice("type", among: InterfaceType.self)
        self.init(index: try node.optionalNumber("index") ?? 0, name: name.printable(limit: 60), type: type ?? .other)
        if try node.optionalTruth("isUp") ?? true { self.flags.insert(.up) }
        if type == .loopback { self.flags.insert(.loopback) }
        self.kind = try node.optionalText("kind")?.printable(limit: 64)
        self.driver = try node.optionalText("driver")?.printable(limit: 64)
        let states = OperationalState.allCases.map { ($0.name, $0) }
        self.operationalState = try node["operationalState"]?.choice("operationalState", among: states)
        self.hasCarrier = try node.optionalTruth("hasCarrier")
        self.hasPorts = try node.optionalTruth("hasPorts")
        self.membersWithoutCarrier = try node.texts("membersWithoutCarrier", limit: 60)
        self.hasHadCarrier = try node.optionalTruth("hasHadCarrier")
        self.carrierSince = try node.moment("carrierMilliseconds", before: time)
        self.isHardware = try node.optionalTruth("isHardware")
        self.isRadioBlocked = try node.optionalTruth("isRadioBlocked")
        self.isExpensive = try node.optionalTruth("isExpensive")
        self.expectsConfiguration = try node.optionalTruth("expectsConfiguration")
        self.hadDefaultRoute = try node.optionalTruth("hadDefaultRoute")
        self.failedAuthentications = try node.optionalNumber("failedAuthentications")
        self.configurer = try node["configurer"]?.choice("configurer", among: Configurer.self)
        self.knowsAddresses = node["addresses"] != nil
        self.addresses = try node.list("addresses").map { element throws(PluginFault) in
            try InterfaceAddress(element, at: time)
        }.sorted()
        if node["gateways"] != nil {
            let metric: UInt32? = try node.optionalNumber("metric")
            let table: UInt32? = try node.optionalNumber("table")
            self.defaultRoutes = try node.list("gateways").map { element throws(PluginFault) in
                let gateway = try element.address("gateways")
                return InterfaceRoute(family: gateway.family, gateway: gateway, metric: metric, table: table)
            }
        }
        if node["defaultRoutes"] != nil {
            self.defaultRoutes = try node.list("defaultRoutes").map { route throws(PluginFault) in
                try InterfaceRoute(route, at: time)
            }
        }
    }
}

extension RouteLookupResult {
    fileprivate init(_ node: JSONNode, _ listed: ListedInterfaces) throws(PluginFault) {
        if let rejection = try node.optionalText("rejected") {
            guard let known = RouteRejection(rawValue: rejection) else {
                throw PluginFault(
                    "has 'rejected' as '\(rejection.printable(limit: 40))'; allowed: blackhole, unreachable, prohibit, broadcast"
                )
            }
            self = .rejected(known)
            return
        }
        guard try node.optionalTruth("isKnown") != false else {
            self = .unknown
            return
        }
        let elements = try (node["interface"] == nil ? [] : [node]) + node.list("nextHops")
        let hops = try elements.map { element throws(PluginFault) in try NextHop(element, listed) }
        let nextHops = hops.compactMap { $0 }
        guard nextHops.count == elements.count, !nextHops.isEmpty else {
            // Where packets go now that the interface is gone the plugin has not told yet.
            self = elements.isEmpty ? .noRoute : .unknown
            return
        }
        let source = try node["source"].map { source throws(PluginFault) in
            source == .string("none") ? RouteSource.none : .address(try source.address("source"))
        }
        var route = Route(
            nextHops: nextHops,
            source: source ?? .unknown,
            metric: try node.optionalNumber("metric"),
            table: try node.optionalNumber("table")
        )
        route.encapsulation = try node.optionalText("encapsulation")?.printable(limit: 64)
        self = .route(route)
    }
}

extension ProbeOutcome {
    fileprivate init(_ node: JSONNode) throws(PluginFault) {
        let target = try node.object("probes").required("target").text("target").printable(limit: 300)
        let results: [Result] = [.connected, .refused, .unreachable(errno: 0), .timedOut, .notResolved, .portal]
        var result = try node.required("outcome").choice("outcome", among: results.map { ($0.name, $0) })
        if case .unreachable = result { result = .unreachable(errno: try node.optionalNumber("errno") ?? 0) }
        let microseconds: UInt32? = try node.optionalNumber("rttMicroseconds")
        self.init(target: target, result: result, roundTrip: microseconds.map { .microseconds(Int64($0)) })
    }
}

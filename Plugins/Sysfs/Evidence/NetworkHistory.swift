// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Turns what a pass read into evidence, and remembers what one pass alone cannot know.
struct NetworkHistory {
    /// What is known of an interface from earlier passes.
    private struct Memory {
        var name: String
        var hadCarrier: Bool
        var carrierGains: UInt32?
        var carrierSince: MonotonicTime?
        var sawRouterAdvertisement: Bool
        /// When the addresses with a lifetime came; nil for those of the first pass, which may be of any age.
        var dynamicSince: [AddressPrefix: MonotonicTime?] = [:]
    }

    private let referenceDestinations: [InternetAddress]
    private var memories: [UInt32: Memory]?

    /// Spare interfaces all say the same; that many of them are enough to say it.
    static let spareLimit = 16

    init(referenceDestinations: [InternetAddress]) {
        self.referenceDestinations = referenceDestinations
    }

    /// Takes a reading of a moment.
    ///
    /// - Parameters:
    ///   - reading: What was read.
    ///   - rules: What the configuration says of interfaces.
    ///   - now: The moment.
    /// - Returns: The evidence.
    mutating func observe(
        _ reading: NetworkReading,
        rules: [InterfaceRule] = [],
        at now: MonotonicTime
    ) -> Evidence {
        self.remember(reading, at: now)
        let choice = RouteChoice(reading)
        var evidence = Evidence(at: now)
        evidence.isPartial = true
        evidence.referenceRoutes = self.referenceDestinations.map { ReferenceRoute(to: $0, choice.answer(to: $0)) }
        evidence.dnsServers = reading.dnsServers
        evidence.limitations = reading.limitations
        let selection = self.interfaces(reading, choice, rules: rules, egress: evidence.referenceRoutes)
        evidence.interfaces = selection.interfaces
        evidence.isAbridged = selection.isAbridged
        return evidence
    }

    // MARK: Memory

    private mutating func remember(_ reading: NetworkReading, at now: MonotonicTime) {
        let former = self.memories
        var memories: [UInt32: Memory] = [:]
        memories.reserveCapacity(reading.interfaces.count)
        let routers = Set((reading.routes[.ipv6]?.entries ?? []).filter(\.isAdvertised).compactMap(\.interface))
        for interface in reading.interfaces {
            let old = former?[interface.index].flatMap { $0.name == interface.name ? $0 : nil }
            let hasCarrier = interface.isUp && interface.hasCarrier != false && interface.operationalState != .down
            var memory = Memory(
                name: interface.name,
                hadCarrier: hasCarrier,
                carrierGains: interface.carrierGains,
                sawRouterAdvertisement: interface.isUp
                    && (old?.sawRouterAdvertisement == true || reading.dynamicAddresses[interface.index] != nil
                        || routers.contains(interface.name))
            )
            if hasCarrier {
                // The first pass cannot tell when the carrier came.
                let cameBetween = old.map { !$0.hadCarrier || $0.carrierGains != interface.carrierGains }
                memory.carrierSince = cameBetween ?? (former != nil) ? now : old?.carrierSince
            }
            for prefix in reading.dynamicAddresses[interface.index] ?? [] {
                let known = old?.dynamicSince[prefix] ?? (former == nil ? nil : now)
                memory.dynamicSince.updateValue(known, forKey: prefix)
            }
            memories[interface.index] = memory
        }
        self.memories = memories
    }

    // MARK: Interfaces

    private func interfaces(
        _ reading: NetworkReading,
        _ choice: RouteChoice,
        rules: [InterfaceRule],
        egress: [ReferenceRoute]
    ) -> (interfaces: [NetworkInterface], isAbridged: Bool) {
        let stack = InterfaceStack(reading.interfaces, sessions: reading.sessions)
        var chosen: Set<UInt32> = []
        for case .route(let route) in egress.map(\.answer) { chosen.formUnion(route.nextHops.map(\.interfaceIndex)) }
        // With a carrier, without one, and down.
        var spare: [[UInt32]] = [[], [], []]
        var ignored: [UInt32] = []
        let interfaces = reading.interfaces.map { self.interface($0, reading, stack) }
        for (interface, read) in zip(interfaces, reading.interfaces)
        where !read.isLoopback && interface.controllerIndex == nil {
            switch InterfaceRelevance(of: interface, rules: rules) {
            case .relevant: chosen.insert(interface.index)
            case .ignored: ignored.append(interface.index)
            case .spare:
                let hasCarrier = self.memories?[interface.index]?.hadCarrier == true
                spare[!read.isUp ? 2 : hasCarrier ? 0 : 1].append(interface.index)
            }
        }
        let spares = spare.flatMap { $0 }
        chosen.formUnion(spares.prefix(Self.spareLimit))
        // Only to name them where a client asks for an explanation.
        chosen.formUnion(ignored.prefix(Self.spareLimit))
        for index in chosen { if let parent = stack.parent(of: index) { chosen.insert(parent) } }
        var reported: [NetworkInterface] = []
        for (var interface, read) in zip(interfaces, reading.interfaces) where chosen.contains(interface.index) {
            interface.defaultRoutes = self.defaultRoutes(interface, read, reading, choice)
            reported.append(interface)
        }
        return (reported, spares.count > Self.spareLimit)
    }

    private func interface(
        _ reading: InterfaceReading,
        _ network: NetworkReading,
        _ stack: InterfaceStack
    ) -> NetworkInterface {
        var interface = NetworkInterface(
            index: reading.index,
            name: reading.name,
            type: stack.type(of: reading.index),
            flags: InterfaceFlags(kernelFlags: reading.flags)
        )
        interface.kind = reading.nature.kind
        interface.hardwareAddress = reading.nature.hardwareAddress
        interface.driver = reading.nature.driver
        interface.operationalState = reading.operationalState
        // Without link monitoring (miimon 0) a bond never says that it has lost all of its members.
        let isDeadBond = reading.nature.kind == "bond" && stack.memberHasCarrier(reading.index) == false
        interface.hasCarrier = isDeadBond ? false : reading.hasCarrier
        interface.hasPorts = reading.nature.kind == "bridge" ? stack.memberHasCarrier(reading.index) != nil : nil
        interface.underlyingIndex = stack.parent(of: reading.index)
        interface.controllerIndex = reading.controllerIndex
        interface.isHardware = reading.nature.hasDevice.map { $0 || reading.nature.isWireless }
        interface.isRadioBlocked = reading.isRadioBlocked
        interface.addresses = AddressFamily.allCases.flatMap { network.addresses[$0]?[reading.index] ?? [] }.sorted()
        let memory = self.memories?[reading.index]
        // Whether DHCP runs does not show, so that there is no "no".
        interface.expectsConfiguration = memory?.sawRouterAdvertisement == true ? true : nil
        interface.carrierSince = memory?.carrierSince
        for position in interface.addresses.indices {
            let since = memory?.dynamicSince[interface.addresses[position].prefix]
            interface.addresses[position].dynamicSince = since ?? nil
        }
        return interface
    }

    private func defaultRoutes(
        _ interface: NetworkInterface,
        _ reading: InterfaceReading,
        _ network: NetworkReading,
        _ choice: RouteChoice
    ) -> [InterfaceRoute]? {
        guard interface.controllerIndex == nil,
            interface.isHardware == true || interface.addresses.contains(where: \.isGlobal)
        else { return nil }
        guard interface.flags.contains(.up), interface.addresses.contains(where: \.isGlobal) else { return [] }
        let routes = AddressFamily.allCases.compactMap { family in
            // A reject route hides those of every interface.
            self.referenceDestinations.first { $0.family == family && !choice.isRefused($0) }.flatMap {
                choice.defaultRoute(to: $0, through: reading)
            }
        }
        let isKnown = AddressFamily.allCases.allSatisfy { network.routes[$0] != nil }
        return routes.isEmpty && !isKnown ? nil : routes
    }
}

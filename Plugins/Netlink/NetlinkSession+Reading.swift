// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// What the kernel and sysfs are asked for.
extension NetlinkSession {
    /// Reads links and addresses, asks for everything else anew.
    ///
    /// - Throws: ``NetlinkError`` when the kernel does not answer. What was known before is kept: a table that could
    ///   not be read is not an empty one.
    func readEverything() throws(NetlinkError) {
        var isComplete = false
        for _ in 0..<KernelQueries.dumpAttempts {
            isComplete = try self.readTable()
            if isComplete { break }
            self.context.log(.debug, "links or addresses changed while they were read; they are read again")
        }
        self.interruptedReadings = isComplete ? 0 : self.interruptedReadings + 1
        _ = self.askAbout(self.gateways.known)
        self.readNameServers()
        self.readIPsec()
        self.lookup.rulesChanged()
        self.stale = .all
        let pauses = [
            self.missesGroups ? Self.pollInterval : nil, Self.pause(after: self.interruptedReadings),
        ]
        self.readAgainAt = pauses.compactMap { $0 }.min().map { self.context.clock.now() + $0 }
    }

    /// Reads links and addresses once.
    ///
    /// What an interrupted dump does not show may exist, so that nothing goes for its sake: what is really gone, events
    /// say, which are read afterwards.
    ///
    /// - Returns: Whether the dumps were not interrupted.
    private func readTable() throws(NetlinkError) -> Bool {
        var fresh = LinkTable(rules: self.context.interfaceRules)
        let links = self.queries.dump(.dumpLinks()) { message in
            if let update = LinkUpdate(message) { fresh.apply(update, now: nil) }
        }
        if case .failed(let error) = links { throw NetlinkError("read the links", error.number) }
        let addresses = self.queries.dump(.dumpAddresses()) { message in
            if let update = self.address(message) { fresh.apply(update) }
        }
        if case .failed(let error) = addresses { throw NetlinkError("read the addresses", error.number) }
        let isComplete = links == .complete && addresses == .complete
        fresh.inherit(from: self.table, keepsMissing: !isComplete)
        self.table = fresh
        return isComplete
    }

    /// What is said while links and addresses cannot be read without interruption.
    static let interruption = "links and addresses change while they are read; some may be missing or gone already"

    /// When interrupted readings are tried again: soon, then seldom, as each costs several dumps.
    private static func pause(after interruptions: Int) -> Duration? {
        interruptions > 0 ? min(.milliseconds(250) * (1 << min(interruptions - 1, 5)), .seconds(8)) : nil
    }

    /// What a message says of an address, as seen from now.
    func address(_ message: NetlinkMessage) -> AddressUpdate? {
        var update = AddressUpdate(message)
        update?.completeTime(at: self.context.clock.now())
        return update
    }

    func readOutdated() {
        for index in self.readdressed {
            _ = self.queries.dump(.dumpAddresses(of: index, AF_INET6)) { message in
                if let update = self.address(message) { self.table.apply(update) }
            }
        }
        self.readdressed = []
        for index in self.table.takeOutdated() {
            guard case .success(let update) = self.queries.ask(.link(index), LinkUpdate.init) else { continue }
            self.table.apply(update, now: self.context.clock.now())
            self.stale.insert(interface: index)
        }
    }

    /// Has the links read anew that an answer contradicts, each once until the next report.
    ///
    /// The kernel announces that an interface is down before its routes go (`__dev_notify_flags`), and that a carrier is
    /// lost, or back, after the routes are flagged (`netdev_state_change`, net/core/dev.c): what is asked in between contradicts
    /// itself. Reading a link waits for the lock under which the kernel does all of it.
    ///
    /// - Returns: Whether there are any.
    @inline(__always) func doubtsLinks(of answer: RouteLookupResult, in table: LinkTable) -> Bool {
        guard case .route(let route) = answer else { return false }
        var isAny = false
        for nextHop in route.nextHops where table.contradicts(nextHop) {
            guard self.doubted.insert(nextHop.interfaceIndex).inserted else { continue }
            self.table.outdate(nextHop.interfaceIndex)
            isAny = true
        }
        return isAny
    }

    func readSessions() {
        guard self.table.needsSessions else { return }
        self.table.setSessions(PPPoESessions(parsing: FileAccess.contents("\(self.options.procfs)/pppoe") ?? ""))
    }

    /// Looks who gives an address to interfaces that lack one: no event tells of a client that begins or ends.
    func lookForConfigurers() {
        let now = self.context.clock.now()
        let incomplete = self.table.incomplete(at: now)
        self.lookAgainAt = nil
        guard !incomplete.isEmpty, let list = FileAccess.contents("\(self.options.procfs)/packet") else { return }
        self.lookAgainAt = self.table.setConfigurers(of: incomplete, by: PacketSockets(parsing: list), at: now)
    }

    func classifyNewcomers() {
        for index in self.table.unclassified {
            guard let entry = self.table.entries[index] else { continue }
            let interface = entry.interface
            let isLoopback = interface.flags.contains(.loopback)
            let hints =
                InterfaceHints.areNeeded(kind: interface.kind, isLoopback: isLoopback)
                ? InterfaceHints.read(name: interface.name, index: index, root: self.options.sysfs) : nil
            let classification = InterfaceClassification.classify(
                hardwareType: entry.hardwareType,
                isLoopback: isLoopback,
                kind: interface.kind,
                deviceType: hints?.deviceType,
                isWireless: hints?.isWireless == true,
                hasDevice: hints?.hasDevice == true || entry.hasParentDevice,
                lowers: hints?.lowers ?? [],
                isCellular: { InterfaceHints.deviceType(name: $0, root: self.options.sysfs) == "wwan" }
            )
            self.table.classify(index, classification, hints: hints)
        }
    }

    func askKernel() {
        if self.lookup.askAgainAboutFamilies() { self.stale = .all }
        let stale = self.stale
        self.stale = Staleness()
        if stale.families.isEmpty { return }
        self.tunnels.invalidate()
        self.findZones()
        let asked = self.questions.indices.filter { stale.families.cover(self.questions[$0].family) }
        var interfaces: [UInt32] = []
        var defaultRoutes: [RouteLookup.DefaultRouteQuestion] = []
        for index in self.table.principals where stale.concerns(index) {
            interfaces.append(index)
            guard self.table.mayHaveDefaultRoutes(index) else { continue }
            for family in AddressFamily.allCases where stale.families.cover(family) {
                let position = self.referenceRoutes.indices.first { self.questions[$0].family == family }
                if let position { defaultRoutes.append((index, position)) }
            }
        }
        for family in AddressFamily.allCases where stale.families.cover(family) { self.lookup.beginRound(family) }
        var (answers, routes) = self.lookup.answers(
            to: asked,
            of: self.questions,
            defaultRoutes: defaultRoutes,
            from: { self.table.sources($0, of: $1) }
        )
        for (position, answer) in zip(asked, answers) {
            if position < self.referenceRoutes.count {
                self.referenceRoutes[position].answer = answer
            } else {
                self.nameServers.setRoute(answer, at: position - self.referenceRoutes.count)
            }
        }
        self.askPastRefusals(&routes, of: defaultRoutes)
        var next = 0
        for index in interfaces {
            var found: [InterfaceRoute] = []
            while next < routes.count, defaultRoutes[next].interface == index {
                if let route = routes[next] { found.append(route) }
                next += 1
            }
            self.table.setDefaultRoutes(index, found, replacing: stale.families)
        }
        // Clients ask about these themselves, and no event tells when their routes end.
        if stale.families.contains(.ipv6) {
            _ = self.answers(about: self.watchedHosts.filter { $0.family == .ipv6 }, self.table)
        }
    }

    /// Asks for the default routes that were not found once more, towards an address that no route refuses: a reject route
    /// hides those of every interface.
    private func askPastRefusals(_ routes: inout [InterfaceRoute?], of asked: [RouteLookup.DefaultRouteQuestion]) {
        var again: [(number: Int, question: RouteLookup.DefaultRouteQuestion)] = []
        for (number, (interface, position)) in asked.enumerated() where routes[number] == nil {
            let refused = self.referenceRoutes[position]
            guard case .rejected = refused.answer,
                let other = self.referenceRoutes.firstIndex(where: {
                    $0.destination.family == refused.destination.family && $0.answer.isRouted
                })
            else { continue }
            again.append((number, (interface, other)))
        }
        if again.isEmpty { return }
        let found = self.lookup.answers(
            to: [],
            of: self.questions,
            defaultRoutes: again.map(\.question),
            from: { self.table.sources($0, of: $1) }
        )
        for (position, route) in zip(again, found.defaultRoutes) { routes[position.number] = route }
    }

    /// Asks about the packets of the tunnels that the answers lead into, those about the internet to the interfaces named.
    func askAboutTunnels(_ egress: [UInt32], in table: LinkTable) -> [UInt32: TunnelEvidence] {
        guard self.tunnels.isStale else { return self.tunnels.lastAnswer }
        let ofInternet = egress
        var egress = egress
        for position in self.nameServers.routes.indices { self.nameServers.routes[position].addEgress(to: &egress) }
        // A question that is asked once may be about a host behind any tunnel.
        let possible = self.watchedHosts.isEmpty && !self.context.asksOnce ? [] : table.possibleTunnels
        let hosts = possible.isEmpty ? [] : self.answers(about: self.watchedHosts, table)
        for host in hosts { host.answer.addEgress(to: &egress) }
        let outer = self.tunnels.evidence(
            of: self.context.asksOnce ? possible + egress : egress,
            self.referenceRoutes + self.nameServers.answers + hosts,
            in: table,
            rules: self.context.interfaceRules
        )
        guard self.tunnels.watched != self.watchedForTunnels else { return outer }
        self.watchedForTunnels = self.tunnels.watched
        self.attachFilter()
        // What changed before the filter passed it was not heard.
        self.tunnels.invalidate()
        return self.askAboutTunnels(ofInternet, in: table)
    }

    /// What the kernel does with packets to hosts.
    private func answers(about hosts: Set<InternetAddress>, _ table: LinkTable) -> [ReferenceRoute] {
        if hosts.isEmpty { return [] }
        let hosts = hosts.sorted().map { self.lookup.packet.with(\.destination, $0) }
        return zip(hosts, self.lookup.answers(toOuter: hosts, from: table.sources)).map {
            ReferenceRoute(to: $0.destination, $1)
        }
    }
}

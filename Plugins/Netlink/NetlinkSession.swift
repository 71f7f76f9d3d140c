// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// One run of the monitor, confined to its thread: sockets, the link table and the loop that ties them together.
///
/// Invariants: the filter is attached before a group is joined, and groups are joined before anything is read, so
/// nothing is missed; everything pending is drained before the kernel is asked, so a storm costs one evaluation; an
/// overrun is drained to the end before everything is read anew, because the kernel drops every event until then.
final class NetlinkSession {
    let options: NetlinkMonitor.Options
    let context: MonitorContext
    /// Tells of changes; nil where no client listens.
    let events: NetlinkSocket?
    let queries: KernelQueries
    let lookup: RouteLookup
    let tunnels: TunnelLookup
    let ipsec: IPsecPolicies?
    let ipsecEvents: NetlinkSocket?
    let resolverFile: ResolverFile
    let radioSwitches: RadioSwitches?
    let clockWatcher: FileDescriptor?

    var table = LinkTable()
    var nameServers = NameServers()
    var limitations: [String] = []
    var missesGroups = false
    /// When everything has to be read without being told; nil where the kernel grants all events and the last reading was
    /// not interrupted.
    var readAgainAt: MonotonicTime?
    /// How often in succession everything was read, and not once without interruption.
    var interruptedReadings = 0
    var watchedHosts: Set<InternetAddress> = []
    var watchedForTunnels = TunnelLookup.Watched()
    /// What the kernel's filter passes.
    var interests: EventFilter.Interests?
    var gateways = GatewayWatch()
    var bridges: BridgeLookup
    /// Whether packets are routed to where traffic control could take them off: then it matters when that begins or ends.
    var watchesTrafficControl = false
    /// When the first of the interfaces' default routes ends, where any has a lifetime.
    var defaultRouteExpiry: MonotonicTime?
    /// When it is looked again who gives interfaces their addresses; nil where that does not matter, or is known.
    var lookAgainAt: MonotonicTime?
    /// When the name servers are read again; nil unless descriptors or memory lacked.
    var readServersAgainAt: MonotonicTime?
    /// When the kernel is asked once more about what it said goes; nil when nothing went.
    var confirmAt: MonotonicTime?
    /// The interfaces whose IPv6 addresses have to be read again.
    var readdressed: Set<UInt32> = []
    /// The interfaces whose links were read again since the last report, because an answer contradicted what was known.
    var doubted: Set<UInt32> = []
    /// Whether the last events were only about addresses that go, and when the first and the last of them went.
    var onlyAddressesGo = false
    private var addressesGo: (first: MonotonicTime, last: MonotonicTime)?
    var resynchronizations = 0
    var suspensions = 0
    var timeAsleep = SystemClock.timeAsleep()
    var lastReport: Shared<Evidence>?
    var stale = Staleness.all
    /// When the reading began whose result is reported next.
    var readingSince: MonotonicTime

    /// The questions about the reference addresses, and behind them those about name servers.
    var questions: [RouteLookup.Question]
    /// The kernel's answers about the reference addresses, in the same order.
    var referenceRoutes: [ReferenceRoute]

    /// Opens everything.
    ///
    /// - Throws: ``NetlinkError`` when the system grants no netlink socket. Everything else that is missing becomes a
    ///   limitation, and the monitor runs with what is left.
    init(options: NetlinkMonitor.Options, context: MonitorContext) throws {
        let watches = !context.asksOnce
        self.options = options
        self.context = context
        self.readingSince = context.clock.now()
        self.events = watches ? try NetlinkSocket() : nil
        self.queries = try KernelQueries()
        self.ipsec = IPsecPolicies(procfs: options.procfs, loadsModule: watches)
        self.ipsecEvents = watches && self.ipsec != nil ? Self.eventsOfIPsec() : nil
        let packet = Flow.ofPrograms(to: InternetAddress(ipv6: 0))
        let lookup = RouteLookup(
            self.queries,
            packet: packet,
            mayConnect: options.connectsForSource,
            clock: context.clock,
            ipsec: self.ipsec
        )
        self.lookup = lookup
        self.bridges = BridgeLookup(self.queries)
        self.tunnels = TunnelLookup(self.queries, lookup, referenceDestinations: options.referenceDestinations)
        self.questions = options.referenceDestinations.map {
            RouteLookup.Question(lookup.packet.with(\.destination, $0))
        }
        self.referenceRoutes = options.referenceDestinations.map { ReferenceRoute(to: $0, .unknown) }
        self.resolverFile = ResolverFile(
            path: options.resolvConf,
            runtime: options.runtime,
            isWatched: context.watchesFiles
        )
        self.radioSwitches = watches ? RadioSwitches(path: options.radioSwitches) : nil
        self.clockWatcher = watches ? ClockWatcher.start() : nil
        if let events {
            events.setNonBlocking()
            events.setReceiveBuffer(bytes: options.receiveBuffer)
            self.attachFilter()
            self.joinGroups(events)
        }
        self.noteLimitations()
    }

    // MARK: Opening

    /// Tells the kernel which events to pass, where that has changed.
    func attachFilter() {
        guard let events else { return }
        let isBridged = !self.bridges.inUse.isEmpty
        let interests = EventFilter.Interests(
            destinations: self.watchedHosts.union(self.watchedForTunnels.endpoints).union(
                self.options.referenceDestinations
            )
            .union(self.nameServers.addresses),
            everyRoute: self.watchedForTunnels.isEveryRoute,
            hostRoutes: self.watchedForTunnels.isHostRoute,
            forwarding: self.watchedForTunnels.isForwarding,
            gateways: self.gateways.addresses,
            followsRecovery: !self.gateways.silent.isEmpty,
            hardwareAddresses: isBridged ? Set(self.gateways.hardwareAddresses.values) : nil,
            unknownGateways: self.bridges.interest == .addresses
                ? self.gateways.addresses : isBridged ? self.gateways.unknownAddresses : [],
            followsForwarding: self.bridges.interest >= .entries,
            qdiscs: self.watchesTrafficControl
        )
        guard interests != self.interests else { return }
        let asksOfOthers = self.interests.map { $0.destinations != interests.destinations } ?? false
        self.interests = interests
        if asksOfOthers { self.readIPsec() }
        let error = events.attach(EventFilter(interests))
        if error != 0 {
            // Rather woken for every event than deaf for those that the former filter does not pass.
            events.detachFilter()
            self.context.log(.warning, NetlinkError("filter events in the kernel", error).description)
        }
    }

    func joinGroups(_ events: NetlinkSocket) {
        for group in EventGroup.all where events.join(group.number) != 0 && group.isNeeded {
            self.missesGroups = true
            self.limit(
                "the kernel refuses events about \(group.name); everything is read again every \(Self.pollInterval)"
            )
        }
    }

    func noteLimitations() {
        if !FileAccess.exists("\(self.options.sysfs)/class/net") {
            self.limit("there is no \(self.options.sysfs)/class/net; Wi-Fi and cellular interfaces are not told apart")
        }
        if self.context.watchesFiles, self.resolverFile.fileDescriptor == nil {
            self.limit("the system grants no file watcher; changes of \(self.options.resolvConf) are not noticed")
        }
        for limitation in self.unsupportedFamilies { self.context.log(.warning, limitation) }
        for family in self.lookup.absentFamilies { self.context.log(.info, "this kernel has no \(family.rawValue)") }
    }

    /// What is said of families that the kernel does not answer for, while it does not.
    private var unsupportedFamilies: [String] {
        self.lookup.unsupportedFamilies.map {
            "the kernel does not answer what it would do with \($0.rawValue) packets"
        }
    }

    func limit(_ limitation: String) {
        self.limitations.append(limitation)
        self.context.log(.warning, limitation)
    }

    // MARK: The loop

    /// How often everything is read where the kernel refuses events.
    static let pollInterval: Duration = .seconds(2)

    /// Reads everything, and reports it.
    ///
    /// - Throws: ``NetlinkError`` when the kernel does not answer.
    func begin() throws {
        self.offerResolver()
        try self.readEverything()
        self.report(even: true)
    }

    /// Watches until the mailbox says stop.
    ///
    /// - Throws: ``NetlinkError`` when the event socket does not work any more.
    func run(_ mailbox: Mailbox<MonitorRequests>) throws {
        try self.begin()
        while true {
            let ready = FileDescriptor.poll(
                readable: [
                    mailbox.fileDescriptor, self.events?.fileDescriptor ?? -1,
                    self.resolverFile.fileDescriptor ?? -1, self.clockWatcher?.number ?? -1,
                    self.radioSwitches?.fileDescriptor ?? -1, self.ipsecEvents?.fileDescriptor ?? -1,
                ],
                timeout: self.timeout()
            )
            self.readingSince = self.context.clock.now()
            var isAsked = false
            if ready[0] {
                let requests = mailbox.take()
                if requests.isStopped { return }
                if let watched = requests.watched {
                    self.watchedHosts = watched
                    self.attachFilter()
                    self.stale.insertDecisions()
                }
                isAsked = requests.wantsRefresh
            }
            self.onlyAddressesGo = ready[1]
            if ready[1], let events { try self.drain(events) }
            // From now on: it may take long to read thousands.
            if self.onlyAddressesGo { self.confirmSoon() }
            if (ready[2] && self.resolverFile.drain()) || self.isDue(self.readServersAgainAt) { self.readNameServers() }
            if ready[3], self.hasSlept() {
                self.suspensions += 1
                isAsked = true
            }
            if ready[5], let ipsecEvents { self.drainIPsec(ipsecEvents) }
            if ready[4], self.radioSwitches?.drain() == true { self.table.doubtRadioSwitches() }
            if isAsked || self.isDue(self.readAgainAt) { try self.readEverything() }
            if self.isDue(self.lookup.earliestExpiry) { self.stale.insertDecisions() }
            // Only IPv6 routes have a lifetime.
            if self.isDue(self.defaultRouteExpiry) { self.stale.insertRoute(family: AF_INET6) }
            if self.isDue(self.confirmAt) { self.confirm() }
            self.report(even: isAsked)
        }
    }

    func offerResolver() {
        if let resolver = try? NetlinkRouteResolver(like: self.lookup) { self.context.register(resolver) }
    }

    private func isDue(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= self.context.clock.now() } ?? false }

    func timeout() -> Duration? {
        let deadline = [
            self.readAgainAt, self.confirmAt, self.lookup.earliestExpiry, self.defaultRouteExpiry, self.lookAgainAt,
            self.readServersAgainAt,
        ]
        .lazy.compactMap { $0 }.min()
        return deadline.map { max(.zero, $0 - self.context.clock.now()) }
    }

    /// Whether the machine was suspended; setting the wall clock wakes us too, and means nothing.
    func hasSlept() -> Bool {
        if let clockWatcher {
            _ = clockWatcher.read(limit: 8)
            _ = ClockWatcher.rearm(clockWatcher)
        }
        let asleep = SystemClock.timeAsleep()
        defer { self.timeAsleep = asleep }
        return asleep - self.timeAsleep > .milliseconds(500)
    }

    // MARK: Reporting

    func report(even isUnchanged: Bool) {
        guard let evidence = self.evidence() else {
            self.stale = .all
            self.readingSince = self.context.clock.now()
            return self.report(even: isUnchanged)
        }
        if !self.doubted.isEmpty { self.doubted = [] }
        if !isUnchanged, let lastReport, lastReport.value == evidence {
            // What woke us may still be about a host that a client asks about.
            if !self.watchedHosts.isEmpty { self.context.routesChanged() }
            return
        }
        if !isUnchanged, self.awaitsMoreAddresses(evidence) { return }
        self.context.report(evidence)
        // Afterwards: what is released here keeps no client waiting.
        self.lastReport = Shared(evidence)
    }

    /// Asks what is not known any more, and puts together all that is; nil when the kernel may answer otherwise by now.
    private func evidence() -> Evidence? {
        self.readOutdated()
        self.readSessions()
        self.classifyNewcomers()
        self.askKernel()
        self.lookForConfigurers()
        // Once: it is copied each time that it is read.
        let table = self.table
        let isDoubtful = self.referenceRoutes.indices.contains {
            self.doubtsLinks(of: self.referenceRoutes[$0].answer, in: table)
        }
        if isDoubtful { return nil }
        var egress = self.referenceRoutes.egress
        let outer = self.askAboutTunnels(egress, in: table)
        for packets in outer.values {
            if packets.routes.contains(where: { self.doubtsLinks(of: $0.answer, in: table) }) { return nil }
            egress += packets.interfaces
        }
        var interfaces = table.reportable(including: outer.isEmpty ? egress : egress + outer.keys)
        for position in interfaces.indices {
            let index = interfaces[position].index
            if let packets = outer[index] { interfaces[position].tunnelEvidence = packets }
            if interfaces[position].kind == "bridge", egress.contains(index) {
                interfaces[position].membersWithoutCarrier = table.membersWithoutCarrier(of: index)
            }
        }
        self.findDiversions(of: &interfaces, among: egress, in: table)
        let gateways = self.referenceRoutes.gateways(and: interfaces)
        let outerHops = outer.isEmpty ? [] : self.decidingHops(of: outer).filter { !gateways.contains($0) }
        if self.watch(gateways + outerHops) { return nil }
        let places = self.places(of: gateways + outerHops, in: table)
        for position in interfaces.indices where !places.isEmpty {
            interfaces[position].tunnelEvidence?.note(places)
        }
        self.defaultRouteExpiry = interfaces.indices.lazy
            .compactMap { interfaces[$0].defaultRoutes?.lazy.compactMap(\.expiresAt).min() }.min()
        var evidence = Evidence(at: self.readingSince)
        evidence.referenceRoutes = self.referenceRoutes
        evidence.interfaces = interfaces
        evidence.isAbridged = table.isAbridged
        evidence.gateways = gateways.compactMap { self.known($0, at: places[$0]) }
        evidence.dnsServers = self.nameServers.servers
        evidence.dnsRoutes = self.nameServers.routes
        evidence.limitations = self.limitations + self.unsupportedFamilies
        if self.interruptedReadings > 0 { evidence.limitations.append(Self.interruption) }
        evidence.resynchronizations = self.resynchronizations
        evidence.suspensions = self.suspensions
        return evidence
    }

    /// What is known of a gateway; nil when nothing.
    private func known(_ gateway: Neighbour, at place: BridgePlace?) -> Gateway? {
        let answers = self.gateways.answers(gateway)
        let failedBefore = self.gateways.doubtful.contains(gateway)
        guard answers != nil || failedBefore || place != nil else { return nil }
        var known = Gateway(
            address: gateway.address,
            interfaceIndex: gateway.interfaceIndex,
            answers: answers,
            place: place
        )
        if failedBefore { known.failedBefore = true }
        return known
    }

    /// How long at most the loss of addresses that the kernel does not use is not reported.
    private static let longestWait: Duration = .seconds(1)

    /// Whether only addresses go that change no decision, and not the first: thousands that go are one change.
    private func awaitsMoreAddresses(_ evidence: Evidence) -> Bool {
        guard self.onlyAddressesGo, self.confirmAt != nil,
            evidence.referenceRoutes == self.lastReport?.value.referenceRoutes
        else { return false }
        let now = self.readingSince
        if let addressesGo, now - addressesGo.last < .milliseconds(50), now - addressesGo.first < Self.longestWait {
            self.addressesGo?.last = now
            return true
        }
        self.addressesGo = (now, now)
        return false
    }

    // MARK: Gateways

    /// Has the kernel tell of the gateways that evidence names, and asks what became of new ones before it did.
    ///
    /// - Returns: Whether that may have changed the kernel's choice.
    func watch(_ gateways: [Neighbour]) -> Bool {
        let newcomers = self.gateways.use(gateways)
        guard !newcomers.isEmpty else { return false }
        self.attachFilter()
        return self.askAbout(newcomers)
    }

    /// Asks what became of neighbours.
    ///
    /// - Returns: Whether that may have changed the kernel's choice.
    func askAbout(_ neighbours: [Neighbour]) -> Bool {
        let replies = self.queries.ask(neighbours.map(NetlinkRequest.neighbour), NeighbourUpdate.init)
        let silent = self.gateways.silent
        for case .success(let update) in replies { _ = self.note(update) }
        self.attachFilter()
        return self.gateways.silent != silent
    }

    /// Notes what became of a neighbour.
    ///
    /// - Returns: Whether the kernel may choose another route now, or more is known of a gateway in use.
    func note(_ update: NeighbourUpdate) -> Bool {
        let isOutdated =
            update.answers == false
            && update.isOutdated(on: self.table.entries[update.neighbour.interfaceIndex], now: self.context.clock.now())
        return self.gateways.apply(update, isOutdated: isOutdated)
    }
}

extension [ReferenceRoute] {
    /// The gateways of routes that carry a path, and of the default routes of interfaces, which could.
    fileprivate func gateways(and interfaces: [NetworkInterface]) -> [Neighbour] {
        var gateways: [Neighbour] = []
        func add(_ address: InternetAddress?, of interface: UInt32) {
            guard let address else { return }
            let gateway = Neighbour(interfaceIndex: interface, address: address)
            if !gateways.contains(gateway) { gateways.append(gateway) }
        }
        for position in self.indices {
            for nextHop in self[position].answer.nextHops { add(nextHop.gateway, of: nextHop.interfaceIndex) }
        }
        for position in interfaces.indices {
            for route in interfaces[position].defaultRoutes ?? [] { add(route.gateway, of: interfaces[position].index) }
        }
        return gateways
    }
}

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
    private let options: NetlinkMonitor.Options
    private let context: MonitorContext
    private let mailbox: Mailbox
    private let events: NetlinkSocket
    private let queries: KernelQueries
    private let lookup: RouteLookup
    private let tunnels: TunnelLookup
    private let resolverFile: ResolverFile
    private let radioSwitches: RadioSwitches
    private let clockWatcher: FileDescriptor?

    private var table = LinkTable()
    private var dnsServers: [DNSServer]?
    private var limitations: [String] = []
    private var missesGroups = false
    /// When everything has to be read without being told; nil where the kernel grants all events.
    private var readAgainAt: MonotonicTime?
    private var watchedHosts: Set<IPAddress> = []
    private var watchedForTunnels = TunnelLookup.Watched()
    /// What the kernel's filter passes.
    private var interests: EventFilter.Interests?
    private var gateways = GatewayWatch()
    /// When the first of the interfaces' default routes ends, where any has a lifetime.
    private var defaultRouteExpiry: MonotonicTime?
    /// When the kernel is asked once more about what it said goes; nil when nothing went.
    private var confirmAt: MonotonicTime?
    private var resynchronizations = 0
    private var suspensions = 0
    private var timeAsleep = SystemCalls.timeAsleep()
    private var lastReport: Observation?
    private var stale = Staleness.all

    /// The questions about the representative addresses, and the kernel's answers in the same order.
    private let questions: [RouteLookup.Question]
    private var representatives: [RepresentativeRoute]

    /// Opens everything.
    ///
    /// - Throws: ``NetlinkError`` when the system grants no netlink socket. Everything else that is missing becomes a
    ///   limitation, and the monitor runs with what is left.
    init(options: NetlinkMonitor.Options, mailbox: Mailbox, context: MonitorContext) throws {
        self.options = options
        self.context = context
        self.mailbox = mailbox
        self.events = try NetlinkSocket()
        self.queries = try KernelQueries()
        let packet = Flow.ofPrograms(to: IPAddress(ipv6: 0))
        let lookup = RouteLookup(
            self.queries,
            packet: packet,
            mayConnect: options.connectsForSource,
            clock: context.clock
        )
        self.lookup = lookup
        self.tunnels = TunnelLookup(
            self.queries,
            lookup,
            clock: context.clock,
            representatives: options.representatives
        )
        self.questions = options.representatives.map { RouteLookup.Question(lookup.packet.with(\.destination, $0)) }
        self.representatives = options.representatives.map { RepresentativeRoute(to: $0, .unknown) }
        self.resolverFile = ResolverFile(path: options.resolvConf)
        self.radioSwitches = RadioSwitches(path: options.radioSwitches)
        self.clockWatcher = SystemCalls.clockWatcher()
        self.events.setNonBlocking()
        self.events.setReceiveBuffer(bytes: options.receiveBuffer)
        self.attachFilter()
        self.joinGroups()
        self.noteLimitations()
    }

    // MARK: Opening

    /// Tells the kernel which events to pass, where that has changed.
    private func attachFilter() {
        let interests = EventFilter.Interests(
            destinations: self.watchedHosts.union(self.watchedForTunnels.endpoints).union(self.options.representatives),
            everyRoute: self.watchedForTunnels.isEveryRoute,
            gateways: self.gateways.addresses,
            followsRecovery: !self.gateways.silent.isEmpty
        )
        guard interests != self.interests else { return }
        self.interests = interests
        let error = self.events.attach(EventFilter(interests))
        if error != 0 {
            // Rather woken for every event than deaf for those that the former filter does not pass.
            self.events.detachFilter()
            self.context.log(.warning, NetlinkError("filter events in the kernel", error).description)
        }
    }

    private func joinGroups() {
        for group in EventGroup.all where self.events.join(group.number) != 0 && group.isNeeded {
            self.missesGroups = true
            self.limit(
                "the kernel refuses events about \(group.name); everything is read again every \(Self.pollInterval)"
            )
        }
    }

    private func noteLimitations() {
        if !FileAccess.exists("\(self.options.sysfs)/class/net") {
            self.limit("there is no \(self.options.sysfs)/class/net; Wi-Fi and cellular interfaces are not told apart")
        }
        if self.resolverFile.fileDescriptor == nil {
            self.limit("the system grants no file watcher; changes of \(self.options.resolvConf) are not noticed")
        }
        for family in self.lookup.unsupportedFamilies {
            self.limit("the kernel does not answer what it would do with \(family.rawValue) packets")
        }
        for family in self.lookup.absentFamilies { self.context.log(.info, "this kernel has no \(family.rawValue)") }
    }

    private func limit(_ limitation: String) {
        self.limitations.append(limitation)
        self.context.log(.warning, limitation)
    }

    // MARK: The loop

    /// How often everything is read where the kernel refuses events.
    private static let pollInterval: Duration = .seconds(2)

    /// Watches until the mailbox says stop.
    ///
    /// - Throws: ``NetlinkError`` when the event socket does not work any more.
    func run() throws {
        self.offerResolver()
        try self.readEverything()
        self.report(even: true)
        while true {
            let ready = SystemCalls.poll(
                [
                    self.mailbox.fileDescriptor, self.events.fileDescriptor,
                    self.resolverFile.fileDescriptor ?? -1, self.clockWatcher?.number ?? -1,
                    self.radioSwitches.fileDescriptor ?? -1,
                ],
                timeout: self.timeout()
            )
            var isAsked = false
            if ready[0] {
                let requests = self.mailbox.take()
                if requests.stop { return }
                if let watched = requests.watched {
                    self.watchedHosts = watched
                    self.attachFilter()
                }
                isAsked = requests.refresh
            }
            if ready[1] { try self.drainEvents() }
            if ready[2], self.resolverFile.drain() { self.dnsServers = self.resolverFile.servers() }
            if ready[3], self.hasSlept() {
                self.suspensions += 1
                isAsked = true
            }
            if ready[4], self.radioSwitches.drain() { self.table.doubtRadioSwitches() }
            if isAsked || self.readAgainAt.map({ $0 <= self.context.clock.now() }) == true { try self.readEverything() }
            if let expiry = self.lookup.earliestExpiry, expiry <= self.context.clock.now() {
                self.stale.insertDecisions()
            }
            if let defaultRouteExpiry, defaultRouteExpiry <= self.context.clock.now() {
                // Only IPv6 routes have a lifetime.
                self.stale.insertRoute(family: UInt8(AF_INET6))
            }
            if let confirmAt, confirmAt <= self.context.clock.now() { self.confirm() }
            self.report(even: isAsked)
        }
    }

    private func offerResolver() {
        let resolver = try? NetlinkRouteResolver(
            packet: self.lookup.packet,
            mayConnect: self.options.connectsForSource,
            clock: self.context.clock
        )
        if let resolver { self.context.offer(resolver) }
    }

    private func timeout() -> Duration? {
        // The kernel rounds lifetimes to hundredths of a second.
        let expiries = [self.lookup.earliestExpiry, self.defaultRouteExpiry].lazy.compactMap { $0 }
        let expiry = expiries.min().map { $0 + .milliseconds(10) }
        let deadline = [self.readAgainAt, self.confirmAt, expiry].lazy.compactMap { $0 }.min()
        return deadline.map { max(.zero, $0 - self.context.clock.now()) }
    }

    /// Whether the machine was suspended; setting the wall clock wakes us too, and means nothing.
    private func hasSlept() -> Bool {
        if let clockWatcher {
            _ = clockWatcher.read(limit: 8)
            _ = SystemCalls.rearm(clockWatcher)
        }
        let asleep = SystemCalls.timeAsleep()
        defer { self.timeAsleep = asleep }
        return asleep - self.timeAsleep > .milliseconds(500)
    }

    // MARK: Events

    /// How many datagrams are read before what they changed is reported: a storm that never ends must not silence us.
    private static let drainLimit = 4096

    private func drainEvents() throws {
        var wasOverrun = false
        var count = 0
        drain: while wasOverrun || count < Self.drainLimit {
            switch self.events.receiveBatch(self.apply) {
            case .messages(let some):
                count += some
                if some < NetlinkSocket.batchSize { break drain }
            case .overrun: wasOverrun = true
            case .empty: break drain
            case .failed(let error): throw NetlinkError("read events", error)
            }
        }
        if wasOverrun {
            self.resynchronizations += 1
            self.context.log(.info, "events were lost in a storm; everything is read again")
            try self.readEverything()
        }
    }

    private func apply(_ message: NetlinkMessage) {
        switch message.type {
        case RTM_NEWLINK:
            guard let update = LinkUpdate(message) else {
                // Such a message lacks what it takes to update the table.
                if let index = LinkUpdate.indexOfProtocolSettings(message) { self.table.outdate(index) }
                return
            }
            self.table.apply(update, now: self.context.clock.now())
            self.stale.insert(interface: update.index)
            if !update.flags.contains(.up) { self.confirmSoon() }
        case RTM_DELLINK:
            guard let update = LinkUpdate(message) else { return }
            self.table.removeLink(update.index)
            self.tunnels.forget(update.index)
            self.stale.insert(interface: update.index)
            self.confirmSoon()
        case RTM_NEWADDR:
            guard let update = AddressUpdate(message) else { return }
            self.table.apply(update)
            self.stale.insert(interface: update.interfaceIndex)
        case RTM_DELADDR:
            guard let update = AddressUpdate(message) else { return }
            self.table.remove(update)
            // IPv4 routes that used the address go without a word, also those through other interfaces.
            self.stale = .all
            self.confirmSoon()
        case RTM_NEWROUTE, RTM_NEWRULE:
            if message.type == RTM_NEWRULE { self.lookup.rulesChanged() }
            self.stale.insertRoute(family: message.field(at: 0, as: UInt8.self))
        case RTM_DELROUTE, RTM_DELRULE:
            if message.type == RTM_DELRULE { self.lookup.rulesChanged() }
            self.stale.insertRoute(family: message.field(at: 0, as: UInt8.self))
            self.confirmSoon()
        case RTM_NEWNEIGH, RTM_DELNEIGH:
            guard let update = NeighbourUpdate(message), self.gateways.apply(update) else { return }
            // Routes of one family may lead through gateways of the other.
            self.stale = .all
            self.attachFilter()
        case RTM_NEWNETCONF:
            self.stale.insertRoute(family: message.field(at: 0, as: UInt8.self))
        case RTM_NEWPREFIX, RTM_NEWNDUSEROPT:
            // A router advertisement, which can change the lifetime of a route without a word about the route.
            self.stale.insertRoute(family: UInt8(AF_INET6))
        case RTM_NEWNEXTHOP:
            // Routes of one family may lead through next hops of the other.
            self.stale = .all
        case RTM_DELNEXTHOP:
            self.stale = .all
            self.confirmSoon()
        default:
            return
        }
    }

    /// Makes sure that what goes is not taken for still there.
    ///
    /// The kernel announces before it acts (fib_table_delete, __inet_del_ifa, __dev_notify_flags), and who asks at
    /// once can be faster: in C, about one removed route in 1,000 still answered.
    private func confirmSoon() {
        self.confirmAt = self.context.clock.now() + .milliseconds(5)
    }

    private func confirm() {
        self.confirmAt = nil
        // Waits for the lock under which the kernel changes the network, and so for the end of the change.
        _ = self.queries.ask(.link(1), LinkUpdate.init)
        self.stale = .all
    }

    // MARK: Reading

    /// How often an interrupted dump is repeated before its result is taken as it is.
    private static let dumpAttempts = 5

    /// Reads links and addresses, asks for everything else anew.
    ///
    /// - Throws: ``NetlinkError`` when the kernel does not answer. What was known before is kept: a table that could
    ///   not be read is not an empty one.
    private func readEverything() throws(NetlinkError) {
        let rules = self.context.interfaceRules
        var fresh = LinkTable(rules: rules)
        for _ in 0..<Self.dumpAttempts {
            fresh = LinkTable(rules: rules)
            let links = self.queries.dump(.dumpLinks()) { message in
                if let update = LinkUpdate(message) { fresh.apply(update, now: nil) }
            }
            if case .failed(let error) = links { throw NetlinkError("read the links", error.number) }
            let addresses = self.queries.dump(.dumpAddresses()) { message in
                if let update = AddressUpdate(message) { fresh.apply(update) }
            }
            if case .failed(let error) = addresses { throw NetlinkError("read the addresses", error.number) }
            if links == .complete, addresses == .complete { break }
            self.context.log(.debug, "links or addresses changed while they were read; they are read again")
        }
        fresh.inherit(from: self.table)
        self.table = fresh
        _ = self.askAbout(self.gateways.used.union(self.gateways.silent))
        self.dnsServers = self.resolverFile.servers()
        self.lookup.rulesChanged()
        self.stale = .all
        self.readAgainAt = self.missesGroups ? self.context.clock.now() + Self.pollInterval : nil
    }

    private func readOutdated() {
        for index in self.table.takeOutdated() {
            guard case .success(let update) = self.queries.ask(.link(index), LinkUpdate.init) else { continue }
            self.table.apply(update, now: self.context.clock.now())
            self.stale.insert(interface: index)
        }
    }

    private func readSessions() {
        guard self.table.needsSessions else { return }
        self.table.setSessions(PPPoESessions(parsing: FileAccess.contents("\(self.options.procfs)/pppoe") ?? ""))
    }

    private func classifyNewcomers() {
        for index in self.table.unclassified {
            guard let entry = self.table.entries[index] else { continue }
            let interface = entry.interface
            let isLoopback = interface.flags.contains(.loopback)
            let hints =
                Classification.needsHints(kind: interface.kind, isLoopback: isLoopback)
                ? InterfaceHints.read(name: interface.name, index: index, root: self.options.sysfs) : nil
            let classification = Classification.classify(
                hardwareType: entry.hardwareType,
                isLoopback: isLoopback,
                kind: interface.kind,
                hasParentDevice: entry.hasParentDevice,
                hints: hints,
                isCellular: { self.isCellular($0) }
            )
            self.table.classify(index, classification, hints: hints)
        }
    }

    private func isCellular(_ name: String) -> Bool {
        guard let octets = FileAccess.contents("\(self.options.sysfs)/class/net/\(name)/uevent") else { return false }
        return octets.split(separator: "\n").contains("DEVTYPE=wwan")
    }

    private func askKernel() {
        let stale = self.stale
        self.stale = Staleness()
        if stale.families.isEmpty { return }
        self.tunnels.invalidate()
        let asked = self.questions.indices.filter { stale.families.cover(self.questions[$0].family) }
        var interfaces: [UInt32] = []
        var defaultRoutes: [RouteLookup.DefaultRouteQuestion] = []
        for index in self.table.principals where stale.concerns(index) {
            interfaces.append(index)
            guard self.table.mayHaveDefaultRoutes(index) else { continue }
            for family in AddressFamily.allCases where stale.families.cover(family) {
                let position = self.questions.indices.first { self.questions[$0].family == family }
                if let position { defaultRoutes.append((index, position)) }
            }
        }
        for family in AddressFamily.allCases where stale.families.cover(family) { self.lookup.beginRound(family) }
        let (answers, routes) = self.lookup.answers(
            to: asked,
            of: self.questions,
            defaultRoutes: defaultRoutes,
            from: self.table.sources
        )
        for (position, answer) in zip(asked, answers) { self.representatives[position].answer = answer }
        var next = 0
        for index in interfaces {
            var found: [InterfaceRoute] = []
            while next < routes.count, defaultRoutes[next].interface == index {
                if let route = routes[next] { found.append(route) }
                next += 1
            }
            self.table.setDefaultRoutes(index, found, replacing: stale.families)
        }
    }

    /// Asks about the packets of the tunnels that the answers lead into.
    private func askAboutTunnels() -> [UInt32: OuterPackets] {
        let outer = self.tunnels.outerPackets(self.representatives, in: self.table, rules: self.context.interfaceRules)
        guard self.tunnels.watched != self.watchedForTunnels else { return outer }
        self.watchedForTunnels = self.tunnels.watched
        self.attachFilter()
        // What changed before the filter passed it was not heard.
        self.tunnels.invalidate()
        return self.tunnels.outerPackets(self.representatives, in: self.table, rules: self.context.interfaceRules)
    }

    // MARK: Reporting

    private func report(even isUnchanged: Bool) {
        self.readOutdated()
        self.readSessions()
        self.classifyNewcomers()
        self.askKernel()
        let outer = self.askAboutTunnels()
        var observation = Observation(at: self.context.clock.now())
        var egress: [UInt32] = []
        for position in self.representatives.indices {
            guard case .route(let route) = self.representatives[position].answer else { continue }
            for leg in route.legs { egress.append(leg.interfaceIndex) }
        }
        for packets in outer.values { egress += packets.interfaces }
        var interfaces = self.table.reportable(including: egress)
        for position in interfaces.indices where !outer.isEmpty {
            interfaces[position].outerPackets = outer[interfaces[position].index]
        }
        observation.interfaces = interfaces
        observation.isAbridged = self.table.isAbridged
        observation.representatives = self.representatives
        observation.dnsServers = self.dnsServers
        observation.limitations = self.limitations
        observation.resynchronizations = self.resynchronizations
        observation.suspensions = self.suspensions
        self.defaultRouteExpiry = observation.interfaces?.lazy
            .compactMap { $0.defaultRoutes?.lazy.compactMap(\.expiresAt).min() }.min()
        if !isUnchanged, let lastReport = self.lastReport, lastReport == observation {
            // What woke us may still be about a host that somebody asks about.
            if !self.watchedHosts.isEmpty { self.context.routesChanged() }
            return
        }
        self.context.report(observation)
        // Afterwards: what is released here keeps nobody waiting.
        self.lastReport = observation
        self.watchGateways(of: observation)
    }

    // MARK: Gateways

    /// Has the kernel tell of the gateways that evidence names, and asks what became of new ones before it did.
    private func watchGateways(of observation: Observation) {
        let newcomers = self.gateways.use(observation.gateways)
        self.attachFilter()
        guard self.askAbout(newcomers) else { return }
        self.stale = .all
        self.report(even: false)
    }

    /// Asks what became of neighbours.
    ///
    /// - Returns: Whether that may have changed the kernel's choice.
    private func askAbout(_ neighbours: Set<Neighbour>) -> Bool {
        let replies = self.queries.ask(neighbours.map(NetlinkRequest.neighbour), NeighbourUpdate.init)
        var isNews = false
        for (neighbour, reply) in zip(neighbours, replies) {
            // Without an entry nobody has asked for it.
            let update =
                (try? reply.get()) ?? NeighbourUpdate(neighbour: neighbour, hasFailed: false, isRouter: false)
            guard update.hasFailed != self.gateways.silent.contains(neighbour) else { continue }
            if self.gateways.apply(update) { isNews = true }
        }
        self.attachFilter()
        return isNews
    }
}

extension Observation {
    /// The gateways of routes that carry a path or could.
    fileprivate var gateways: Set<Neighbour> {
        var gateways: Set<Neighbour> = []
        for case .route(let route) in self.representatives.map(\.answer) {
            for leg in route.legs {
                guard let address = leg.gateway else { continue }
                gateways.insert(Neighbour(interfaceIndex: leg.interfaceIndex, address: address))
            }
        }
        for interface in self.interfaces ?? [] {
            for case let address? in interface.defaultRoutes?.map(\.gateway) ?? [] {
                gateways.insert(Neighbour(interfaceIndex: interface.index, address: address))
            }
        }
        return gateways
    }
}

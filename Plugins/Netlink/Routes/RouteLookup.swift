// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Asks the kernel what it would do with packets: the forwarding decision itself, not the tables it is made from.
///
/// One lookup takes about 4 µs whatever the size of the tables, and honours policy rules, VPN tables, metrics,
/// multipath and next-hop objects. The answer is that for a TCP connection to the port of HTTPS of a program that runs
/// as the monitor does: the same user, and a control group with the same settings of sockets.
///
/// The kernel asks itself twice for a program that connects without a source address, and so do the extensions here:
/// see ``RouteLookup/confirm(_:of:)`` and ``RouteLookup/askWithSources(_:at:of:from:)``.
final class RouteLookup {
    let kernel: any RouteKernel
    let clock: any MonotonicClock
    /// Whether a socket may be connected to learn the source address that programs get.
    let mayConnect: Bool
    /// What keeps packets that have a route; nil where the kernel does not tell.
    let ipsec: IPsecPolicies?
    /// A packet of a program here, to any destination.
    let packet: Flow
    /// Families of which the kernel does not tell what it would do.
    private var unsupported: Set<AddressFamily> = []
    /// The families this kernel has none of.
    private(set) var absentFamilies: [AddressFamily] = []
    /// When the first of the answering routes of a family ends, where any has a lifetime.
    private var expiries: [AddressFamily: MonotonicTime] = [:]
    /// The policy rules; nil until they are needed, and after they changed.
    var knownRules: [RoutingRule]?
    /// Whether the last answers for the reference destinations of IPv6 depended on the source address.
    var dependsOnSource = false

    /// Finds out what the kernel can answer.
    ///
    /// - Parameters:
    ///   - kernel: Whom to ask.
    ///   - packet: A packet of a program here.
    ///   - mayConnect: Whether a socket may be connected to learn the source address that programs get.
    ///   - clock: The clock of expiries.
    ///   - ipsec: The policies of IPsec.
    init(
        _ kernel: any RouteKernel,
        packet: Flow,
        mayConnect: Bool,
        clock: any MonotonicClock,
        ipsec: IPsecPolicies? = nil
    ) {
        self.ipsec = ipsec
        self.kernel = kernel
        self.clock = clock
        self.mayConnect = mayConnect
        var (packet, found) = (packet, Self.errors(kernel, packet))
        if found.values.contains(where: Self.isMisunderstanding) {
            let plain = packet.with(\.userID, nil).with(\.transport, nil)
            let errors = Self.errors(kernel, plain)
            if errors != found { (packet, found) = (plain, errors) }
        }
        self.packet = packet
        self.note(found)
    }

    /// Asks again which families the kernel answers for, while there is one that it does not answer for.
    ///
    /// - Returns: Whether that has changed.
    func askAgainAboutFamilies() -> Bool {
        if self.unsupported.isEmpty { return false }
        let before = self.unsupported
        self.note(Self.errors(self.kernel, self.packet))
        return self.unsupported != before
    }

    private func note(_ errors: [AddressFamily: KernelError]) {
        // A kernel that answers for one family understands the question, and then has none of the other.
        let isUnderstood = AddressFamily.allCases.contains { errors[$0].map(Self.isMisunderstanding) != true }
        let absent = AddressFamily.allCases.filter {
            isUnderstood && errors[$0].map(LookupFailure.init) == .noSuchFamily
        }
        self.absentFamilies = absent
        self.unsupported = Set(errors.filter { !absent.contains($0.key) && Self.isMisunderstanding($0.value) }.keys)
    }

    /// What a kernel says about packets that came in through an interface that does not exist.
    ///
    /// No route or rule has a say in that: one that understands the question answers ENODEV before it looks at any
    /// (`inet_rtm_getroute`, net/ipv4/route.c; `inet6_rtm_getroute`, net/ipv6/route.c). To all others a blackhole
    /// answers EINVAL, and so does a kernel that does not know FIB_MATCH or one of the attributes.
    private static func errors(_ kernel: any RouteKernel, _ packet: Flow) -> [AddressFamily: KernelError] {
        let destinations = [InternetAddress(ipv4: 0x7F00_0001), InternetAddress(ipv6: 1)]
        let requests = destinations.map { destination in
            var request = NetlinkRequest.route(
                packet.with(\.destination, destination).with(\.interface, nil),
                matchesTable: true
            )
            request.append(Int(RTA_IIF.rawValue), UInt32(Int32.max))
            return request
        }
        var errors: [AddressFamily: KernelError] = [:]
        for (address, reply) in zip(destinations, kernel.routes(requests)) {
            if case .failure(let error) = reply { errors[address.family] = error }
        }
        return errors
    }

    /// Whether an error to that question means that the kernel does not answer such questions.
    private static func isMisunderstanding(_ error: KernelError) -> Bool {
        error == .invalid || [.cannotTell, .noSuchFamily].contains(LookupFailure(error))
    }

    /// The families the kernel does not answer for.
    var unsupportedFamilies: [AddressFamily] { AddressFamily.allCases.filter(self.unsupported.contains) }

    // MARK: Expiry

    /// When the first of the answering routes with a lifetime ends; the kernel announces that up to 30 s late.
    var earliestExpiry: MonotonicTime? { self.expiries.isEmpty ? nil : self.expiries.values.min() }

    /// Forgets the expiry of earlier answers of a family, before asking anew.
    ///
    /// One that is due stays until it has passed: the kernel shows the last hundredth of a second as no lifetime.
    func beginRound(_ family: AddressFamily) {
        guard let expiry = self.expiries[family] else { return }
        let left = expiry - self.clock.now()
        if left <= .zero || left > .milliseconds(50) { self.expiries[family] = nil }
    }

    func noteExpiry(_ reply: RouteReply, _ family: AddressFamily) {
        guard let expiresIn = reply.expiresIn else { return }
        let expiry = self.clock.now() + expiresIn
        self.expiries[family] = min(self.expiries[family] ?? expiry, expiry)
    }

    // MARK: Asking

    /// The requests about one packet, which are the same after every event; a class, because it is passed about much.
    final class Question {
        let flow: Flow
        let verdict: NetlinkRequest
        let source: NetlinkRequest
        /// For the default route of an interface, towards the destination.
        let throughInterface: NetlinkRequest

        var family: AddressFamily { self.flow.destination.family }

        init(_ flow: Flow) {
            self.flow = flow
            self.verdict = .route(flow, matchesTable: true)
            self.source = .route(flow, matchesTable: false)
            self.throughInterface = .route(flow.with(\.interface, 0), matchesTable: true)
        }
    }

    /// The addresses that packets of a family may be sent from, of one interface or of all; asked for only when an
    /// answer depends on them.
    typealias SourceAddresses = (AddressFamily, UInt32?) -> [InternetAddress]

    /// Asks about one packet.
    func route(_ flow: Flow, from sources: SourceAddresses) -> RouteLookupResult {
        self.answers(to: [0], of: [Question(flow)], defaultRoutes: [], from: sources).answers[0]
    }

    /// The default route an interface would use, towards the destination of the question at a position.
    typealias DefaultRouteQuestion = (interface: UInt32, position: Int)

    /// Asks about packets, and for default routes of interfaces, with as few system calls as possible: they are most of
    /// what an event costs.
    ///
    /// - Parameters:
    ///   - asked: The positions of the packets to ask about.
    ///   - questions: All there are.
    ///   - defaultRoutes: What to ask about interfaces.
    ///   - sources: The addresses to send from.
    /// - Returns: The answers in the order of the positions, and the default routes, nil where there is none.
    func answers(
        to asked: [Int],
        of questions: [Question],
        defaultRoutes: [DefaultRouteQuestion],
        from sources: SourceAddresses
    ) -> (answers: [RouteLookupResult], defaultRoutes: [InterfaceRoute?]) {
        var requests: [NetlinkRequest] = []
        requests.reserveCapacity(asked.count + defaultRoutes.count)
        for position in asked { requests.append(questions[position].verdict) }
        for (interface, position) in defaultRoutes {
            requests.append(questions[position].throughInterface.asking(about: interface))
        }
        let replies = self.replies(requests, (asked + defaultRoutes.map(\.position)).map { questions[$0].family })
        let asking = asked.map { questions[$0] }
        var answers = asking.indices.map { self.answer(replies[$0], to: asking[$0].flow) }
        // Asked only now, because most of what is lost is lost for all families.
        self.addSources(to: &answers, of: asking)
        self.confirm(&answers, of: asking)
        let failed = answers.indices.filter { self.mayDependOnSource(replies[$0], asking[$0].flow) }
        self.askWithSources(&answers, at: failed, of: asking, from: sources)
        self.selectNextHops(of: &answers, asking)
        self.checkSources(of: &answers, asking)
        if asking.contains(where: { $0.family == .ipv6 }) {
            self.dependsOnSource = failed.contains { answers[$0].isRouted }
        }
        for index in answers.indices where asking[index].flow.interface == nil {
            guard case .noRoute = answers[index], let rules, RoutingRule.refuses(asking[index].flow, among: rules)
            else { continue }
            answers[index] = .rejected(.unreachable)
        }
        self.ipsec?.judge(&answers, of: asking)
        let routes = defaultRoutes.indices.map { position in
            let (interface, question) = defaultRoutes[position]
            let reply = replies[asked.count + position]
            return self.defaultRoute(of: interface, questions[question].family, reply)
                ?? self.defaultRouteWithSource(of: interface, questions[question].flow, from: sources)
        }
        return (answers, routes)
    }

    /// Adds the source addresses the kernel chooses: they are in the answer to a plain lookup only.
    func addSources(to answers: inout [RouteLookupResult], of questions: [Question]) {
        let routed = answers.indices.filter {
            if case .route(let route) = answers[$0] { route.source == .unknown } else { false }
        }
        if routed.isEmpty { return }
        let replies = self.replies(routed.map { questions[$0].source }, routed.map { questions[$0].family })
        for (position, reply) in zip(routed, replies) {
            guard case .route(var route) = answers[position], case .success(let reply) = reply else { continue }
            route.source = (questions[position].flow.source ?? reply.source).map { .address($0) } ?? .none
            answers[position] = .route(route)
        }
    }

    /// What the kernel says of packets; `matchesTable` as in ``NetlinkRequest/route(_:matchesTable:)``.
    func replies(_ flows: [Flow], matchesTable: Bool) -> [Result<RouteReply, KernelError>] {
        self.replies(flows.map { .route($0, matchesTable: matchesTable) }, flows.map(\.destination.family))
    }

    /// Asks, except about families the kernel does not answer for.
    func replies(
        _ requests: [NetlinkRequest],
        _ families: @autoclosure () -> [AddressFamily]
    ) -> [Result<RouteReply, KernelError>] {
        if self.unsupported.isEmpty { return self.kernel.routes(requests) }
        return zip(requests, families()).map { request, family in
            self.unsupported.contains(family) ? .failure(.badAnswer) : self.kernel.routes([request])[0]
        }
    }
}

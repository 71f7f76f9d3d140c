// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Asks the kernel what it would do with packets: the forwarding decision itself, not the tables it is made from.
///
/// One lookup takes about 4 µs whatever the size of the tables, and honours policy rules, VPN tables, metrics,
/// multipath and next-hop objects.
final class RouteLookup {
    private let queries: KernelQueries
    private let clock: any MonotonicClock
    /// Families for which EINVAL means that the kernel does not know the request, and not a blackhole.
    private let unsupported: Set<AddressFamily>
    /// When the first of the answering routes of a family ends, where any has a lifetime.
    private var expiries: [AddressFamily: MonotonicTime] = [:]

    /// The requests about one destination, which are the same after every event.
    struct Question {
        let destination: IPAddress
        fileprivate let verdict: NetlinkRequest
        fileprivate let source: NetlinkRequest
        /// For the default route of an interface, towards the destination.
        fileprivate let throughInterface: NetlinkRequest

        init(_ destination: IPAddress) {
            self.destination = destination
            let flow = Flow(to: destination)
            self.verdict = .route(flow, matchesTable: true)
            self.source = .route(flow, matchesTable: false)
            self.throughInterface = .route(flow.with(\.interface, 0), matchesTable: true)
        }
    }

    /// Finds out what the kernel can answer.
    init(_ queries: KernelQueries, clock: any MonotonicClock) {
        self.queries = queries
        self.clock = clock
        // A blackhole answers EINVAL, and so does a kernel that does not know FIB_MATCH; nobody blackholes loopback.
        let loopback = [IPAddress(ipv4: 0x7F00_0001), IPAddress(ipv6: 1)]
        self.unsupported = Set(
            loopback.filter { address in
                let request = NetlinkRequest.route(Flow(to: address), matchesTable: true)
                guard case .failure(let error) = queries.ask(request, RouteReply.init) else { return false }
                return [.invalid, .notSupported, .notPermitted, .timedOut, .broken, .badAnswer].contains(error)
            }.map(\.family)
        )
    }

    /// The families the kernel does not answer for.
    var unsupportedFamilies: [AddressFamily] { AddressFamily.allCases.filter(self.unsupported.contains) }

    /// When the first of the answering routes with a lifetime ends; the kernel announces that up to 30 s late.
    var earliestExpiry: MonotonicTime? { self.expiries.isEmpty ? nil : self.expiries.values.min() }

    /// Forgets the expiry of earlier answers of a family, before asking anew.
    func beginRound(_ family: AddressFamily) {
        if !self.expiries.isEmpty { self.expiries[family] = nil }
    }

    /// Asks about one destination.
    func route(to destination: IPAddress) -> RouteAnswer {
        self.answers(to: [0], of: [Question(destination)], defaultRoutes: []).answers[0]
    }

    /// Asks about one destination that only one interface may lead to.
    ///
    /// Only the route as it stands in the table counts, and errors say nothing about why, as with default routes.
    func route(to destination: IPAddress, through interface: UInt32) -> RouteAnswer {
        func ask(matchesTable: Bool) -> Result<RouteReply, SystemError> {
            let flow = Flow(to: destination).with(\.interface, interface)
            return self.replies([.route(flow, matchesTable: matchesTable)], about: [destination])[0]
        }
        let answer = self.answer(ask(matchesTable: true), family: destination.family)
        guard case .route(var route) = answer else { return answer == .unknown ? .unknown : .noRoute }
        // A multipath answer holds the legs of other devices too.
        route.legs.removeAll { $0.interfaceIndex != interface }
        guard !route.legs.isEmpty else { return .noRoute }
        if case .success(let reply) = ask(matchesTable: false) {
            route.source = reply.source.map { .address($0) } ?? .none
        }
        return .route(route)
    }

    /// The default route an interface would use, towards the destination of the question at a position.
    typealias DefaultRouteQuestion = (interface: UInt32, position: Int)

    /// Asks about destinations, and for default routes of interfaces, with as few system calls as possible: they are
    /// most of what an event costs.
    ///
    /// - Parameters:
    ///   - asked: The positions of the destinations to ask about.
    ///   - questions: All there are.
    ///   - defaultRoutes: What to ask about interfaces.
    /// - Returns: The answers in the order of the positions, and the default routes, nil where there is none.
    func answers(
        to asked: [Int],
        of questions: [Question],
        defaultRoutes: [DefaultRouteQuestion]
    ) -> (answers: [RouteAnswer], defaultRoutes: [InterfaceRoute?]) {
        var requests: [NetlinkRequest] = []
        requests.reserveCapacity(asked.count + defaultRoutes.count)
        for position in asked { requests.append(questions[position].verdict) }
        for (interface, position) in defaultRoutes {
            requests.append(questions[position].throughInterface.asking(about: interface))
        }
        let replies = self.replies(
            requests,
            about: (asked + defaultRoutes.map(\.position)).map { questions[$0].destination }
        )
        var answers: [RouteAnswer] = []
        var routed: [Int] = []
        for position in asked.indices {
            answers.append(self.answer(replies[position], family: questions[asked[position]].destination.family))
            if case .route = answers[position] { routed.append(position) }
        }
        // Asked only now, because most of what is lost is lost for all families.
        if !routed.isEmpty {
            let sources = self.replies(
                routed.map { questions[asked[$0]].source },
                about: routed.map { questions[asked[$0]].destination }
            )
            for (position, reply) in zip(routed, sources) {
                guard case .route(var route) = answers[position] else { continue }
                if case .success(let reply) = reply { route.source = reply.source.map { .address($0) } ?? .none }
                answers[position] = .route(route)
            }
        }
        let routes = defaultRoutes.indices.map { position in
            let (interface, question) = defaultRoutes[position]
            let family = questions[question].destination.family
            return self.defaultRoute(of: interface, family, replies[asked.count + position])
        }
        return (answers, routes)
    }

    /// Asks, except about families the kernel does not answer for.
    func replies(
        _ requests: [NetlinkRequest],
        about destinations: @autoclosure () -> [IPAddress]
    ) -> [Result<RouteReply, SystemError>] {
        if self.unsupported.isEmpty { return self.queries.ask(requests, RouteReply.init) }
        return zip(requests, destinations()).map { request, destination in
            self.unsupported.contains(destination.family)
                ? .failure(.notSupported) : self.queries.ask(request, RouteReply.init)
        }
    }

    func answer(_ reply: Result<RouteReply, SystemError>, family: AddressFamily) -> RouteAnswer {
        switch reply {
        case .failure(let error): return Self.answer(for: error)
        case .success(let reply):
            if let rejection = Self.rejection(type: reply.type) { return .rejected(rejection) }
            if reply.type == RTN_THROW { return .noRoute }
            if let expiresIn = reply.expiresIn {
                let expiry = self.clock.now() + expiresIn
                self.expiries[family] = min(self.expiries[family] ?? expiry, expiry)
            }
            switch self.legs(of: reply) {
            case .success(let legs):
                return .route(Route(legs: legs, source: .unknown, metric: reply.metric, table: reply.table))
            case .failure(let rejection): return rejection.answer
            }
        }
    }

    /// The default route an answer means.
    ///
    /// Only the route as it stands in the table counts: a plain lookup with an output interface invents an on-link
    /// route. Errors say nothing about why, EHOSTUNREACH stands for everything.
    private func defaultRoute(
        of interface: UInt32,
        _ family: AddressFamily,
        _ reply: Result<RouteReply, SystemError>
    ) -> InterfaceRoute? {
        guard case .success(let reply) = reply, Self.rejection(type: reply.type) == nil, reply.type == RTN_UNICAST,
            case .success(let legs) = self.legs(of: reply),
            // A multipath answer holds the legs of other devices too.
            let leg = legs.first(where: { $0.interfaceIndex == interface && !$0.isDown })
        else { return nil }
        var route = InterfaceRoute(family: family, gateway: leg.gateway, metric: reply.metric, table: reply.table)
        route.expiresAt = reply.expiresIn.map { self.clock.now() + $0 }
        return route
    }

    // MARK: Next hops

    private struct Rejected: Error {
        let answer: RouteAnswer
    }

    private func legs(of reply: RouteReply) -> Result<[RouteLeg], Rejected> {
        guard reply.legs.isEmpty, let id = reply.nextHopID else { return .success(reply.legs) }
        var legs: [RouteLeg] = []
        var isBlackhole = false
        var pending = [id]
        // Groups do not nest deeper than two levels, and hold 8 bits of members or less in practice.
        for _ in 0..<512 {
            guard let id = pending.popLast() else { break }
            guard case .success(let nextHop) = self.queries.ask(.nextHop(id), NextHopReply.init) else { continue }
            if let leg = nextHop.leg { legs.append(leg) }
            isBlackhole = isBlackhole || nextHop.isBlackhole
            pending += nextHop.members.reversed()
        }
        if legs.isEmpty { return .failure(Rejected(answer: isBlackhole ? .rejected(.blackhole) : .noRoute)) }
        return .success(legs)
    }

    // MARK: Meaning

    private static func rejection(type: UInt8) -> RouteRejection? {
        switch Int(type) {
        case RTN_BLACKHOLE: .blackhole
        case RTN_UNREACHABLE: .unreachable
        case RTN_PROHIBIT: .prohibit
        default: nil
        }
    }

    private static func answer(for error: SystemError) -> RouteAnswer {
        switch error {
        case .networkUnreachable, .noSuchObject, .noSuchFamily: .noRoute
        case .hostUnreachable: .rejected(.unreachable)
        case .invalid: .rejected(.blackhole)
        case .accessDenied: .rejected(.prohibit)
        default: .unknown
        }
    }
}

/// Answers for hosts that somebody asks about, over a socket of its own, on the asker's thread.
final class NetlinkRouteResolver: RouteResolver {
    private let lookup: Guarded<RouteLookup>

    /// Opens the socket.
    ///
    /// - Throws: ``NetlinkError`` when the system refuses.
    init(clock: any MonotonicClock) throws(NetlinkError) {
        self.lookup = Guarded(RouteLookup(try KernelQueries(), clock: clock))
    }

    func route(to destination: IPAddress, through interface: UInt32?) -> RouteAnswer {
        self.lookup.withLock { lookup in
            interface.map { lookup.route(to: destination, through: $0) } ?? lookup.route(to: destination)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// The second lookup, with a source address: what the kernel does for a program that connects without one.
extension RouteLookup {
    // MARK: IPv4

    /// How often a question is asked again while its source address goes.
    private static let attempts = 3

    /// Asks again about IPv4 packets, with the source addresses the kernel chose: that answer decides
    /// (`ip_route_connect`, include/net/route.h).
    ///
    /// Only policy rules can make it another one.
    func confirm(_ answers: inout [RouteLookupResult], of questions: [Question]) {
        func isChosen(_ position: Int) -> Bool {
            questions[position].family == .ipv4 && questions[position].flow.source == nil
                && answers[position].chosenSource != nil
        }
        guard questions.indices.contains(where: isChosen), self.looksAtSources(.ipv4) else { return }
        let chosen = questions.indices.filter(isChosen)
        let flows = chosen.map { questions[$0].flow.with(\.source, answers[$0].chosenSource) }
        let replies = self.replies(flows, matchesTable: true)
        for (index, position) in chosen.enumerated() {
            answers[position] = self.confirmed(
                self.answer(replies[index], to: flows[index]),
                of: questions[position],
                from: flows[index].source,
                after: answers[position]
            )
        }
    }

    /// The answer to a second lookup, unless its source address has gone in between: then everything is asked again.
    private func confirmed(
        _ second: RouteLookupResult,
        of question: Question,
        from source: InternetAddress?,
        after first: RouteLookupResult
    ) -> RouteLookupResult {
        var (first, second, source) = (first, second, source)
        for _ in 1..<Self.attempts {
            guard let used = source else { return first }
            if case .route(var route) = second {
                route.source = .address(used)
                return .route(route)
            }
            // ENETUNREACH, in old kernels EINVAL, is also what an address gets that is not local any more.
            if second == .unknown || self.isLocal(used, question.flow) { return second }
            var again = [self.answer(self.replies([question.verdict], [.ipv4])[0], to: question.flow)]
            self.addSources(to: &again, of: [question])
            (first, source) = (again[0], again[0].chosenSource)
            let flow = question.flow.with(\.source, source)
            second = self.answer(self.replies([flow], matchesTable: true)[0], to: flow)
        }
        return first
    }

    /// Whether packets to an address stay on this machine.
    func isLocal(_ address: InternetAddress, _ flow: Flow) -> Bool {
        // With the interface for addresses of a VRF, which are in its table.
        let flows = [Flow(to: address), Flow(to: address).with(\.interface, flow.interface)]
        let replies = self.replies(flows, matchesTable: false)
        return replies.contains { if case .success(let reply) = $0 { reply.type == RTN_LOCAL } else { false } }
    }

    // MARK: IPv6

    /// Whether IPv6 looks up a second time, as it does when the first lookup failed (`ip6_dst_lookup_tail`,
    /// net/ipv6/ip6_output.c).
    func mayDependOnSource(_ reply: Result<RouteReply, KernelError>, _ flow: Flow) -> Bool {
        guard flow.destination.family == .ipv6, flow.source == nil else { return false }
        return switch reply {
        case .failure(let error): ![.noSuchFamily, .cannotTell].contains(LookupFailure(error))
        case .success(let reply): reply.type != RTN_UNICAST && reply.type != RTN_LOCAL
        }
    }

    /// Asks again about IPv6 packets whose first lookup failed, with source addresses: routes may be for some sources
    /// only (RFC 8043), and so may policy rules.
    ///
    /// - Parameters:
    ///   - answers: The answers to the first lookups, which stand where no source address has a way.
    ///   - positions: Which of them to ask about again.
    ///   - questions: The questions they belong to.
    ///   - sources: The addresses to send from.
    func askWithSources(
        _ answers: inout [RouteLookupResult],
        at positions: [Int],
        of questions: [Question],
        from sources: SourceAddresses
    ) {
        if positions.isEmpty { return }
        let candidates = sources(.ipv6, nil)
        if candidates.isEmpty, positions.allSatisfy({ questions[$0].flow.interface == nil }) { return }
        let flows = positions.flatMap { position in
            candidates.map { questions[position].flow.with(\.source, $0) }
        }
        let found = self.answersWithSource(flows)
        for (number, position) in positions.enumerated() {
            let start = number * candidates.count
            answers[position] = self.answer(
                to: questions[position].flow,
                after: answers[position],
                amongThose: found[start..<(start + candidates.count)]
            )
        }
    }

    /// Decides which of the answers for several source addresses is the one that programs get.
    ///
    /// Without a route netlink does not tell which address the kernel chooses; a connected socket does. It is asked
    /// only when that matters.
    private func answer(
        to flow: Flow,
        after first: RouteLookupResult,
        amongThose found: ArraySlice<RouteLookupResult>
    ) -> RouteLookupResult {
        // The addresses of the interfaces of a VRF are not those of the others.
        let isComplete = found.count < LinkTable.sourceLimit && flow.interface == nil
        guard let best = found.first(where: \.isRouted) ?? (isComplete ? nil : first) else { return first }
        if isComplete, found.dropFirst().allSatisfy({ $0.withoutSource == found.first?.withoutSource }) {
            return found.count == 1 ? best : best.withoutSource
        }
        // A fresh socket says nothing about packets with another mark or of another user.
        let isOrdinary = flow.mark == self.packet.mark && flow.userID == self.packet.userID
        switch self.mayConnect && isOrdinary ? self.kernel.source(of: flow) : .notAsked {
        case .none: return first
        case .address(let source): return self.answersWithSource([flow.with(\.source, source)])[0]
        case .notAsked: return best
        case .refused: return .rejected(.ipsecBlock)
        case .unknown: return .unknown
        }
    }

    private func answersWithSource(_ flows: [Flow]) -> [RouteLookupResult] {
        if flows.isEmpty { return [] }
        return zip(flows, self.replies(flows, matchesTable: true)).map { flow, reply in
            let answer = self.answer(reply, to: flow)
            guard case .route(var route) = answer else { return answer }
            route.source = flow.source.map { .address($0) } ?? .none
            return .route(route)
        }
    }

    // MARK: Interfaces

    /// The default route an interface uses for packets from its own addresses, where such routes have shown up.
    func defaultRouteWithSource(
        of interface: UInt32,
        _ flow: Flow,
        from sources: SourceAddresses
    ) -> InterfaceRoute? {
        let family = flow.destination.family
        guard (family == .ipv6 && self.dependsOnSource) || self.looksAtSources(family),
            let source = sources(family, interface).first
        else { return nil }
        let flow = flow.with(\.interface, interface).with(\.source, source)
        return self.defaultRoute(of: interface, family, self.replies([flow], matchesTable: true)[0])
    }

    // MARK: Answers

    /// Takes back source addresses that no answer would be delivered to, where a policy rule comes before that of local
    /// addresses: only then it can be so, save where a local route was deleted by hand.
    func checkSources(of answers: inout [RouteLookupResult], _ questions: [Question]) {
        let families = AddressFamily.allCases.filter { self.hasRuleBeforeLocal($0) }
        if families.isEmpty { return }
        for position in answers.indices {
            let flow = questions[position].flow
            guard case .route(var route) = answers[position], case .address(let source) = route.source,
                let interface = route.nextHops.first?.interfaceIndex, families.contains(source.family),
                !self.isLocal(source, flow)
            else { continue }
            var answer = NetlinkRequest.route(Flow(to: source).with(\.source, flow.destination), matchesTable: false)
            answer.append(Int(RTA_IIF.rawValue), interface)
            if case .success(let reply) = self.replies([answer], [source.family])[0], reply.type == RTN_LOCAL {
                continue
            }
            route.source = .none
            answers[position] = .route(route)
        }
    }

    // MARK: Rules

    /// Notes that policy rules changed.
    func rulesChanged() {
        self.knownRules = nil
    }

    /// The policy rules, read once after each change; nil where the system does not tell.
    var rules: [RoutingRule]? {
        if let knownRules { return knownRules }
        switch self.kernel.rules() {
        case .success(let rules): self.knownRules = rules
        // A kernel without policy routing has no rules.
        case .failure(let error) where LookupFailure(error) == .noSuchFamily: self.knownRules = []
        case .failure: return nil
        }
        return self.knownRules
    }

    /// Whether the first policy rule of a family is not that of local addresses.
    private func hasRuleBeforeLocal(_ family: AddressFamily) -> Bool {
        let first = self.rules?.lazy.filter { $0.family == family }.min { $0.priority < $1.priority }
        return first.map { $0.table != Route.localTable } ?? false
    }

    /// Whether any policy rule looks at source addresses; where that is not known, better one question too many.
    private func looksAtSources(_ family: AddressFamily) -> Bool {
        self.rules.map { $0.contains { $0.family == family && $0.sourceLength > 0 } } ?? true
    }
}

extension RouteLookupResult {
    /// Whether packets are sent.
    var isRouted: Bool { if case .route = self { true } else { false } }

    /// The same answer, when it is not known which source address it is for.
    fileprivate var withoutSource: RouteLookupResult {
        guard case .route(var route) = self else { return self }
        route.source = .unknown
        return .route(route)
    }

    fileprivate var chosenSource: InternetAddress? {
        if case .route(let route) = self, case .address(let source) = route.source { source } else { nil }
    }
}

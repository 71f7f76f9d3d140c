// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// What is asked of the kernel, and what its answers mean.
@Suite struct RouteLookupTests {
    private let ipv4 = InternetAddress(ipv4: 0x0900_0001)
    private let ipv6 = InternetAddress(ipv6: 0x2600 << 112 | 1)
    private let wan = InternetAddress.fixture("192.0.2.2")
    private let first = InternetAddress.fixture("2001:db8::2")
    private let second = InternetAddress.fixture("2001:db8:1::2")

    private static let program: Flow = {
        var flow = Flow(to: InternetAddress(ipv6: 0))
        flow.userID = 1000
        flow.transport = Flow.Transport(protocolNumber: Flow.Transport.tcp, destinationPort: Flow.Transport.https)
        return flow
    }()

    private func lookup(
        _ kernel: ScriptedKernel,
        packet: Flow = RouteLookupTests.program,
        mayConnect: Bool = true,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) -> RouteLookup {
        let lookup = RouteLookup(kernel, packet: packet, mayConnect: mayConnect, clock: clock)
        kernel.forget()
        return lookup
    }

    private func answer(
        _ lookup: RouteLookup,
        to destination: InternetAddress,
        from sources: [InternetAddress] = [],
        through interface: UInt32? = nil
    ) -> RouteLookupResult {
        let flow = lookup.packet.with(\.destination, destination).with(\.interface, interface)
        return lookup.route(flow) { family, _ in sources.filter { $0.family == family } }
    }

    private func route(
        from source: InternetAddress?,
        through interface: UInt32 = 3,
        table: UInt32 = 254
    ) -> RouteLookupResult {
        let nextHop = NextHop(interfaceIndex: interface)
        let source = source.map(RouteSource.address) ?? .unknown
        return .route(Route(nextHops: [nextHop], source: source, metric: 0, table: table))
    }

    // MARK: Expiry

    @Test func anExpiryThatIsDueStaysUntilItHasPassed() {
        let clock = ManualClock()
        let kernel = ScriptedKernel { _ in .route(through: 3, expiresIn: .milliseconds(1_030)) }
        let lookup = self.lookup(kernel, clock: clock)
        func askAnew() {
            lookup.beginRound(.ipv6)
            _ = self.answer(lookup, to: self.ipv6, from: [self.first])
        }
        askAnew()
        let expiry = clock.now() + .milliseconds(1_030)
        #expect(lookup.earliestExpiry == expiry)
        // In its last hundredth of a second the kernel shows the lifetime as none.
        kernel.answer = { _ in .route(through: 3) }
        clock.advance(by: .milliseconds(995))
        askAnew()
        #expect(lookup.earliestExpiry == expiry)
        clock.advance(by: .milliseconds(35))
        askAnew()
        #expect(lookup.earliestExpiry == nil)
    }

    @Test func theExpiryOfARouteThatIsReplacedIsForgotten() {
        let kernel = ScriptedKernel { _ in .route(through: 3, expiresIn: .seconds(1800)) }
        let lookup = self.lookup(kernel)
        _ = self.answer(lookup, to: self.ipv6, from: [self.first])
        #expect(lookup.earliestExpiry != nil)
        lookup.beginRound(.ipv6)
        #expect(lookup.earliestExpiry == nil)
    }

    // MARK: Families

    @Test(arguments: [KernelError.notSupported, .noSuchFamily])
    func aFamilyTheKernelDoesNotHaveIsAPlainNo(_ error: KernelError) {
        let lookup = self.lookup(
            ScriptedKernel { $0.destination.family == .ipv6 ? .failure(error) : .route(through: 3, from: self.wan) }
        )
        #expect(lookup.absentFamilies == [.ipv6])
        #expect(lookup.unsupportedFamilies == [])
        #expect(self.answer(lookup, to: self.ipv6, from: [self.first]) == .noRoute)
        #expect(self.answer(lookup, to: self.ipv4) == self.route(from: self.wan))
    }

    @Test(arguments: [KernelError.notPermitted, .timedOut, .broken, .badAnswer, .notSupported, .noSuchFamily, .invalid])
    func aSystemThatAnswersNothingCannotTell(_ error: KernelError) {
        let lookup = self.lookup(ScriptedKernel { _ in .failure(error) })
        #expect(lookup.absentFamilies == [])
        #expect(lookup.unsupportedFamilies == [.ipv4, .ipv6])
        #expect(self.answer(lookup, to: self.ipv4) == .unknown)
        #expect(self.answer(lookup, to: self.ipv6) == .unknown)
    }

    @Test(arguments: [KernelError.notPermitted, .timedOut, .invalid])
    func oneFamilyThatCannotBeToldDoesNotConcernTheOther(_ error: KernelError) {
        let lookup = self.lookup(
            ScriptedKernel { $0.destination.family == .ipv6 ? .failure(error) : .failure(.networkUnreachable) }
        )
        #expect(lookup.unsupportedFamilies == [.ipv6])
        #expect(self.answer(lookup, to: self.ipv6) == .unknown)
        #expect(self.answer(lookup, to: self.ipv4) == .noRoute)
    }

    /// Routes may refuse packets to loopback too, and then they are not known: `disable_ipv6` and a blackhole.
    @Test func aBlackholeThatCatchesLoopbackIsAnAnswer() {
        let kernel = ScriptedKernel { _ in .failure(.invalid) }
        kernel.incomingAnswer = .failure(.noSuchDevice)
        let lookup = self.lookup(kernel)
        #expect(lookup.unsupportedFamilies == [])
        #expect(lookup.absentFamilies == [])
        #expect(lookup.packet == Self.program)
        #expect(self.answer(lookup, to: self.ipv4) == .rejected(.blackhole))
        #expect(self.answer(lookup, to: self.ipv6) == .rejected(.blackhole))
        #expect(!lookup.askAgainAboutFamilies())
        #expect(kernel.asked.count == 2, "where all is known nothing is asked again")
    }

    @Test func whatCouldNotBeToldIsAskedAgain() {
        let kernel = ScriptedKernel { _ in .failure(.timedOut) }
        let lookup = self.lookup(kernel)
        #expect(!lookup.askAgainAboutFamilies())
        #expect(lookup.unsupportedFamilies == [.ipv4, .ipv6])
        kernel.answer = { _ in .failure(.networkUnreachable) }
        #expect(lookup.askAgainAboutFamilies())
        #expect(lookup.unsupportedFamilies == [])
        #expect(self.answer(lookup, to: self.ipv4) == .noRoute)
    }

    /// The kernel has one answer for a missing route and for a rule that says "unreachable".
    @Test func aRuleThatRefusesIsNoMissingRoute() {
        let kernel = ScriptedKernel { _ in .failure(.networkUnreachable) }
        let lookup = self.lookup(kernel)
        let main = RoutingRule(family: .ipv4, priority: 32_766, table: 254)
        var rule = RoutingRule(family: .ipv4, priority: 100, table: nil)
        rule.isUnreachable = true
        kernel.ruleList = .success([rule, main])
        #expect(self.answer(lookup, to: self.ipv4) == .rejected(.unreachable))
        #expect(self.answer(lookup, to: self.ipv6) == .noRoute)
        #expect(self.answer(lookup, to: self.ipv4, through: 3) == .noRoute, "through an interface nobody knows why")
        kernel.ruleList = .failure(.notPermitted)
        lookup.rulesChanged()
        #expect(self.answer(lookup, to: self.ipv4) == .noRoute)
    }

    @Test func anAnswerCarriesItsEncapsulation() {
        let kernel = ScriptedKernel { _ in
            guard case .success(var reply) = Result.route(through: 3, from: self.wan) else { return .failure(.broken) }
            reply.encapsulation = 5
            return .success(reply)
        }
        guard case .route(let route) = self.answer(self.lookup(kernel), to: self.ipv4) else {
            Issue.record("no route")
            return
        }
        #expect(route.encapsulation == "seg6")
    }

    @Test func aKernelThatDoesNotKnowTheAttributesIsAskedWithoutThem() {
        let kernel = ScriptedKernel { flow in
            flow.transport != nil || flow.userID != nil ? .failure(.invalid) : .route(through: 3, from: self.wan)
        }
        let lookup = self.lookup(kernel)
        #expect(lookup.unsupportedFamilies == [])
        #expect(self.answer(lookup, to: self.ipv4) == self.route(from: self.wan))
        #expect(kernel.asked.allSatisfy { $0 == Flow(to: self.ipv4) })
    }

    @Test func questionsAreThoseOfAProgram() {
        var packet = Self.program
        packet.mark = 7
        let kernel = ScriptedKernel { _ in .route(through: 3, from: self.wan) }
        let lookup = self.lookup(kernel, packet: packet)
        _ = self.answer(lookup, to: self.ipv4)
        #expect(kernel.asked == Array(repeating: packet.with(\.destination, self.ipv4), count: 2))
    }

    // MARK: IPv4

    @Test func withoutRulesAboutSourcesIPv4IsNotAskedAgain() {
        let kernel = ScriptedKernel { _ in .route(through: 3, from: self.wan) }
        kernel.addRule(.ipv6, sourceLength: 64)
        let lookup = self.lookup(kernel)
        #expect(self.answer(lookup, to: self.ipv4) == self.route(from: self.wan))
        _ = self.answer(lookup, to: self.ipv4)
        #expect(kernel.asked.allSatisfy { $0.source == nil })
        #expect(kernel.ruleDumps == 1, "the rules are read once after each change")
        lookup.rulesChanged()
        _ = self.answer(lookup, to: self.ipv4)
        #expect(kernel.ruleDumps == 2)
    }

    @Test(arguments: [
        (KernelError.accessDenied, RouteLookupResult.rejected(.prohibit)), (.invalid, .rejected(.blackhole)),
        (.networkUnreachable, .noRoute),
    ])
    func theSecondLookupDecidesInIPv4(error: KernelError, answer: RouteLookupResult) {
        let kernel = ScriptedKernel { flow in
            if flow.destination == self.wan { return .local }
            return flow.source == nil ? .route(through: 3, from: self.wan) : .failure(error)
        }
        kernel.addRule(.ipv4, sourceLength: 32)
        #expect(self.answer(self.lookup(kernel), to: self.ipv4) == answer)
    }

    @Test func theSecondLookupMayTakeAnotherWay() {
        let kernel = ScriptedKernel { flow in
            flow.source == nil ? .route(through: 3, from: self.wan) : .route(through: 4, table: 77)
        }
        // Where the rules cannot be read, one question too many is better.
        kernel.ruleList = .failure(.notPermitted)
        #expect(
            self.answer(self.lookup(kernel), to: self.ipv4) == self.route(from: self.wan, through: 4, table: 77)
        )
    }

    @Test func aSourceAddressThatGoesInBetweenRefusesNothing() {
        let next = InternetAddress.fixture("198.51.100.2")
        var isGone = false
        let kernel = ScriptedKernel { flow in
            if flow.source == self.wan {
                isGone = true
                return .failure(.invalid)
            }
            if flow.destination == self.wan { return .failure(.networkUnreachable) }
            return .route(through: isGone ? 4 : 3, from: isGone ? next : self.wan)
        }
        kernel.addRule(.ipv4, sourceLength: 24)
        #expect(self.answer(self.lookup(kernel), to: self.ipv4) == self.route(from: next, through: 4))
    }

    @Test func aSourceAddressThatGoesAndGoesEndsTheQuestions() {
        let kernel = ScriptedKernel { flow in
            flow.source != nil || flow.destination == self.wan
                ? .failure(.networkUnreachable) : .route(through: 3, from: self.wan)
        }
        kernel.addRule(.ipv4, sourceLength: 24)
        #expect(self.answer(self.lookup(kernel), to: self.ipv4) == self.route(from: self.wan))
    }

    // MARK: IPv6

    /// A route for some source addresses only.
    private func sourceSpecific(_ routes: [InternetAddress: UInt32], otherwise error: KernelError) -> ScriptedKernel {
        ScriptedKernel { flow in
            flow.source.flatMap { routes[$0] }.map { .route(through: $0) } ?? .failure(error)
        }
    }

    @Test(arguments: [KernelError.networkUnreachable, .hostUnreachable, .invalid, .accessDenied])
    func aFailedLookupIsRepeatedWithASource(_ error: KernelError) {
        let kernel = ScriptedKernel { flow in
            if flow.destination.isLoopback { return .local }
            return flow.source == nil ? .failure(error) : .route(through: 3)
        }
        #expect(self.answer(self.lookup(kernel), to: self.ipv6, from: [self.first]) == self.route(from: self.first))
        #expect(kernel.connected.isEmpty, "with one address there is nothing to choose")
    }

    /// Where another policy rule comes before that of local addresses, answers may not reach the source address.
    @Test(arguments: [(0, true, true), (5, true, true), (5, false, false)] as [(UInt32, Bool, Bool)])
    func sourcesThatAreNotLocal(_ priority: UInt32, isLocal: Bool, isUsable: Bool) {
        let kernel = ScriptedKernel { flow in
            if flow.destination.isLoopback { return .local }
            if flow.destination == .fixture("192.0.2.7") { return isLocal ? .local : .route(through: 3) }
            return .route(through: 3, from: .fixture("192.0.2.7"))
        }
        let lookup = self.lookup(kernel)
        kernel.ruleList = .success([
            RoutingRule(family: .ipv4, priority: 1, table: 77),
            RoutingRule(family: .ipv4, priority: priority, table: 255),
        ])
        guard case .route(let route) = self.answer(lookup, to: self.ipv4) else {
            Issue.record("there is a route")
            return
        }
        #expect(route.source == (isUsable ? .address(.fixture("192.0.2.7")) : .none))
    }

    @Test func withoutAddressesThereIsOneQuestion() {
        let kernel = ScriptedKernel { _ in .failure(.networkUnreachable) }
        #expect(self.answer(self.lookup(kernel), to: self.ipv6) == .noRoute)
        #expect(kernel.asked.count == 1)
    }

    @Test func whereNoAddressHasAWayNothingIsConnected() {
        let kernel = self.sourceSpecific([:], otherwise: .hostUnreachable)
        let answer = self.answer(self.lookup(kernel), to: self.ipv6, from: [self.first, self.second])
        #expect(answer == .rejected(.unreachable))
        #expect(kernel.connected.isEmpty)
    }

    @Test func whereEveryAddressHasTheSameWayNothingIsConnected() {
        let kernel = self.sourceSpecific([self.first: 3, self.second: 3], otherwise: .networkUnreachable)
        let answer = self.answer(self.lookup(kernel), to: self.ipv6, from: [self.first, self.second])
        #expect(answer == self.route(from: nil))
        #expect(kernel.connected.isEmpty)
    }

    @Test func aSocketTellsWhichAddressCounts() {
        let kernel = self.sourceSpecific([self.first: 3], otherwise: .networkUnreachable)
        let lookup = self.lookup(kernel)
        let outcomes: [(SourceChoice, RouteLookupResult)] = [
            (.address(self.first), self.route(from: self.first)), (.address(self.second), .noRoute), (.none, .noRoute),
            (.unknown, .unknown), (.notAsked, self.route(from: self.first)), (.refused, .rejected(.ipsecBlock)),
        ]
        for (choice, answer) in outcomes {
            kernel.choice = choice
            #expect(self.answer(lookup, to: self.ipv6, from: [self.second, self.first]) == answer, "\(choice)")
        }
        #expect(kernel.connected.count == outcomes.count)
    }

    @Test func connectingCanBeForbidden() {
        let kernel = self.sourceSpecific([self.first: 3], otherwise: .networkUnreachable)
        kernel.choice = .none
        let lookup = self.lookup(kernel, mayConnect: false)
        let answer = self.answer(lookup, to: self.ipv6, from: [self.second, self.first])
        #expect(answer == self.route(from: self.first))
        #expect(kernel.connected.isEmpty)
    }

    @Test func aSocketSaysNothingAboutOtherMarks() {
        let kernel = self.sourceSpecific([self.first: 3], otherwise: .networkUnreachable)
        let lookup = self.lookup(kernel)
        let flow = lookup.packet.with(\.destination, self.ipv6).with(\.mark, 51_820)
        #expect(lookup.route(flow) { _, _ in [self.second, self.first] } == self.route(from: self.first))
        #expect(kernel.connected.isEmpty)
        #expect(kernel.asked.allSatisfy { $0.mark == 51_820 })
    }

    @Test func aLookupThatSucceedsIsNotRepeatedInIPv6() {
        // `ip -6 rule add from ADDR prohibit` beside a good default route: datagrams arrive.
        let kernel = ScriptedKernel { flow in
            flow.source == nil ? .route(through: 3, from: self.first) : .failure(.accessDenied)
        }
        kernel.addRule(.ipv6, sourceLength: 128)
        #expect(self.answer(self.lookup(kernel), to: self.ipv6, from: [self.first]) == self.route(from: self.first))
    }

    // MARK: One interface

    @Test func throughAnInterfaceErrorsSayNothingAboutWhy() {
        let lookup = self.lookup(
            ScriptedKernel { $0.interface == nil ? .local : .failure(.hostUnreachable) }
        )
        #expect(self.answer(lookup, to: self.ipv4, through: 3) == .noRoute)
        // With a source address IPv6 no longer insists on the interface.
        let other = self.lookup(
            ScriptedKernel { $0.source == nil ? .failure(.networkUnreachable) : .route(through: 4) }
        )
        #expect(self.answer(other, to: self.ipv6, from: [self.first], through: 3) == .noRoute)
    }

    @Test func aSocketBoundToAVRFLeavesThroughItsMembers() {
        let kernel = ScriptedKernel { $0.interface == 9 ? .route(through: 3, from: self.wan) : .local }
        let lookup = self.lookup(kernel, packet: Self.program.with(\.interface, 9))
        #expect(self.answer(lookup, to: self.ipv4, through: 9) == self.route(from: self.wan))
        #expect(self.answer(lookup, to: self.ipv4, through: 3) != self.route(from: self.wan))
    }

    @Test func anAlternativeMayHaveADefaultRouteForItsOwnAddresses() {
        let kernel = ScriptedKernel { flow in
            flow.source == self.second && flow.interface == 4 ? .route(through: 4) : .failure(.networkUnreachable)
        }
        let lookup = self.lookup(kernel)
        func alternative() -> InterfaceRoute? {
            let question = RouteLookup.Question(lookup.packet.with(\.destination, self.ipv6))
            let sources: RouteLookup.SourceAddresses = { _, interface in interface == 4 ? [self.second] : [] }
            return lookup.answers(to: [], of: [question], defaultRoutes: [(4, 0)], from: sources).defaultRoutes[0]
        }
        #expect(alternative() == nil)
        kernel.addRule(.ipv6, sourceLength: 64)
        lookup.rulesChanged()
        #expect(alternative()?.family == .ipv6)
    }
}

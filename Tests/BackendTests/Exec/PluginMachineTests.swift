// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathExec

/// The protocol, without a process.
struct PluginMachineTests {
    private let start = MonotonicTime(nanoseconds: 0)
    private let hello = "{\"netpath\":1,\"name\":\"test\"}\n"

    private func machine(_ settings: ExecMonitor.Options = .init()) -> PluginMachine {
        PluginMachine(settings, instance: "here", index: { $0 == "eth0" ? 2 : nil }, now: self.start)
    }

    private func conclusion(_ actions: [PluginMachine.Action]) throws -> Conclusion {
        for case .report(let evidence, _) in actions { return try #require(evidence.conclusion) }
        throw Unexpected(actions: actions)
    }

    private func failure(_ text: String, _ settings: ExecMonitor.Options = .init()) throws -> String {
        var machine = self.machine(settings)
        let actions = machine.received(Array(text.utf8), now: self.start)
        for case .fail(let reason) in actions { return reason }
        throw Unexpected(actions: actions)
    }

    private struct Unexpected: Error {
        var actions: [PluginMachine.Action]
    }

    // MARK: Words

    @Test func aConclusionIsReported() throws {
        var machine = self.machine()
        let line = """
            {"conclusion":{"status":"requiresConnection","reason":{"code":"portal","message":"sign in"},\
            "interface":"wlan0","supportsIPv4":true,"supportsIPv6":false,"isExpensive":true,"internet":"portal",\
            "portalURL":"http://portal.example/"}}\n
            """
        let conclusion = try self.conclusion(machine.received(Array((self.hello + line).utf8), now: self.start))
        #expect(conclusion.status == .requiresConnection)
        #expect(conclusion.reason == PathReason(.init(rawValue: "portal"), "sign in"))
        #expect(conclusion.interface == "wlan0")
        #expect(conclusion.families == [.ipv4])
        #expect(conclusion.isExpensive == true)
        #expect(conclusion.internet == .portal)
        #expect(conclusion.portalURL == "http://portal.example/")
        #expect(conclusion.host == nil)
    }

    @Test func whatIsAbsentIsNotKnown() throws {
        var machine = self.machine()
        let line = "{\"conclusion\":{\"status\":\"satisfied\"}}\n"
        let conclusion = try self.conclusion(machine.received(Array((self.hello + line).utf8), now: self.start))
        #expect(conclusion.families == nil)
        #expect(conclusion.isExpensive == nil)
        #expect(conclusion.internet == nil)
    }

    @Test func factsAreReported() throws {
        var machine = self.machine()
        let line = """
            {"evidence":{"ageMilliseconds":100,"interfaces":[{"name":"eth0","type":"wired","addresses":["192.0.2.2/24"],\
            "gateways":["192.0.2.1"],"metric":100,"operationalState":"up"}],\
            "routes":[{"destination":"9.0.0.1","interface":"eth0","gateway":"192.0.2.1","source":"192.0.2.2"},\
            {"destination":"193.0.0.1","rejected":"blackhole"},{"destination":"2600::1"}],\
            "gateways":[{"address":"192.0.2.1","interface":"eth0","answers":true}],"dnsServers":["fe80::1%eth0"],\
            "probes":[{"target":"a:1","outcome":"unreachable","errno":113}],"new":"unknown"}}\n
            """
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        let actions = machine.received(Array((self.hello + line).utf8), now: now)
        guard case .report(let evidence, _)? = actions.last else { throw Unexpected(actions: actions) }
        #expect(evidence.observedAt == MonotonicTime(nanoseconds: 900_000_000))
        let interface = try #require(evidence.interface(2))
        #expect(interface.name == "eth0")
        #expect(interface.flags == .up)
        #expect(interface.addresses == [InterfaceAddress(try #require(AddressPrefix("192.0.2.2/24")))])
        #expect(interface.defaultRoutes?.first?.metric == 100)
        #expect(evidence.referenceRoutes.map(\.answer).last == .noRoute)
        #expect(evidence.referenceRoutes[1].answer == .rejected(.blackhole))
        #expect(evidence.referenceRoutes.egress == [2])
        #expect(evidence.gateways.first?.answers == true)
        #expect(evidence.dnsServers?.first?.zone == "eth0")
        #expect(evidence.probes?.outcomes.first?.result == .unreachable(errno: 113))
    }

    /// One that vanished a moment ago, and one whose index is another one's.
    @Test(arguments: [#""name":"ghost0""#, #""name":"ghost0","index":9"#, #""name":"ghost0","index":2"#])
    func anInterfaceThatIsGoneIsLeftOut(ghost: String) throws {
        var machine = self.machine()
        let line = """
            {"evidence":{"interfaces":[{"name":"eth0","index":2,"addresses":["192.0.2.2/24"]},{\(ghost)}],\
            "routes":[{"destination":"9.0.0.1","interface":"ghost0"},{"destination":"193.0.0.1","interface":"eth0"}],\
            "gateways":[{"address":"192.0.2.1","interface":"ghost0"}]}}\n
            """
        let actions = machine.received(Array((self.hello + line).utf8), now: self.start)
        guard case .report(let evidence, _)? = actions.last else { throw Unexpected(actions: actions) }
        #expect(evidence.interfaces?.map(\.name) == ["eth0"])
        #expect(evidence.referenceRoutes.first?.answer == .unknown, "nothing is known of it, and it is no breach")
        #expect(evidence.referenceRoutes.egress == [2])
        #expect(evidence.gateways == [])
        let notice = PluginMachine.Action.log(
            .info,
            "left out what it says of 'ghost0': no interface of this machine"
        )
        #expect(actions.dropFirst().dropLast() == [notice])
        let again = machine.received(Array(line.utf8), now: self.start)
        #expect(again.count == 1, "said once")
    }

    @Test func anIndexThatDoesNotExistIsNoInterface() throws {
        var machine = self.machine()
        let line = """
            {"evidence":{"interfaces":[{"name":"ghost0","index":9,"addresses":["192.0.2.2/24"]}],\
            "routes":[{"destination":"9.0.0.1","interface":9},{"destination":"193.0.0.1","interface":9}]}}\n
            """
        let actions = machine.received(Array((self.hello + line).utf8), now: self.start)
        guard case .report(let evidence, _)? = actions.last else { throw Unexpected(actions: actions) }
        #expect(evidence.verdict(policy: EvaluationPolicy(), now: self.start)?.status != .satisfied)
    }

    @Test func ofWordsThatComeTogetherTheLastCounts() {
        var machine = self.machine()
        let text = self.hello + "{\"conclusion\":{\"status\":\"satisfied\"}}\n{\"unavailable\":\"gone\"}\n"
        #expect(machine.received(Array(text.utf8), now: self.start) == [.takesNoRefreshRequests, .unavailable("gone")])
    }

    @Test(arguments: 1...7)
    func linesMayComeInPieces(size: Int) throws {
        var machine = self.machine()
        var actions: [PluginMachine.Action] = []
        var text = Array((self.hello + "{\"conclusion\":{\"status\":\"satisfied\"}}\n").utf8)[...]
        while !text.isEmpty {
            actions += machine.received(Array(text.prefix(size)), now: self.start)
            text = text.dropFirst(size)
        }
        #expect(try self.conclusion(actions).status == .satisfied)
    }

    @Test func messagesAreLoggedAndLimited() {
        var machine = self.machine()
        var logged = 0
        for _ in 0..<100 { logged += machine.log("trouble", now: self.start).count }
        #expect(logged == 21)
        let later = machine.log("again", now: self.start + .seconds(2))
        #expect(later == [.log(.warning, "79 more messages were dropped"), .log(.info, "again")])
    }

    // MARK: Requests

    @Test func onlyWhoTakesRequestsIsAsked() {
        var silent = self.machine()
        _ = silent.watch([.fixture("192.0.2.9")])
        #expect(silent.refresh() == [])
        let report = "{\"conclusion\":{\"status\":\"satisfied\"}}\n"
        let actions = silent.received(Array((self.hello + report).utf8), now: self.start)
        #expect(actions.count == 2 && actions.first == .takesNoRefreshRequests)
        // What it said does not become fresh by being said again.
        #expect(silent.refresh() == [])
        #expect(silent.received(Array("{\"heartbeat\":true}\n".utf8), now: self.start) == [])

        var asked = self.machine()
        _ = asked.watch([.fixture("192.0.2.9")])
        let hello = "{\"netpath\":1,\"requests\":[\"refresh\",\"watch\"]}\n"
        #expect(asked.received(Array(hello.utf8), now: self.start) == [.send(.watch([.fixture("192.0.2.9")]))])
        #expect(asked.refresh() == [.send(.refresh)])
    }

    @Test func aHeartbeatConfirmsTheLastReport() throws {
        var machine = self.machine()
        let hello = "{\"netpath\":1,\"requests\":[\"refresh\"]}\n"
        let report = "{\"conclusion\":{\"status\":\"unsatisfied\"}}\n"
        _ = machine.received(Array((hello + report).utf8), now: self.start)
        // Nobody asked.
        #expect(machine.received(Array("{\"heartbeat\":true}\n".utf8), now: self.start) == [])
        _ = machine.refresh()
        let later = self.start + .seconds(3)
        let actions = machine.received(Array("{\"heartbeat\":true}\n".utf8), now: later)
        guard case .report(let evidence, _)? = actions.first else { throw Unexpected(actions: actions) }
        #expect(evidence.conclusion?.status == .unsatisfied)
        // As of when it looked: not as of the report.
        #expect(evidence.observedAt == later)
    }

    @Test func requestsAreLinesOfJSON() {
        let addresses: [InternetAddress] = [.fixture("192.0.2.9"), .fixture("2001:db8::9")]
        let text = String(decoding: PluginRequest.watch(addresses).line, as: UTF8.self)
        #expect(text == "{\"request\":\"watch\",\"addresses\":[\"192.0.2.9\",\"2001:db8::9\"]}\n")
    }

    // MARK: Deadlines

    @Test func theFirstLineHasADeadline() {
        var machine = self.machine()
        #expect(machine.nextDeadline == self.start + .seconds(5))
        #expect(machine.wake(now: self.start + .seconds(4)) == [])
        #expect(
            machine.wake(now: self.start + .seconds(5))
                == [
                    .fail(
                        "wrote no line within 5s of its start; write {\"netpath\":1} first, and flush after each line"
                    )
                ]
        )
        #expect(machine.nextDeadline == nil)
        #expect(machine.received(Array(self.hello.utf8), now: self.start) == [])
    }

    @Test func aHeartbeatIsPromisedByTheHelloOrConfigured() {
        var machine = self.machine()
        _ = machine.received(Array(self.hello.utf8), now: self.start)
        #expect(machine.nextDeadline == nil)

        var promised = self.machine()
        _ = promised.received(Array("{\"netpath\":1,\"heartbeat\":10}\n".utf8), now: self.start)
        #expect(promised.nextDeadline == self.start + .seconds(10))
        _ = promised.received(Array("{\"heartbeat\":true}\n".utf8), now: self.start + .seconds(9))
        #expect(promised.nextDeadline == self.start + .seconds(19))
        // Half a line is none.
        _ = promised.received(Array("{\"heart".utf8), now: self.start + .seconds(18))
        let complaint =
            "wrote no line for 10s, its heartbeat; write {\"heartbeat\":true} in time, and flush after each line"
        #expect(promised.wake(now: self.start + .seconds(19)) == [.fail(complaint)])

        var configured = self.machine(.init(heartbeat: .seconds(3)))
        _ = configured.received(Array("{\"netpath\":1,\"heartbeat\":10}\n".utf8), now: self.start)
        #expect(configured.nextDeadline == self.start + .seconds(3))
    }

    /// A frozen container: its clock goes on, and nothing in it could have spoken.
    @Test(arguments: ["", "{\"netpath\":1,\"heartbeat\":5}\n"])
    func whatStoodStillWithUsIsGivenTimeOnce(said: String) {
        var machine = self.machine()
        _ = machine.received(Array(said.utf8), now: self.start)
        let thaw = self.start + .seconds(60)
        #expect(machine.wake(now: thaw) == [])
        #expect(machine.nextDeadline == thaw + .seconds(5))
        var other = machine
        #expect(other.wake(now: thaw + .seconds(5)).count == 1)
        #expect(other.failure == .silence)
        #expect(machine.wake(now: thaw + .seconds(60)).count == 1, "one more chance, not two")
        #expect(machine.failure == .silence)
    }

    @Test func aFloodIsReadNoFasterThanAllowed() {
        var machine = self.machine()
        let line = "{\"conclusion\":{\"status\":\"satisfied\"}}\n"
        let text = self.hello + String(repeating: line, count: 300)
        let actions = machine.received(Array(text.utf8), now: self.start)
        #expect(actions.count == 3)
        #expect(!machine.wantsOutput)
        #expect(machine.nextDeadline == self.start + .seconds(1))
        #expect(machine.wake(now: self.start + .seconds(1)) == [])
        #expect(machine.wantsOutput)
        #expect(machine.nextDeadline == nil)
    }

    // MARK: Another netpath

    private let document = """
        {"schema":1,"status":"unsatisfied","reason":{"code":"noRoute","message":"no route"},"stale":false,\
        "interfaces":[{"name":"wan0","index":2}],"supportsIPv4":false,"supportsIPv6":false,"internet":"unknown",\
        "isExpensive":true,"later":{"unknown":[1]}}\n
        """

    @Test func theOutputOfNetpathIsAPassiveStream() throws {
        var machine = self.machine()
        let actions = machine.received(Array(self.document.utf8), now: self.start)
        let conclusion = try self.conclusion(actions)
        #expect(conclusion.status == .unsatisfied)
        #expect(conclusion.reason.code == .noRoute)
        #expect(conclusion.families == [])
        #expect(!machine.takesRequests)
        #expect(actions.first == .takesNoRefreshRequests)
        #expect(machine.refresh() == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test func whatAnotherMachineSaysIsAboutThatOne() throws {
        var machine = self.machine(.init(isRemote: true, host: "router"))
        let conclusion = try self.conclusion(machine.received(Array(self.document.utf8), now: self.start))
        #expect(conclusion.host == "router")
        #expect(conclusion.interface == nil)
        #expect(conclusion.families == nil)
        #expect(conclusion.isExpensive == nil)
        #expect(conclusion.internet == nil)
    }

    @Test func anotherMachineThatOnlyRoutesKnowsNothingOfTheInternet() throws {
        var machine = self.machine(.init(isRemote: true))
        let text =
            "{\"schema\":1,\"status\":\"satisfied\",\"internet\":\"unknown\",\"interfaces\":[{\"name\":\"wan0\"}]}\n"
        let conclusion = try self.conclusion(machine.received(Array(text.utf8), now: self.start))
        #expect(conclusion.internet == nil)
        #expect(conclusion.host == "another machine")
    }

    @Test func factsOfAnotherMachineNeverEnter() throws {
        var machine = self.machine(.init(isRemote: true, host: "router"))
        let facts =
            "\"interfaces\":[{\"name\":\"wan0\",\"index\":2}],\"routes\":[{\"destination\":\"9.0.0.1\",\"interface\":2}]"
        let line = "{\"evidence\":{\(facts),\"conclusion\":{\"status\":\"satisfied\"}}}\n"
        let actions = machine.received(Array((self.hello + line).utf8), now: self.start)
        guard case .report(let evidence, _)? = actions.last else { throw Unexpected(actions: actions) }
        #expect(evidence.interfaces == nil)
        #expect(evidence.referenceRoutes == [])
        #expect(evidence.conclusion?.host == "router")
        #expect(
            try self.failure(self.hello + "{\"evidence\":{\(facts)}}\n", .init(isRemote: true))
                .contains("has no conclusion")
        )
    }

    @Test func theOwnWordThatComesBackIsDropped() throws {
        var machine = self.machine(.init(isRemote: true, host: "router"))
        let others = "{\"schema\":1,\"status\":\"unsatisfied\",\"via\":[\"there\",\"elsewhere\"]}\n"
        let actions = machine.received(Array(others.utf8), now: self.start)
        guard case .report(_, let via)? = actions.last else { throw Unexpected(actions: actions) }
        #expect(via == ["there", "elsewhere"])
        let own = "{\"schema\":1,\"status\":\"unsatisfied\",\"via\":[\"there\",\"here\"]}\n"
        let echo = machine.received(Array(own.utf8), now: self.start)
        guard case .report(let evidence, let none)? = echo.first else { throw Unexpected(actions: echo) }
        #expect(evidence.conclusion == nil)
        #expect(evidence.limitations == ["what router says comes from this machine"])
        #expect(none == [])
    }

    @Test func whatIsOutOfDateThereIsNoWordHere() {
        var machine = self.machine()
        let stale = "{\"schema\":1,\"status\":\"satisfied\",\"stale\":true}\n"
        #expect(
            machine.received(Array(stale.utf8), now: self.start)
                == [.takesNoRefreshRequests, .unavailable("what it says is out of date")]
        )
        let silent = "{\"schema\":1,\"status\":null}\n"
        #expect(
            machine.received(Array(silent.utf8), now: self.start) == [.report(Evidence(at: self.start), via: [])]
        )
    }

    // MARK: Mistakes

    @Test(arguments: [
        ("hello\n", "line 1 of its output is not JSON"),
        ("\n", "line 1 of its output ends too early"),
        ("[]\n", "has to be an object"),
        ("{\"status\":\"satisfied\"}\n", "has to be a hello"),
        ("{\"netpath\":2}\n", "uses an unsupported version"),
        ("{\"netpath\":\"1\"}\n", "uses an unsupported version"),
        ("{\"schema\":2}\n", "newer netpath"),
        ("{\"netpath\":1}\n{\"netpath\":1}\n", "line 2 of its output is a second hello"),
        ("{\"netpath\":1}\n{}\n", "is no message"),
        ("{\"netpath\":1}\n{\"conclusion\":{}}\n", "has no status"),
        (
            "{\"netpath\":1}\n{\"conclusion\":{\"status\":\"online\"}}\n",
            "allowed: unsatisfied, requiresConnection, satisfied"
        ),
        ("{\"netpath\":1}\n{\"conclusion\":{\"status\":\"satisfied\",\"internet\":1}}\n", "as a number, not as text"),
        ("{\"netpath\":1}\n{\"unavailable\":true}\n", "as a truth value, not as text"),
        ("{\"netpath\":1}\n{\"evidence\":[]}\n", "not as an object"),
        (
            "{\"netpath\":1}\n{\"evidence\":{\"routes\":[{\"destination\":\"9.0.0.1\",\"interface\":\"nope\"}]}}\n",
            "which is none of its interfaces"
        ),
        (
            "{\"netpath\":1}\n{\"evidence\":{\"interfaces\":[{\"name\":\"a\",\"index\":1e3}]}}\n",
            "a whole number from 0 to 4294967295"
        ),
        ("{\"netpath\":1,\"heartbeat\":0}\n", "has to be a number of seconds"),
        ("{\"netpath\":1,\"netpath\":1}\n", "two members of one name"),
        ("{\"netpath\":1}\n{\"log\":\"\u{0}\"}\n", "control character"),
        ("{\"schema\":1,\"status\":\"satisfied\"}\n{\"status\":\"satisfied\"}\n", "lacks \"schema\":1"),
    ])
    func aMistakeIsNamedWithItsLine(text: String, reason: String) throws {
        let failure = try self.failure(text)
        #expect(failure.hasPrefix("line "))
        #expect(failure.contains(reason), "\(failure)")
    }

    @Test func aLineHasALimit() throws {
        var machine = self.machine()
        var actions: [PluginMachine.Action] = []
        for _ in 0..<17 { actions += machine.received([UInt8](repeating: 0x20, count: 16_384), now: self.start) }
        #expect(actions.last == .fail("line 1 of its output is longer than 256 KiB; tell only what concerns the path"))
    }

    @Test func theEndOfTheOutputIsAMistake() {
        var machine = self.machine()
        _ = machine.received(Array((self.hello + "{\"conc").utf8), now: self.start)
        #expect(machine.ended() == [.fail("closed its output in the middle of a line; keep it open, and exit to end")])
    }
}

extension ExecMonitor.Options {
    /// Options of a program that nothing starts.
    init(heartbeat: Duration? = nil, isRemote: Bool = false, host: String? = nil) {
        self.init(command: ["/nonexistent"])
        self.heartbeat = heartbeat
        self.scope = isRemote ? .remote : .local
        self.host = host
    }
}

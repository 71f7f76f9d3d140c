// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

/// When a wait ends, on a clock that the test turns.
@Suite struct WaitMachineTests {
    private static let start = Fixtures.now

    private static func machine(
        _ conditions: [WaitCondition] = [.status(.satisfied)],
        not isNegated: Bool = false,
        stable: Duration = .zero,
        timeout: Duration? = nil,
        failsFast: Bool = false
    ) -> WaitMachine {
        let conditions = WaitConditions(list: conditions, isNegated: isNegated)
        let terms = WaitMachine.Terms(
            conditions: conditions,
            stable: stable,
            timeout: timeout,
            failsFast: failsFast
        )
        return WaitMachine(terms, now: self.start)
    }

    private static func at(_ seconds: Int) -> MonotonicTime { self.start + .seconds(seconds) }

    private static let up = Fixtures.view(Fixtures.routed)
    private static let down = Fixtures.view(Fixtures.interface { $0.flags = [] })

    // MARK: Met

    @Test func aSatisfiedPathEndsItAtOnce() {
        var machine = Self.machine()
        machine.take(at: Self.start) { $0 = Self.up }
        #expect(machine.outcome == .met)
        #expect(machine.nextDeadline(after: Self.start) == nil)
    }

    @Test func nothingEndsItButWhatItWaitsFor() {
        var machine = Self.machine()
        machine.take(at: Self.start) { $0 = Self.down }
        machine.wake(at: Self.at(100_000))
        #expect(machine.outcome == nil)
        #expect(machine.nextDeadline(after: Self.at(100_000)) == nil, "nobody wakes up for nothing")
        machine.take(at: Self.at(100_001)) { $0 = Self.up }
        #expect(machine.outcome == .met)
    }

    @Test func anOutcomeStands() {
        var machine = Self.machine()
        machine.take(at: Self.start) { $0 = Self.up }
        machine.take(at: Self.at(1)) { $0 = Self.down }
        #expect(machine.outcome == .met)
        #expect(machine.view.path?.status == .satisfied)
    }

    // MARK: Stable

    @Test func itHasToHold() {
        var machine = Self.machine(stable: .seconds(3))
        machine.take(at: Self.start) { $0 = Self.up }
        #expect(machine.outcome == nil)
        #expect(machine.nextDeadline(after: Self.start) == Self.at(3))
        #expect(machine.progress(at: Self.at(2)) == "met for 2 s of 3s, 2 s")
        machine.wake(at: Self.at(3))
        #expect(machine.outcome == .met)
    }

    @Test func aBreakBeginsItAnew() {
        var machine = Self.machine(stable: .seconds(3))
        machine.take(at: Self.start) { $0 = Self.up }
        machine.take(at: Self.at(2)) { $0 = Self.down }
        #expect(machine.nextDeadline(after: Self.at(2)) == nil)
        machine.take(at: Self.at(2)) { $0 = Self.up }
        machine.wake(at: Self.at(4))
        #expect(machine.outcome == nil)
        machine.wake(at: Self.at(5))
        #expect(machine.outcome == .met)
    }

    // MARK: Timeout

    @Test func timeIsUp() {
        var machine = Self.machine(timeout: .seconds(5))
        machine.take(at: Self.start) { $0 = Self.down }
        #expect(machine.nextDeadline(after: Self.start) == Self.at(5))
        machine.wake(at: Self.at(4))
        #expect(machine.outcome == nil)
        machine.wake(at: Self.at(5))
        #expect(machine.outcome == .timedOut)
    }

    @Test func whatHoldsAtTheLastMomentCounts() {
        var machine = Self.machine(stable: .seconds(5), timeout: .seconds(5))
        machine.take(at: Self.start) { $0 = Self.up }
        machine.wake(at: Self.at(5))
        #expect(machine.outcome == .met)
    }

    /// However short the time is, somebody has to have looked.
    @Test func noTimeIsOneLook() {
        var machine = Self.machine(timeout: .zero)
        machine.wake(at: Self.start)
        #expect(machine.outcome == nil)
        #expect(machine.nextDeadline(after: Self.start) == Self.start + WaitMachine.firstLook)
        var satisfied = machine
        satisfied.take(at: Self.start) { $0 = Self.up }
        #expect(satisfied.outcome == .met)
        var unsatisfied = machine
        unsatisfied.take(at: Self.start) { $0 = Self.down }
        #expect(unsatisfied.outcome == .timedOut)
        machine.wake(at: Self.start + WaitMachine.firstLook)
        #expect(machine.outcome == .timedOut, "whoever says nothing is not waited for")
    }

    // MARK: Fail fast

    private static func outcome(
        _ evidence: Evidence,
        _ conditions: [WaitCondition] = [.status(.satisfied)],
        not isNegated: Bool = false,
        after seconds: Int = 0
    ) -> WaitMachine.Outcome? {
        var machine = self.machine(conditions, not: isNegated, failsFast: true)
        machine.take(at: self.start) { $0 = Fixtures.view(evidence) }
        if seconds > 0 { machine.wake(at: self.at(seconds)) }
        return machine.outcome
    }

    @Test func withoutAnyInterface() {
        let none = Fixtures.evidence([], ipv4: .noRoute)
        #expect(Self.outcome(none) == .hopeless("there is no network interface besides loopback"))
        var patient = Self.machine()
        patient.take(at: Self.start) { $0 = Fixtures.view(none) }
        #expect(patient.outcome == nil, "it waits unless it is told otherwise")
    }

    @Test func whatIsDownNeedsSomebody() {
        let down = Fixtures.interface { $0.flags = [] }
        let blocked = Fixtures.interface("wlan0", index: 3, type: .wifi) {
            $0.flags = []
            $0.isRadioBlocked = true
        }
        #expect(
            Self.outcome(Fixtures.evidence([down, blocked], ipv4: .noRoute))
                == .hopeless("eth0 is administratively down; wlan0 is blocked by a radio switch")
        )
    }

    @Test func aCarrierMayTakeAMoment() {
        let unplugged = Fixtures.evidence([Fixtures.interface(carrier: false)], ipv4: .noRoute)
        #expect(Self.outcome(unplugged, after: 5) == nil)
        #expect(Self.outcome(unplugged, after: 6) == .hopeless("eth0 has no carrier"))
        var machine = Self.machine(failsFast: true)
        machine.take(at: Self.start) { $0 = Fixtures.view(unplugged) }
        #expect(machine.nextDeadline(after: Self.start) == Self.at(6))
    }

    @Test func anAddressMayTakeTheGrace() {
        let bare = Fixtures.evidence([Fixtures.interface(addresses: [], gateway: nil)], ipv4: .noRoute)
        #expect(Self.outcome(bare, after: 44) == nil)
        #expect(Self.outcome(bare, after: 45) == .hopeless("eth0 has no address"))
    }

    @Test func whatComesBeginsItsTimeAnew() {
        var machine = Self.machine(failsFast: true)
        machine.take(at: Self.start) {
            $0 = Fixtures.view(Fixtures.evidence([Fixtures.interface(carrier: false)], ipv4: .noRoute))
        }
        machine.take(at: Self.at(5)) {
            $0 = Fixtures.view(Fixtures.evidence([Fixtures.interface(addresses: [], gateway: nil)], ipv4: .noRoute))
        }
        machine.wake(at: Self.at(49))
        #expect(machine.outcome == nil)
        machine.wake(at: Self.at(50))
        #expect(machine.outcome == .hopeless("eth0 has no address"))
    }

    @Test func aStepThatCanBeStartedIsAProspect() {
        let wifi = Fixtures.interface("wlan0", type: .wifi, carrier: false, addresses: [], gateway: nil)
        #expect(Self.outcome(Fixtures.evidence([wifi], ipv4: .noRoute), after: 100_000) == nil)
    }

    @Test func whatIsUpIsAProspect() {
        #expect(Self.outcome(Fixtures.routed, [.family(.ipv6)], after: 100_000) == nil)
        #expect(Self.outcome(Fixtures.evidence([Fixtures.interface()], ipv4: .rejected(.blackhole)), after: 9) == nil)
    }

    @Test func onlyWhatIsAskedForCounts() {
        let other = WaitCondition.interface(Fixtures.pattern("wlan*"), [])
        #expect(Self.outcome(Fixtures.routed, [other]) == .hopeless("there is no interface wlan*"))
        #expect(Self.outcome(Fixtures.routed, [.type(.wifi, [])]) == .hopeless("there is no interface of type wifi"))
        #expect(Self.outcome(Fixtures.routed, [.interface(Fixtures.pattern("eth*"), [.ipv6])]) == nil)
    }

    @Test func whatIsThereCanAlwaysEnd() {
        let none = Fixtures.evidence([], ipv4: .noRoute)
        #expect(Self.outcome(none, [.status(.satisfied), .dns], not: true) == .met)
        #expect(Self.outcome(Fixtures.routed, [.status(.unsatisfied)]) == nil)
        #expect(Self.outcome(none, [.status(.requiresConnection)]) == nil)
    }

    @Test func nobodyKnowsWhatAStatementIsBuiltOn() {
        var stated = Evidence(at: Fixtures.now)
        stated.conclusion = Conclusion(.unsatisfied, PathReason(.stated, "the modem sleeps"))
        #expect(Self.outcome(stated, after: 100_000) == nil)
        var machine = Self.machine(failsFast: true)
        machine.wake(at: Self.at(100_000))
        #expect(machine.outcome == nil, "nobody has said anything")
    }
}

extension Fixtures {
    /// An interface with something changed.
    static func interface(
        _ name: String = "eth0",
        index: UInt32 = 2,
        type: InterfaceType = .wired,
        _ change: (inout NetworkInterface) -> Void
    ) -> NetworkInterface {
        var interface = self.interface(name, index: index, type: type, gateway: nil)
        change(&interface)
        return interface
    }

    static func view(_ evidence: Evidence) -> WaitView {
        let snapshots = [self.backendSnapshot(evidence)]
        return WaitView(path: NetworkPath.merging(snapshots, policy: .priority), snapshots: snapshots)
    }

    static func view(_ interface: NetworkInterface) -> WaitView {
        self.view(self.evidence([interface], ipv4: .noRoute))
    }

    static func pattern(_ text: String) -> GlobPattern {
        guard let pattern = GlobPattern(text) else { preconditionFailure("\(text) is a pattern") }
        return pattern
    }
}

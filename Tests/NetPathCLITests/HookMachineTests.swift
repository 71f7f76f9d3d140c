// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

@testable import NetPathCLI

extension StatusSnapshot {
    /// A snapshot of a path with a status, carried by an interface.
    static func stating(_ status: PathStatus, over name: String = "eth0", because text: String = "") -> StatusSnapshot {
        let interface = PathInterface(index: 2, name: name, type: .wired, reason: PathReason(.routed, "it does"))
        let path = NetworkPath(status, PathReason(.routed, text), interfaces: [interface])
        return StatusSnapshot(path: path, backends: [], takenAt: Fixtures.clock)
    }
}

@Suite struct HookMachineTests {
    private static let up = StatusSnapshot.stating(.satisfied)
    private static let down = StatusSnapshot.stating(.unsatisfied)
    private static let pending = StatusSnapshot.stating(.requiresConnection)

    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private func machine(_ change: (inout Hook) -> Void = { _ in }) -> HookMachine {
        var hook = Hook(name: "test", command: ["/bin/true"])
        change(&hook)
        return HookMachine(hook)
    }

    private func told(
        _ snapshot: StatusSnapshot,
        after previous: StatusSnapshot?,
        attempt: Int = 1
    ) -> [HookMachine.Action] {
        [.run(HookInput(snapshot: snapshot, previous: previous, attempt: attempt))]
    }

    @Test func theFirstStateIsToldOnce() {
        var machine = self.machine()
        #expect(machine.nextDeadline == nil)
        #expect(machine.show(Self.up, now: self.time(0)) == self.told(Self.up, after: nil))
        #expect(machine.ended(well: true, now: self.time(1)) == [])
        #expect(machine.show(Self.up, now: self.time(2)) == [])
        #expect(machine.show(Self.down, now: self.time(3)) == self.told(Self.down, after: Self.up))
        #expect(machine.nextDeadline == self.time(33))
    }

    @Test func oneRunAtATimeAndTheNewestStateWins() {
        var machine = self.machine()
        _ = machine.show(Self.up, now: self.time(0))
        #expect(machine.show(Self.down, now: self.time(1)) == [])
        #expect(machine.show(Self.pending, now: self.time(2)) == [])
        // Not the one between them, of which the command never heard.
        #expect(machine.ended(well: true, now: self.time(3)) == self.told(Self.pending, after: Self.up))
    }

    @Test func whatCameAndWentWhileTheCommandRanIsNotTold() {
        var machine = self.machine()
        _ = machine.show(Self.up, now: self.time(0))
        _ = machine.show(Self.down, now: self.time(1))
        _ = machine.show(Self.up, now: self.time(2))
        #expect(machine.ended(well: true, now: self.time(3)) == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test func aChangeHasToHold() {
        var machine = self.machine { $0.holdTime = .seconds(5) }
        #expect(machine.show(Self.down, now: self.time(0)) == [])
        #expect(machine.nextDeadline == self.time(5))
        // The first state as well.
        #expect(machine.show(Self.up, now: self.time(3)) == [])
        #expect(machine.nextDeadline == self.time(8))
        #expect(machine.wake(now: self.time(7.9)) == [])
        #expect(machine.wake(now: self.time(8)) == self.told(Self.up, after: nil))
        _ = machine.ended(well: true, now: self.time(8))
        // Back in time, so nothing happened.
        #expect(machine.show(Self.down, now: self.time(10)) == [])
        #expect(machine.show(Self.up, now: self.time(14)) == [])
        #expect(machine.nextDeadline == nil)
        #expect(machine.wake(now: self.time(30)) == [])
    }

    @Test func aStateIsHeldWhileItsDetailsChange() {
        var machine = self.machine { $0.holdTime = .seconds(5) }
        _ = machine.show(.stating(.satisfied, over: "eth0"), now: self.time(0))
        let newest = StatusSnapshot.stating(.satisfied, over: "wlan0")
        _ = machine.show(newest, now: self.time(4))
        #expect(machine.wake(now: self.time(5)) == self.told(newest, after: nil))
    }

    @Test func holdingCountsWhileTheCommandRuns() {
        var machine = self.machine { $0.holdTime = .seconds(5) }
        _ = machine.show(Self.up, now: self.time(0))
        _ = machine.wake(now: self.time(5))
        _ = machine.show(Self.down, now: self.time(6))
        #expect(machine.ended(well: true, now: self.time(12)) == self.told(Self.down, after: Self.up))
    }

    @Test func aFailureIsRepeatedWithGrowingPauses() {
        var machine = self.machine { $0.retries = 2 }
        _ = machine.show(Self.up, now: self.time(0))
        _ = machine.ended(well: true, now: self.time(0))
        _ = machine.show(Self.down, now: self.time(10))
        #expect(
            machine.ended(well: false, now: self.time(11)) == [.log(.info, "is tried again in 1s (1 of 2)")]
        )
        #expect(machine.nextDeadline == self.time(12))
        #expect(machine.wake(now: self.time(12)) == self.told(Self.down, after: Self.up, attempt: 2))
        _ = machine.ended(well: false, now: self.time(13))
        #expect(machine.nextDeadline == self.time(15))
        #expect(machine.wake(now: self.time(15)) == self.told(Self.down, after: Self.up, attempt: 3))
        #expect(machine.ended(well: false, now: self.time(16)) == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test func theNewestStateSupersedesARepetition() {
        var machine = self.machine { $0.retries = 5 }
        _ = machine.show(Self.up, now: self.time(0))
        _ = machine.ended(well: false, now: self.time(0))
        #expect(machine.show(Self.down, now: self.time(0.5)) == self.told(Self.down, after: Self.up))
        _ = machine.ended(well: true, now: self.time(0.6))
        #expect(machine.nextDeadline == nil)
    }

    @Test func aRepetitionWaitsForItsState() {
        var machine = self.machine {
            $0.retries = 5
            $0.holdTime = .seconds(10)
        }
        _ = machine.show(Self.up, now: self.time(0))
        _ = machine.wake(now: self.time(10))
        _ = machine.ended(well: false, now: self.time(10))
        _ = machine.show(Self.down, now: self.time(10.5))
        #expect(machine.wake(now: self.time(12)) == [])
        #expect(machine.show(Self.up, now: self.time(15)) == self.told(Self.up, after: nil, attempt: 2))
    }

    @Test func whatTakesTooLongIsEnded() {
        var machine = self.machine { $0.retries = 1 }
        _ = machine.show(Self.up, now: self.time(0))
        #expect(machine.wake(now: self.time(29)) == [])
        #expect(machine.wake(now: self.time(30)) == [.terminate])
        #expect(machine.nextDeadline == nil)
        #expect(machine.wake(now: self.time(31)) == [])
        _ = machine.ended(well: false, now: self.time(32))
        #expect(machine.wake(now: self.time(33)) == self.told(Self.up, after: nil, attempt: 2))
    }

    @Test func nothingHappensAfterTheStop() {
        var machine = self.machine { $0.retries = 1 }
        _ = machine.show(Self.up, now: self.time(0))
        #expect(machine.stop() == [.terminate])
        #expect(machine.ended(well: false, now: self.time(1)) == [])
        #expect(machine.show(Self.down, now: self.time(2)) == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test func theRunOfAFormerHookEndsFirst() {
        var machine = HookMachine(Hook(name: "test", command: ["/bin/true"]), isOccupied: true)
        #expect(machine.show(Self.up, now: self.time(0)) == [])
        #expect(machine.ended(well: false, now: self.time(1)) == self.told(Self.up, after: nil))
    }

    @Test(arguments: [(Hook.Trigger.status, [false, false]), (.interface, [true, false]), (.any, [true, true])])
    func theTriggerSaysWhatAChangeIs(trigger: Hook.Trigger, isToldOf: [Bool]) {
        let changes = [
            StatusSnapshot.stating(.satisfied, over: "wlan0"), .stating(.satisfied, because: "another reason"),
        ]
        for (change, isTold) in zip(changes, isToldOf) {
            var machine = self.machine { $0.trigger = trigger }
            _ = machine.show(Self.up, now: self.time(0))
            _ = machine.ended(well: true, now: self.time(0))
            #expect(machine.show(Self.up, now: self.time(1)) == [])
            #expect(machine.show(change, now: self.time(1)).isEmpty != isTold)
        }
        // While there is no path nothing carries it.
        #expect(Hook.Trigger.interface.isSame(Self.down, .stating(.unsatisfied, over: "wlan0")))
    }

    /// Whatever happens: one run at a time, the newest state, what was told before, and in the end nothing is left untold.
    @Test(arguments: 0..<40)
    func everyWalkEndsWithTheNewestStateTold(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (holdTime, retries) = (Int.random(in: 0...3, using: &generator), Int.random(in: 0...2, using: &generator))
        var machine = self.machine {
            $0.holdTime = .seconds(holdTime)
            $0.retries = retries
        }
        var (now, isRunning) = (0.0, false)
        var (newest, last): (StatusSnapshot?, HookInput?) = (nil, nil)
        func check(_ actions: [HookMachine.Action]) {
            for case .run(let input) in actions {
                #expect(!isRunning)
                isRunning = true
                #expect(input.snapshot == newest)
                if input.attempt > 1 {
                    #expect(input.snapshot == last?.snapshot && input.attempt == (last?.attempt ?? 0) + 1)
                    #expect(input.attempt <= retries + 1)
                } else {
                    #expect(input.previous == last?.snapshot && input.snapshot != last?.snapshot)
                }
                last = input
            }
        }
        for _ in 0..<200 {
            now += Double.random(in: 0...2, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                newest = [Self.up, Self.down, Self.pending].randomElement(using: &generator)
                if let newest { check(machine.show(newest, now: self.time(now))) }
            case 1 where isRunning:
                isRunning = false
                check(machine.ended(well: .random(using: &generator), now: self.time(now)))
            default: check(machine.wake(now: self.time(now)))
            }
        }
        for _ in 0..<20 {
            now += 40
            if isRunning {
                isRunning = false
                check(machine.ended(well: true, now: self.time(now)))
            } else {
                check(machine.wake(now: self.time(now)))
            }
        }
        #expect(last?.snapshot == newest && machine.nextDeadline == nil)
    }
}

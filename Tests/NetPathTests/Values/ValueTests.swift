// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@Suite struct ValueTests {
    private struct Sample: Hashable {
        var fact: Int
        @EqualityIgnored var age: Int = 0
    }

    @Test func ignoredValuesNeverMakeOwnersDiffer() {
        let young = Sample(fact: 1, age: 1)
        let old = Sample(fact: 1, age: 2)
        #expect(young == old)
        #expect(young.hashValue == old.hashValue)
        #expect(Set([young, old]).count == 1)
        #expect(young != Sample(fact: 2, age: 1))
        #expect(old.age == 2, "ignored, not lost")
    }

    @Test func timeAndCountersAreNoEvidence() {
        let evidence = Evidence.noLink
        let later = evidence.changed {
            $0.observedAt = $0.observedAt + .seconds(9)
            $0.resynchronizations = 7
            $0.suspensions = 7
            $0.interfaces?[1].carrierSince = MonotonicTime(nanoseconds: 1)
        }
        #expect(later == evidence)
        #expect(evidence.changed { $0.isPartial = true } != evidence)
        #expect(
            ProbeOutcome(target: "a", result: .connected, roundTrip: .seconds(1))
                == ProbeOutcome(target: "a", result: .connected, roundTrip: .seconds(2))
        )
    }

    static let usability: [(AddressState, Bool)] = [
        ([], true), (.deprecated, true), (.tentative, false), ([.tentative, .optimistic], true), (.duplicate, false),
        ([.tentative, .duplicate], false), ([.tentative, .optimistic, .duplicate], false),
    ]

    @Test(arguments: Self.usability)
    func addressesAreUsableBy(state: AddressState, isUsable: Bool) {
        #expect(InterfaceAddress(.fixture("2001:db8::7/64"), state: state).isUsable == isUsable)
    }

    @Test func kernelWordsKeepOnlyWhatMatters() {
        #expect(InterfaceFlags(kernelFlags: .max) == [.up, .broadcast, .loopback, .pointToPoint, .noARP, .multicast])
        // RUNNING, PROMISC, ALLMULTI, LOWER_UP, DORMANT.
        #expect(InterfaceFlags(kernelFlags: 0x3_0340) == [])
        #expect(AddressState(kernelFlags: .max) == [.optimistic, .duplicate, .deprecated, .tentative])
        // SECONDARY, PERMANENT, NOPREFIXROUTE.
        #expect(AddressState(kernelFlags: 0x281) == [])
    }

    @Test func statusesAreOrdered() {
        #expect(PathStatus.allCases.sorted() == [.unsatisfied, .requiresConnection, .satisfied])
    }

    @Test func timeAddsAndSubtracts() {
        let time = MonotonicTime(nanoseconds: 5)
        #expect((time + .nanoseconds(7)).nanoseconds == 12)
        #expect(time + .seconds(3) - time == .seconds(3))
        #expect(time < time + .nanoseconds(1))
    }

    @Test(arguments: [
        Duration.seconds(9_223_372_036) + .milliseconds(900), .seconds(10_000_000_000), .seconds(Int64.max),
        .seconds(9_000_000_000),
    ])
    func durationsBeyondAnyDeadlineSaturate(duration: Duration) {
        // A machine that has been up for ten years.
        let now = MonotonicTime(nanoseconds: 315_360_000_000_000_000)
        #expect(now + duration > now + .seconds(4_000_000_000))
        #expect(now + (.zero - duration) < now)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import Reachability

@Suite struct HostResolutionTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let one = InternetAddress.fixture("192.0.2.1")
    private let two = InternetAddress.fixture("192.0.2.2")
    private var resolution = HostResolution()

    @Test mutating func aSuccessIsNotAskedAgain() {
        let asks = self.resolution.networkChanged(now: self.start)
        #expect(asks)
        #expect(self.resolution.nextDeadline == self.start + HostResolution.patience)
        self.resolution.ended(.addresses([self.one, self.two]), now: self.start)
        #expect(self.resolution.addresses == [self.one, self.two])
        #expect(self.resolution.nextDeadline == nil, "idle means idle")
    }

    @Test mutating func anotherOrderIsNoNews() {
        _ = self.resolution.networkChanged(now: self.start)
        self.resolution.ended(.addresses([self.one, self.two]), now: self.start)
        _ = self.resolution.networkChanged(now: self.start + .seconds(1))
        self.resolution.ended(.addresses([self.two, self.one]), now: self.start + .seconds(1))
        #expect(self.resolution.addresses == [self.one, self.two])
    }

    @Test(arguments: [NameLookup.failed("no such name"), .addresses([])])
    mutating func failuresAreRepeatedAndAddressesKept(lookup: NameLookup) {
        _ = self.resolution.networkChanged(now: self.start)
        self.resolution.ended(.addresses([self.one]), now: self.start)
        var now = self.start + .seconds(10)
        let asks = self.resolution.networkChanged(now: now)
        #expect(asks)
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            self.resolution.ended(lookup, now: now)
            #expect(self.resolution.failure != nil)
            #expect(self.resolution.addresses == [self.one], "a dead name server says nothing about the host")
            #expect(self.resolution.nextDeadline == now + .seconds(pause))
            let asksEarly = self.resolution.wake(now: now + .seconds(pause) + .milliseconds(-1))
            #expect(!asksEarly)
            now = now + .seconds(pause)
            let asksInTime = self.resolution.wake(now: now)
            #expect(asksInTime)
        }
        self.resolution.ended(.addresses([self.two]), now: now)
        #expect(self.resolution.failure == nil)
        #expect(self.resolution.addresses == [self.two])
    }

    @Test mutating func aChangeDuringALookupRepeatsIt() {
        _ = self.resolution.networkChanged(now: self.start)
        let asksAtOnce = self.resolution.networkChanged(now: self.start + .seconds(1))
        #expect(!asksAtOnce, "one at a time")
        self.resolution.ended(.addresses([self.one]), now: self.start + .seconds(2))
        let asksAfterwards = self.resolution.wake(now: self.start + .seconds(2))
        #expect(asksAfterwards)
    }

    @Test mutating func aStormOfChangesIsNoStormOfLookups() {
        var lookups = 0
        for millisecond in 0..<1000 {
            let now = self.start + .milliseconds(millisecond)
            if self.resolution.networkChanged(now: now) || self.resolution.wake(now: now) {
                lookups += 1
                self.resolution.ended(.addresses([self.one]), now: now)
            }
        }
        #expect(lookups == 4)
    }

    @Test mutating func silenceIsToldAndTheLateAnswerTaken() {
        _ = self.resolution.networkChanged(now: self.start)
        let asksEarly = self.resolution.wake(now: self.start + .seconds(4))
        #expect(!asksEarly)
        #expect(self.resolution.failure == nil)
        let asksAgain = self.resolution.wake(now: self.start + .seconds(5))
        #expect(!asksAgain, "the lookup is still under way")
        #expect(self.resolution.failure == "the name servers did not answer within 5s")
        #expect(self.resolution.nextDeadline == nil)
        self.resolution.ended(.addresses([self.one]), now: self.start + .seconds(30))
        #expect(self.resolution.addresses == [self.one])
    }
}

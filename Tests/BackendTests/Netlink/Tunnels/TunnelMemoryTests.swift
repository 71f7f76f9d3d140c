// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// What packets that come in through a tunnel prove, and for how long.
@Suite struct TunnelMemoryTests {
    private static let ways = TunnelMemory.Ways(routes: [], interfaces: [2])
    private static let lost = TunnelMemory.Ways(routes: [], interfaces: [])

    /// Looks at a tunnel at a moment, when so many packets have come in.
    private func look(
        _ memory: inout TunnelMemory,
        _ seconds: Int64,
        _ count: UInt64?,
        _ ways: TunnelMemory.Ways = Self.lost
    ) -> Bool {
        memory.isReceiving(ways, now: .second(seconds), count: { count })
    }

    @Test func whatCameBeforeTheLossProvesNothing() {
        var memory = TunnelMemory()
        #expect(!self.look(&memory, 0, 5, Self.ways))
        // Ten thousand packets later the cable is pulled.
        #expect(!self.look(&memory, 100, 10_000))
        #expect(!self.look(&memory, 101, 10_003), "what was on its way")
        #expect(!self.look(&memory, 103, 10_003))
        #expect(!self.look(&memory, 200, 10_003))
    }

    @Test func proofLapses() {
        var memory = TunnelMemory()
        _ = self.look(&memory, 0, 5)
        _ = self.look(&memory, 3, 7)
        #expect(self.look(&memory, 6, 8))
        #expect(self.look(&memory, 7, 8), "one event soon after another says nothing new")
        #expect(!self.look(&memory, 9, 8))
        #expect(self.look(&memory, 12, 9))
        #expect(!self.look(&memory, 15, nil), "the kernel does not say")
    }

    @Test func anyChangeBeginsAnew() {
        var memory = TunnelMemory()
        _ = self.look(&memory, 0, 5)
        _ = self.look(&memory, 3, 5)
        #expect(self.look(&memory, 6, 6))
        #expect(!self.look(&memory, 7, 9, Self.ways))
        memory.note([2], isCarried: true)
        #expect(!self.look(&memory, 20, 90, Self.ways))
        #expect(!self.look(&memory, 23, 91, Self.ways))
        #expect(self.look(&memory, 26, 92, Self.ways))
    }

    @Test func carriersAreThoseThatLedOutLast() {
        var memory = TunnelMemory()
        memory.note([2, 3], isCarried: true)
        memory.note([], isCarried: false)
        #expect(memory.carriers == [2, 3])
        memory.note([3], isCarried: true)
        #expect(memory.carriers == [3])
    }
}

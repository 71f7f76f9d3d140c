// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

struct ValueBufferTests {
    @Test(arguments: [
        (ValueBuffer<Int>.Policy.bufferingNewest(1), [4]), (.bufferingNewest(2), [3, 4]), (.bufferingOldest(2), [1, 2]),
        (.unbounded, [1, 2, 3, 4]),
    ])
    func whatIsKept(policy: ValueBuffer<Int>.Policy, kept: [Int]) async {
        let buffer = ValueBuffer<Int>(policy)
        for value in 1...4 { buffer.send(value) }
        buffer.finish()
        buffer.send(5)
        for value in kept { #expect(await buffer.next() == value) }
        #expect(await buffer.next() == nil)
    }

    @Test func orderHoldsWhileSomeAreTaken() async {
        let buffer = ValueBuffer<Int>(.unbounded)
        for value in 1...3 { buffer.send(value) }
        #expect(await buffer.next() == 1)
        for value in 4...5 { buffer.send(value) }
        for value in 2...5 { #expect(await buffer.next() == value) }
    }

    @Test func aConsumerThatWaitsIsHandedTheValue() async {
        let buffer = ValueBuffer<Int>()
        async let value = buffer.next()
        buffer.send(1)
        #expect(await value == 1)
    }

    @Test func cancellationEndsIt() async {
        let buffer = ValueBuffer<Int>()
        let consumer = Task { await buffer.next() }
        consumer.cancel()
        #expect(await consumer.value == nil)
        buffer.send(1)
        #expect(await buffer.next() == nil)
    }

    /// What waits on an actor stays there: a hop to the global pool has libdispatch wake the process every second.
    @Test @MainActor func theConsumerStaysOnItsActor() async {
        let buffer = ValueBuffer<Int>()
        Task { buffer.send(1) }
        let value = await buffer.next()
        MainActor.assertIsolated()
        #expect(value == 1)
    }
}

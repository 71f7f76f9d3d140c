// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct PathDeliveryTests {
    private func path(_ sequence: UInt64) -> NetworkPath {
        let snapshot = BackendSnapshot(
            report: BackendReport(
                name: "a",
                mode: .active,
                health: .healthy,
                limitations: [],
                restarts: 0,
                resynchronizations: 0
            ),
            evidence: .noLink,
            verdict: Verdict(.unsatisfied, PathReason(.noCarrier, "number \(sequence)"))
        )
        guard var path = NetworkPath.merging([snapshot], policy: .priority) else {
            preconditionFailure("a verdict makes a path")
        }
        path.sequence = sequence
        return path
    }

    private func subscriber(_ recorder: PathRecorder) -> PathDelivery.Subscriber {
        PathDelivery.Subscriber(handler: recorder.record, onStop: nil)
    }

    private func deliverAll(_ delivery: inout PathDelivery) {
        guard delivery.claim() else { return }
        while let call = delivery.next() { call.handler(call.value) }
    }

    @Test func everyoneGetsEveryPathOnceAndInOrder() {
        var delivery = PathDelivery()
        let (early, late) = (PathRecorder(), PathRecorder())
        _ = delivery.add(self.subscriber(early), current: nil)
        delivery.publish(self.path(1))
        delivery.publish(self.path(2))
        _ = delivery.add(self.subscriber(late), current: self.path(2))
        delivery.publish(self.path(3))
        self.deliverAll(&delivery)
        self.deliverAll(&delivery)
        #expect(early.paths.map(\.sequence) == [1, 2, 3])
        #expect(late.paths.map(\.sequence) == [2, 3])
    }

    @Test func oneDeliversAtATime() {
        var delivery = PathDelivery()
        func claim() -> Bool { delivery.claim() }
        func next() -> UInt64? { delivery.next()?.value.sequence }
        #expect(!claim(), "nothing to deliver")
        _ = delivery.add(self.subscriber(PathRecorder()), current: self.path(1))
        #expect(claim())
        #expect(!claim())
        #expect(next() == 1)
        delivery.publish(self.path(2))
        #expect(!claim(), "the one who delivers will find it")
        #expect(next() == 2)
        #expect(next() == nil)
        delivery.publish(self.path(3))
        #expect(claim(), "the right was given back")
    }

    @Test func whoLeftGetsNothing() {
        var delivery = PathDelivery()
        let (leaving, staying) = (PathRecorder(), PathRecorder())
        let id = delivery.add(self.subscriber(leaving), current: self.path(1))
        _ = delivery.add(self.subscriber(staying), current: self.path(1))
        let removed = [delivery.remove(id), delivery.remove(id)]
        #expect(removed.map { $0 != nil } == [true, false])
        self.deliverAll(&delivery)
        #expect(leaving.paths.isEmpty)
        #expect(staying.paths.count == 1)
        let last = delivery.removeAll()
        #expect(last.count == 1)
        delivery.publish(self.path(2))
        self.deliverAll(&delivery)
        #expect(staying.paths.count == 1)
    }
}

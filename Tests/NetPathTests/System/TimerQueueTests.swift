// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@Suite struct TimerQueueTests {
    private static func moment(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test func whatIsDueComesInTheOrderOfDeadlinesAndThenOfNames() {
        var queue = TimerQueue<String>()
        #expect(queue.nextDeadline == nil && queue.removeDue(at: Self.moment(9)).isEmpty)
        let early = queue.token(for: Self.moment(2))
        queue.insert("c", at: Self.moment(3))
        queue.insert("b", at: Self.moment(2))
        queue.insert("z", at: Self.moment(8))
        queue.insert("a", for: early)
        #expect(queue.nextDeadline == Self.moment(2))
        #expect(queue.removeDue(at: Self.moment(1)).isEmpty)
        #expect(queue.removeDue(at: Self.moment(3)) == ["a", "b", "c"])
        #expect(queue.nextDeadline == Self.moment(8))
        queue.insert("y", at: Self.moment(5))
        #expect(queue.removeDue(at: Self.moment(9)) == ["y", "z"] && queue.nextDeadline == nil)
    }

    @Test func aTimerIsRemovedOnceAndOnlyByItsName() {
        var queue = TimerQueue<Int>()
        let first = queue.insert(1, at: Self.moment(4))
        let second = queue.insert(2, at: Self.moment(4))
        let reserved = queue.token(for: Self.moment(4))
        #expect(queue.remove(reserved) == nil, "it was never inserted")
        #expect(queue.remove(first) == 1)
        #expect(queue.remove(first) == nil, "it was removed already")
        #expect(queue.removeDue(at: Self.moment(4)) == [2])
        #expect(queue.remove(second) == nil, "it was due already")
    }

    /// Any sequence of insertions, removals and advances gives what a list that is searched anew each time gives.
    @Test(arguments: 1...20) func itDoesWhatAPlainListDoes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TimerQueue<Int>()
        var list: [(token: TimerQueue<Int>.Token, payload: Int)] = []
        for step in 0..<400 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                let token = queue.insert(step, at: Self.moment(Int.random(in: 0..<50, using: &generator)))
                list.append((token, step))
            case 2:
                guard let entry = list.randomElement(using: &generator) else { continue }
                list.removeAll { $0.token == entry.token }
                #expect(queue.remove(entry.token) == entry.payload)
            default:
                let now = Self.moment(Int.random(in: 0..<12, using: &generator))
                let due = list.filter { $0.token.deadline <= now }
                    .sorted { ($0.token.deadline, $0.payload) < ($1.token.deadline, $1.payload) }
                list.removeAll { $0.token.deadline <= now }
                #expect(queue.removeDue(at: now) == due.map(\.payload))
            }
            #expect(queue.nextDeadline == list.map(\.token.deadline).min())
        }
    }
}

extension TimerQueue {
    @discardableResult
    fileprivate mutating func insert(_ payload: Payload, at deadline: MonotonicTime) -> Token {
        let token = self.token(for: deadline)
        self.insert(payload, for: token)
        return token
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// What is to happen at which moment, the earliest first.
///
/// A value without a clock and without a lock: its owner asks for the next deadline, waits in its own way, and takes
/// what is due. Timers of one moment come in the order they were named.
package struct TimerQueue<Payload: Sendable>: Sendable {
    /// Names a timer, also before it is inserted: what cancels it may need the name by then.
    package struct Token: Hashable, Comparable, Sendable {
        /// When the timer is due.
        package let deadline: MonotonicTime
        fileprivate let number: UInt64

        /// Orders timers by when they are due, those of one moment by when they were named.
        package static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.deadline, lhs.number) < (rhs.deadline, rhs.number)
        }
    }

    private struct Entry: Sendable {
        let token: Token
        let payload: Payload
    }

    /// The latest first, so that the next one is taken from the end.
    private var entries: [Entry] = []
    private var lastNumber: UInt64 = 0

    /// Makes an empty queue.
    package init() {}

    /// When the next timer is due; nil when there is none.
    package var nextDeadline: MonotonicTime? { self.entries.last?.token.deadline }

    /// Names a timer that may be inserted later, once.
    package mutating func token(for deadline: MonotonicTime) -> Token {
        self.lastNumber += 1
        return Token(deadline: deadline, number: self.lastNumber)
    }

    /// Adds a timer under a name of this queue that has none yet.
    package mutating func insert(_ payload: Payload, for token: Token) {
        self.entries.insert(Entry(token: token, payload: payload), at: self.position(of: token))
    }

    /// Takes a timer back; nil when it is not there, any more or yet.
    @discardableResult
    package mutating func remove(_ token: Token) -> Payload? {
        let position = self.position(of: token)
        guard position < self.entries.count, self.entries[position].token == token else { return nil }
        return self.entries.remove(at: position).payload
    }

    /// Takes what is due, in the order of the deadlines.
    package mutating func removeDue(at now: MonotonicTime) -> [Payload] {
        var due: [Payload] = []
        while let last = self.entries.last, last.token.deadline <= now {
            due.append(last.payload)
            self.entries.removeLast()
        }
        return due
    }

    /// Where a timer is, or belongs: before the first that is due no later.
    private func position(of token: Token) -> Int {
        var range = 0..<self.entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if self.entries[middle].token > token {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Who gets which path next.
typealias PathDelivery = Delivery<NetworkPath>

/// Who gets which value next.
///
/// Values are put in under the coordinator's lock, in the order they were made, and taken out one call at a time by
/// whichever thread delivers: every subscriber sees every value once, in order, one call after the other, and no lock
/// is held while its code runs.
package struct Delivery<Value: Sendable>: Sendable {
    package struct Subscriber: Sendable {
        package let handler: @Sendable (Value) -> Void
        package let onStop: (@Sendable () -> Void)?

        package init(handler: @escaping @Sendable (Value) -> Void, onStop: (@Sendable () -> Void)? = nil) {
            self.handler = handler
            self.onStop = onStop
        }
    }

    /// A call to make.
    package struct Call: Sendable {
        package let handler: @Sendable (Value) -> Void
        fileprivate let shared: Shared<Value>
        package var value: Value { self.shared.value }
    }

    private var subscribers: [(id: UInt64, subscriber: Subscriber)] = []
    private var pending: [(id: UInt64, shared: Shared<Value>)] = []
    private var taken = 0
    private var lastID: UInt64 = 0
    private var isDelivering = false

    /// Creates a list without subscribers.
    package init() {}

    /// Whether there is no subscriber.
    package var isEmpty: Bool { self.subscribers.isEmpty }

    /// Adds a subscriber, who gets the current value first.
    package mutating func add(_ subscriber: Subscriber, current: Value?) -> UInt64 {
        self.lastID += 1
        self.subscribers.append((self.lastID, subscriber))
        if let current { self.pending.append((self.lastID, Shared(current))) }
        return self.lastID
    }

    /// Removes a subscriber and returns it, so that what its closures capture is not released under the lock.
    package mutating func remove(_ id: UInt64) -> Subscriber? {
        guard let position = self.subscribers.firstIndex(where: { $0.id == id }) else { return nil }
        return self.subscribers.remove(at: position).subscriber
    }

    /// Removes all subscribers and returns them, so that they can be told of the end.
    package mutating func removeAll() -> [Subscriber] {
        defer { self.subscribers = [] }
        return self.subscribers.map(\.subscriber)
    }

    package mutating func publish(_ value: Value) {
        self.publish(Shared(value))
    }

    package mutating func publish(_ shared: Shared<Value>) {
        for position in self.subscribers.indices { self.pending.append((self.subscribers[position].id, shared)) }
    }

    /// Claims the right to deliver; false when another call, perhaps further up this very stack, has it.
    package mutating func claim() -> Bool {
        guard !self.isDelivering, !self.pending.isEmpty else { return false }
        self.isDelivering = true
        return true
    }

    /// Takes the next call to make; nil, and the right to deliver is given back, when there is none.
    package mutating func next() -> Call? {
        while self.taken < self.pending.count {
            let (id, shared) = self.pending[self.taken]
            self.taken += 1
            let found = self.subscribers.first { $0.id == id }
            if let found { return Call(handler: found.subscriber.handler, shared: shared) }
        }
        self.pending.removeAll(keepingCapacity: true)
        self.taken = 0
        self.isDelivering = false
        return nil
    }
}

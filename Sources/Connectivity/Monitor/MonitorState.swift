// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What a monitor knows, and who has been told: without locks, queues and threads.
struct MonitorState: Sendable {
    /// What is called with connectedness, and where.
    enum Callback: Sendable {
        /// Where the delivery of the monitor says.
        case delivered(@Sendable (Bool) -> Void)
        case onMainActor(@MainActor (Bool) -> Void)
    }

    /// Of the observers of connectedness the two that are replaced rather than added.
    enum Slot: Hashable, Sendable { case handler, mainActorHandler }

    /// The next thing to do where the calls are made.
    enum Call: Sendable {
        /// Tell those who observe properties.
        case announce(from: ConnectivityUpdate?, to: ConnectivityUpdate)
        case handler(Callback, Bool, id: UInt64)
        case update(@Sendable (ConnectivityUpdate) -> Void, ConnectivityUpdate)
    }

    private struct Observer: Sendable {
        let callback: Callback
        var told: Bool?
    }

    private struct UpdateObserver: Sendable {
        let callback: @Sendable (ConnectivityUpdate) -> Void
        var version: UInt64 = 0
    }

    /// Receives the paths; nil while the monitor does not run.
    private(set) var relay: PathRelay?
    /// Whether it was started or stopped by a call: only until then observers start it.
    private(set) var hasBegun = false
    /// The newest there is; the last there was, when the monitor was stopped.
    private(set) var latest: ConnectivityUpdate?
    /// What ``ConnectivityUpdate/isConnected`` was last, in this run or an earlier one; true before anything was known.
    private var wasConnected = true
    /// The number of the newest path of this run.
    private var number: UInt64 = 0
    /// Counts what is worth telling.
    private var version: UInt64 = 0
    private var announced: (update: ConnectivityUpdate, version: UInt64)?
    /// What observers of connectedness are being told, and what they shall be told then.
    private var current: Bool?
    private var pending: [Bool] = []
    private var due: [UInt64] = []
    private var observers: [UInt64: Observer] = [:]
    private var updateObservers: [UInt64: UpdateObserver] = [:]
    private var streams: [UInt64: AsyncStream<ConnectivityUpdate>.Continuation] = [:]
    /// The sequences that end when the monitor is stopped.
    private var waits: Set<UInt64> = []
    private var slots: [Slot: UInt64] = [:]
    private var lastID: UInt64 = 0
    /// Whether calls are being made, or were asked for: no other thread may then.
    private var isDelivering = false

    // MARK: Lifetime

    /// Starts; false when it runs already.
    mutating func start(_ relay: PathRelay) -> Bool {
        guard self.relay == nil else { return false }
        self.relay = relay
        self.hasBegun = true
        // What was known at the last stop may not be true any more: a read now has to wait for the first path.
        self.latest = nil
        // The path that others share may be the one that was known then.
        self.number = 0
        return true
    }

    /// Stops, and returns what heard of paths; no call follows.
    mutating func stop() -> PathRelay? {
        self.hasBegun = true
        self.pending = []
        self.due = []
        self.current = nil
        return self.relay.take()
    }

    // MARK: Paths

    /// Takes a path; says whether there are calls to ask for.
    mutating func receive(_ update: ConnectivityUpdate, number: UInt64, from relay: PathRelay) -> Bool {
        // Paths come on several threads, and some after the stop.
        guard relay === self.relay, number > self.number else { return false }
        self.number = number
        let update = update.following(wasConnected: self.wasConnected)
        guard update != self.latest else { return false }
        self.latest = update
        self.wasConnected = update.isConnected
        self.version += 1
        for stream in self.streams.values { stream.yield(update) }
        if update.isConnected != self.pending.last ?? self.current {
            self.pending.append(update.isConnected)
            // An observer that was busy meanwhile is told that there was an interruption, not how often.
            if self.pending.count > 2 { self.pending.removeLast(2) }
        }
        return self.requestDelivery()
    }

    /// The newest update; without one, that of a path that was asked for instead.
    mutating func latest(or path: NetworkPath?) -> ConnectivityUpdate {
        if let latest { return latest }
        let update = ConnectivityUpdate(path, wasConnected: self.wasConnected)
        self.wasConnected = update.isConnected
        return update
    }

    // MARK: Calls

    /// Takes the next call to make; nil, and others may ask for calls again, when there is none.
    mutating func nextCall() -> Call? {
        guard self.relay != nil else {
            self.isDelivering = false
            return nil
        }
        if let latest, self.announced?.version != self.version {
            defer { self.announced = (latest, self.version) }
            return .announce(from: self.announced?.update, to: latest)
        }
        if let latest, let (id, observer) = self.updateObservers.first(where: { $0.value.version != self.version }) {
            self.updateObservers[id]?.version = self.version
            return .update(observer.callback, latest)
        }
        while true {
            while !self.due.isEmpty {
                if let call = self.call(for: self.due.removeFirst()) { return call }
            }
            guard !self.pending.isEmpty else {
                self.isDelivering = false
                return nil
            }
            let isConnected = self.pending.removeFirst()
            self.current = isConnected
            self.due = self.observers.keys.sorted()
        }
    }

    private mutating func call(for id: UInt64) -> Call? {
        guard let current, let observer = self.observers[id], observer.told != current else { return nil }
        self.observers[id]?.told = current
        return .handler(observer.callback, current, id: id)
    }

    private mutating func requestDelivery() -> Bool {
        defer { self.isDelivering = true }
        return !self.isDelivering
    }

    /// Whether a call may still be made that had to wait for the main actor.
    ///
    /// An observer that was not called because the monitor was stopped is called when it runs again.
    mutating func mayStillCall(_ id: UInt64) -> Bool {
        if self.relay == nil {
            self.observers[id]?.told = nil
            return false
        }
        return self.observers[id] != nil
    }

    // MARK: Observers

    /// What is called in a slot.
    func callback(in slot: Slot) -> Callback? { self.slots[slot].flatMap { self.observers[$0]?.callback } }

    /// Replaces what is called in a slot; returns what was, and whether there are calls to ask for.
    mutating func replace(_ slot: Slot, by new: Callback?) -> (old: (any Sendable)?, delivers: Bool) {
        let old = self.slots.removeValue(forKey: slot).flatMap { self.observers.removeValue(forKey: $0) }
        guard let new else { return (old, false) }
        let (id, delivers) = self.add(new)
        self.slots[slot] = id
        return (old, delivers)
    }

    /// Adds an observer of connectedness.
    mutating func add(_ callback: Callback) -> (id: UInt64, delivers: Bool) {
        self.lastID += 1
        self.observers[self.lastID] = Observer(callback: callback)
        // Before the first path no observer is called; with it all are.
        guard self.relay != nil, self.current != nil else { return (self.lastID, false) }
        self.due.append(self.lastID)
        return (self.lastID, self.requestDelivery())
    }

    /// Adds an observer of everything.
    mutating func add(
        update callback: @escaping @Sendable (ConnectivityUpdate) -> Void
    ) -> (id: UInt64, delivers: Bool) {
        self.lastID += 1
        self.updateObservers[self.lastID] = UpdateObserver(callback: callback)
        guard self.relay != nil, self.latest != nil else { return (self.lastID, false) }
        return (self.lastID, self.requestDelivery())
    }

    /// Adds a sequence, which gets the newest update at once.
    mutating func add(_ stream: AsyncStream<ConnectivityUpdate>.Continuation) -> UInt64 {
        self.lastID += 1
        self.streams[self.lastID] = stream
        if self.relay != nil, let latest { stream.yield(latest) }
        return self.lastID
    }

    /// Adds a sequence that ends when the monitor is stopped; nil when it is stopped.
    mutating func add(waiting stream: AsyncStream<ConnectivityUpdate>.Continuation) -> UInt64? {
        guard self.relay != nil || !self.hasBegun else { return nil }
        let id = self.add(stream)
        self.waits.insert(id)
        return id
    }

    /// Removes an observer; returns what has to be released outside the lock.
    mutating func remove(_ id: UInt64) -> (any Sendable)? {
        if let observer = self.observers.removeValue(forKey: id) { return observer }
        if let observer = self.updateObservers.removeValue(forKey: id) { return observer }
        self.waits.remove(id)
        return self.streams.removeValue(forKey: id)
    }

    /// Removes the sequences, to be ended outside the lock.
    mutating func removeStreams() -> [AsyncStream<ConnectivityUpdate>.Continuation] {
        defer { self.streams = [:] }
        return Array(self.streams.values)
    }

    /// Removes the sequences that end when the monitor is stopped, to be ended outside the lock.
    mutating func removeWaits() -> [AsyncStream<ConnectivityUpdate>.Continuation] {
        defer { self.waits = [] }
        return self.waits.compactMap { self.streams.removeValue(forKey: $0) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import NetPathStandard

/// What a monitor knows, and who has been told: without locks, queues and threads.
///
/// It holds paths as they were handed to everybody: what this monitor makes of one is found out on the handler's queue,
/// so that waking the queue waits for nothing.
struct PathMonitorState: Sendable {
    typealias Handler = @Sendable (NWPath) -> Void

    private(set) var handler: Handler?
    private(set) var queue: DispatchQueue?
    private(set) var isCancelled = false
    /// The newest path.
    private(set) var latest: PathSnapshot?
    /// The last path that a handler was called with.
    private var handled: NWPath?
    /// The number of the last path that a handler was called with, or need not be.
    private var handledNumber: UInt64?
    /// What the handler shall still be called with.
    private var pending: [PathSnapshot] = []
    /// Whether the queue has been, or is being, asked to make calls: no other thread may then.
    private var isDelivering = false
    private var inboxes: [UInt64: PathInbox] = [:]
    private var lastIteration: UInt64 = 0

    /// Whether a handler or an iteration wants paths.
    var isActive: Bool { !self.isCancelled && (self.queue != nil || !self.inboxes.isEmpty) }

    // MARK: Lifetime

    /// Starts; says whether this is the first time, and whether there is a call to make.
    mutating func start(on queue: DispatchQueue) -> (isFirst: Bool, delivers: Bool) {
        guard self.queue == nil, !self.isCancelled else { return (false, false) }
        self.queue = queue
        return (true, self.enqueueLatest() != nil)
    }

    /// Ends, and returns what has to be released and told outside the lock; nil when nothing runs.
    mutating func cancel() -> (handler: Handler?, pending: [PathSnapshot], inboxes: [PathInbox])? {
        guard self.isActive else { return nil }
        self.isCancelled = true
        defer {
            self.handler = nil
            self.pending = []
            self.handled = nil
            self.inboxes = [:]
        }
        return (self.handler, self.pending, Array(self.inboxes.values))
    }

    // MARK: Paths

    /// Takes a path; returns the queue to make calls on, if any, and who else has to be told.
    mutating func receive(_ snapshot: PathSnapshot) -> (DispatchQueue?, [PathInbox]) {
        guard self.isActive, self.latest.map({ $0.number < snapshot.number }) ?? true else { return (nil, []) }
        self.latest = snapshot
        let inboxes = self.inboxes.isEmpty ? [] : Array(self.inboxes.values)
        guard self.queue != nil else { return (nil, inboxes) }
        return (self.enqueue(snapshot), inboxes)
    }

    /// Replaces the handler; returns the old one, and the queue to make a call on if the new one has to catch up.
    mutating func replaceHandler(_ new: Handler?) -> (old: Handler?, DispatchQueue?) {
        // What a handler captured must end with the monitor.
        guard !self.isCancelled else { return (new, nil) }
        let old = self.handler
        self.handler = new
        return (old, new == nil ? nil : self.enqueueLatest())
    }

    /// Takes the next path that may need a call; nil, and others may ask the queue again, when there is none.
    mutating func nextPath() -> PathSnapshot? {
        guard self.pending.isEmpty else { return self.pending.removeFirst() }
        self.isDelivering = false
        return nil
    }

    /// Returns the handler to call with a path that was next; nil when it had the same one before.
    mutating func handler(for path: NWPath, number: UInt64) -> Handler? {
        guard let handler else { return nil }
        self.handledNumber = number
        guard path != self.handled else { return nil }
        self.handled = path
        return handler
    }

    private mutating func enqueueLatest() -> DispatchQueue? {
        guard self.queue != nil, self.pending.isEmpty, let latest, latest.number != self.handledNumber
        else { return nil }
        return self.enqueue(latest)
    }

    private mutating func enqueue(_ snapshot: PathSnapshot) -> DispatchQueue? {
        self.pending.append(snapshot)
        guard !self.isDelivering else { return nil }
        self.isDelivering = true
        return self.queue
    }

    // MARK: Iterations

    /// Adds an iteration; nil after the end.
    mutating func add(_ inbox: PathInbox) -> (number: UInt64, latest: PathSnapshot?)? {
        guard !self.isCancelled else { return nil }
        self.lastIteration += 1
        self.inboxes[self.lastIteration] = inbox
        return (self.lastIteration, self.latest)
    }

    /// Removes an iteration, and returns what has to be released outside the lock.
    mutating func remove(iteration number: UInt64) -> PathInbox? {
        let inbox = self.inboxes.removeValue(forKey: number)
        // It is not kept up to date any more.
        if !self.isActive, !self.isCancelled { self.latest = nil }
        return inbox
    }
}

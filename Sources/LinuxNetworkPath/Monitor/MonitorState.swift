// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch

/// What a monitor knows, and who has been told: without locks, queues and threads.
struct MonitorState: Sendable {
    typealias Handler = @Sendable (NWPath) -> Void

    private(set) var handler: Handler?
    private(set) var queue: DispatchQueue?
    private(set) var isCancelled = false
    /// The newest path, with its number.
    private(set) var latest: (path: NWPath, number: UInt64)?
    /// The last path that a handler was called with.
    private var handled: NWPath?
    /// What the handler shall still be called with.
    private var pending: [NWPath] = []
    /// Whether the queue has been, or is being, asked to make calls: nobody else may then.
    private var isDelivering = false
    private var inboxes: [UInt64: PathInbox] = [:]
    private var lastIteration: UInt64 = 0

    /// Whether somebody wants paths.
    var isActive: Bool { !self.isCancelled && (self.queue != nil || !self.inboxes.isEmpty) }

    // MARK: Lifetime

    /// Starts; says whether this is the first time, and whether there is a call to make.
    mutating func start(on queue: DispatchQueue) -> (isFirst: Bool, delivers: Bool) {
        guard self.queue == nil, !self.isCancelled else { return (false, false) }
        self.queue = queue
        return (true, self.enqueueLatest() != nil)
    }

    /// Ends, and returns what has to be released and told outside the lock; nil when nothing runs.
    mutating func cancel() -> (handler: Handler?, pending: [NWPath], inboxes: [PathInbox])? {
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
    mutating func receive(_ path: NWPath, number: UInt64) -> (DispatchQueue?, [PathInbox]) {
        let isNews = self.latest.map { $0.number < number && $0.path != path } ?? true
        guard self.isActive, isNews else { return (nil, []) }
        self.latest = (path, number)
        let inboxes = self.inboxes.isEmpty ? [] : Array(self.inboxes.values)
        guard self.queue != nil else { return (nil, inboxes) }
        return (self.enqueue(path), inboxes)
    }

    /// Replaces the handler; returns the old one, and the queue to make a call on if the new one has to catch up.
    mutating func replaceHandler(_ new: Handler?) -> (old: Handler?, DispatchQueue?) {
        // What a handler captured must end with the monitor.
        guard !self.isCancelled else { return (new, nil) }
        let old = self.handler
        self.handler = new
        return (old, new == nil ? nil : self.enqueueLatest())
    }

    /// Takes the next call to make; nil, and others may ask the queue again, when there is none.
    mutating func nextCall() -> (handler: Handler, path: NWPath)? {
        while !self.pending.isEmpty {
            let path = self.pending.removeFirst()
            guard let handler, path != self.handled else { continue }
            self.handled = path
            return (handler, path)
        }
        self.isDelivering = false
        return nil
    }

    private mutating func enqueueLatest() -> DispatchQueue? {
        guard self.queue != nil, self.pending.isEmpty, let latest, latest.path != self.handled else { return nil }
        return self.enqueue(latest.path)
    }

    private mutating func enqueue(_ path: NWPath) -> DispatchQueue? {
        self.pending.append(path)
        guard !self.isDelivering else { return nil }
        self.isDelivering = true
        return self.queue
    }

    // MARK: Iterations

    /// Adds an iteration; nil after the end.
    mutating func add(_ inbox: PathInbox) -> (number: UInt64, latest: (path: NWPath, number: UInt64)?)? {
        guard !self.isCancelled else { return nil }
        self.lastIteration += 1
        self.inboxes[self.lastIteration] = inbox
        return (self.lastIteration, self.latest)
    }

    /// Removes an iteration, and returns what has to be released outside the lock.
    mutating func remove(iteration number: UInt64) -> PathInbox? {
        let inbox = self.inboxes.removeValue(forKey: number)
        // Nobody keeps it up to date any more.
        if !self.isActive, !self.isCancelled { self.latest = nil }
        return inbox
    }
}

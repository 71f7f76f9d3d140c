// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// What a queue must do, the slow way: every request with what was asked of it and what became of it.
struct QueueModel {
    /// A request, as far as the one who enqueued it can know.
    struct Request {
        let id: UUID
        let lane: String?
        let policy: String
        let isUnique: Bool
        let mayExpire: Bool
        /// Whether its id was returned; what was under way when a process died may be there or not.
        var isAcknowledged = false
        /// Whether it may have been removed: cancelled, replaced, given up with its lane.
        var mayBeGone = false
        /// Whether somebody was told that it is gone.
        var isCancelled = false
        /// Whether a server has accepted it.
        var isDelivered = false
        /// Whether the queue has said so, after which it is never sent again.
        var isRecorded = false
        /// What the last answer makes of it.
        var end: End?
    }

    enum End: Hashable { case dead, held }

    /// A request on its way, in the process of that number.
    struct Flight: Hashable {
        let process: Int
        let number: String
        let id: UUID
    }

    private(set) var requests: [UUID: Request] = [:]
    /// All of them, in the order in which they were enqueued.
    private var order: [UUID] = []
    private(set) var flights: [Flight] = []
    private(set) var differences: [String] = []
    /// The lanes that an answer has given up, until something of them is sent: when that is recorded nobody can tell.
    private var droppedLanes: Set<String> = []

    mutating func differ(_ text: String) { self.differences.append(text) }

    // MARK: What is asked for

    mutating func enqueued(_ request: Request) {
        self.requests[request.id] = request
        self.order.append(request.id)
        if let lane = request.lane, self.droppedLanes.contains(lane) { self.requests[request.id]?.mayBeGone = true }
    }

    /// A queue has taken a request, or says that another one serves.
    mutating func acknowledged(_ id: UUID, as kept: UUID) {
        if kept == id {
            self.requests[id]?.isAcknowledged = true
        } else {
            self.requests[id] = nil
            self.order.removeAll { $0 == id }
            if self.requests[kept] == nil { self.differ("\(kept) was kept in place of \(id), and is unknown") }
        }
    }

    /// Those that wait for their place with the same key may be replaced.
    mutating func mayReplaceUnique() {
        for (id, request) in self.requests where request.isUnique { self.requests[id]?.mayBeGone = true }
    }

    /// Somebody asks to cancel a request; it is gone when that is answered.
    mutating func cancelling(_ id: UUID) { self.requests[id]?.mayBeGone = true }
    mutating func cancelled(_ id: UUID) { self.requests[id]?.isCancelled = true }

    /// Somebody gives a request that ended another chance: one that was given up behind all others of its lane.
    mutating func revived(_ id: UUID) {
        if self.requests[id]?.end == .dead {
            self.order.removeAll { $0 == id }
            self.order.append(id)
        }
        self.requests[id]?.end = nil
    }

    // MARK: What happens

    /// A request goes out; what a process said that is dead by now may come late.
    mutating func sent(_ flight: Flight, key: String, isAlive: Bool) {
        guard let request = self.requests[flight.id] else {
            return self.differ("\(flight.id) is sent, and was never enqueued")
        }
        if request.isRecorded { self.differ("\(flight.id) is sent again after its end was recorded") }
        if request.isCancelled { self.differ("\(flight.id) is sent, and was cancelled") }
        if key != "\"\(flight.id.uuidString.lowercased())\"" { self.differ("\(flight.id) is sent with the key \(key)") }
        guard isAlive else { return }
        defer { self.flights.append(flight) }
        if let other = self.flights.first(where: { $0.process != flight.process }) {
            self.differ("\(flight) and \(other) are sent by two processes")
        }
        guard let lane = request.lane else { return }
        self.droppedLanes.remove(lane)
        for other in self.order.prefix(while: { $0 != flight.id }).compactMap({ self.requests[$0] })
        where other.lane == lane {
            let mayFollow =
                other.isDelivered || other.mayBeGone || self.mayHaveExpired(other) || other.end == .dead
                || !other.isAcknowledged
            if !mayFollow { self.differ("\(flight.id) overtakes \(other.id) of the same lane") }
        }
        if self.flights.contains(where: {
            self.requests[$0.id]?.lane == lane && $0.id != flight.id && !(self.requests[$0.id]?.isCancelled ?? true)
        }) {
            self.differ("\(flight.id) is sent beside another of its lane")
        }
    }

    /// A server answers; nil as status when the connection is lost.
    mutating func answered(_ flight: Flight, status: Int?) {
        self.flights.removeAll { $0 == flight }
        guard let status, var request = self.requests[flight.id] else { return }
        switch status {
        case 200..<300: request.isDelivered = true
        case 401: request.end = .held
        case 400: request.end = request.policy == "hold" && request.lane != nil ? .held : .dead
        default: ()
        }
        self.requests[flight.id] = request
        guard status == 400, request.policy == "dropLane", let lane = request.lane else { return }
        self.droppedLanes.insert(lane)
        for (id, other) in self.requests where other.lane == lane && id != request.id {
            self.requests[id]?.mayBeGone = true
        }
    }

    mutating func ended(process: Int) { self.flights.removeAll { $0.process == process } }
    mutating func ended(_ number: String, process: Int) {
        self.flights.removeAll { $0.number == number && $0.process == process }
    }
    mutating func recorded(_ id: UUID) {
        if self.requests[id]?.isDelivered != true { self.differ("\(id) is recorded as delivered, and was not") }
        self.requests[id]?.isRecorded = true
    }

    // MARK: The end

    /// Whether a request may have expired, or have been dropped with its lane by another one that did.
    private func mayHaveExpired(_ request: Request) -> Bool {
        request.mayExpire
            || self.requests.values.contains {
                $0.mayExpire && $0.policy == "dropLane" && $0.lane != nil && $0.lane == request.lane
            }
    }

    /// Compares what a file holds when nothing is left to send with what it must hold.
    mutating func compare(dead: Set<UUID>, held: Set<UUID>) {
        for request in self.requests.values {
            let states = [dead.contains(request.id), held.contains(request.id), request.isDelivered].count { $0 }
            if request.isCancelled, dead.contains(request.id) || held.contains(request.id) {
                self.differ("\(request.id) was cancelled, and is there")
            }
            if states == 0, request.isAcknowledged, !request.mayBeGone { self.differ("\(request.id) is lost") }
            // What was accepted and not recorded is sent again, and may end otherwise.
            if states > 1, request.isRecorded { self.differ("\(request.id) was delivered, and is there") }
            if dead.contains(request.id), request.end != .dead, !self.mayHaveExpired(request), !request.mayBeGone {
                self.differ("\(request.id) is dead without a reason")
            }
            let mayBeHeld = request.mayExpire && request.policy == "hold" && request.lane != nil
            if held.contains(request.id), request.end != .held, !mayBeHeld {
                self.differ("\(request.id) is held without a reason")
            }
        }
        for id in dead.union(held) where self.requests[id] == nil { self.differ("\(id) came from nowhere") }
    }
}

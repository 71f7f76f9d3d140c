// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

@testable import OfflineRequests

/// What a store must hold, the slow way: an array.
struct StoreModel {
    struct Entry: Hashable {
        var id: UUID
        var state: RequestState
        var lane: String?
        var key: String?
        var policy: LanePolicy
        var priority: RequestPriority
        var due: Int?
        /// How often it was tried.
        var attempts = 0
        /// Whether it was answered, so that it is not tried again.
        var isAnswered = false
    }

    /// All that wait, in order.
    var pending: [Entry] = []
    /// All that are kept afterwards, in order of their numbers.
    var finished: [Entry] = []
    var numbers: [UUID: Int] = [:]
    private var last = 0

    /// The lane of a request with an ordering key or a unique key.
    static func lane(_ request: RetryableRequest) -> String? {
        request.orderingKey.map { "order \($0)" } ?? request.uniqueKey.map { "unique \($0)" }
    }

    /// Where every request stands, in order of their numbers.
    var states: [UUID: RequestState] {
        Dictionary(uniqueKeysWithValues: (self.pending + self.finished).map { ($0.id, $0.state) })
    }

    var order: [UUID] {
        (self.pending + self.finished).sorted { self.numbers[$0.id] ?? 0 < self.numbers[$1.id] ?? 0 }.map(\.id)
    }

    /// Those that may go: those that were tried least, by priority, then in order.
    var ready: [UUID] {
        let ready = self.pending.filter { $0.state == .ready }
        return Set(ready.map(\.attempts)).sorted().flatMap { attempts in
            RequestPriority.allCases.reversed().flatMap { priority in
                ready.filter { $0.attempts == attempts && $0.priority == priority }
            }
        }
        .map(\.id)
    }

    mutating func start(_ id: UUID) {
        self.set(id, .running)
        for index in self.pending.indices where self.pending[index].id == id && !self.pending[index].isAnswered {
            self.pending[index].attempts += 1
        }
    }

    mutating func answer(_ id: UUID) {
        for index in self.pending.indices where self.pending[index].id == id { self.pending[index].isAnswered = true }
    }

    mutating func insert(_ request: RetryableRequest) {
        let lane = Self.lane(request)
        var entry = Entry(
            id: request.id,
            state: .ready,
            lane: lane,
            key: request.uniqueKey,
            policy: request.orderingKey == nil ? .skip : request.onFailure,
            priority: request.priority
        )
        var index = self.pending.count
        self.last += 1
        var number = self.last
        if let key = request.uniqueKey {
            let present = self.pending.filter { $0.key == key }
            let waiting = present.filter { $0.state != .running }
            switch request.ifExists {
            case .keep where !present.isEmpty:
                self.last -= 1
                return
            case .replace:
                if let first = waiting.first, first.lane == lane {
                    index = self.pending.firstIndex(of: first) ?? index
                    number = self.numbers[first.id] ?? number
                    self.last -= 1
                } else {
                    index -= waiting.count
                }
                self.pending.removeAll { waiting.contains($0) }
            case .keep: ()
            }
        }
        if let lane, self.pending[..<index].contains(where: { $0.lane == lane }) { entry.state = .blocked }
        self.pending.insert(entry, at: index)
        self.numbers[request.id] = number
        self.promote()
    }

    /// The first of every lane is not behind another.
    private mutating func promote() {
        var seen: Set<String> = []
        for index in self.pending.indices {
            guard let lane = self.pending[index].lane, seen.insert(lane).inserted else { continue }
            if self.pending[index].state == .blocked { self.pending[index].state = .ready }
        }
    }

    mutating func set(_ id: UUID, _ state: RequestState, due: Int? = nil) {
        guard let index = self.pending.firstIndex(where: { $0.id == id }) else { return }
        self.pending[index].state = state
        self.pending[index].due = due
    }

    mutating func remove(_ id: UUID) {
        self.pending.removeAll { $0.id == id }
        self.finished.removeAll { $0.id == id }
        self.promote()
    }

    mutating func giveUp(_ id: UUID) {
        guard let entry = self.pending.first(where: { $0.id == id }) else { return }
        switch entry.policy {
        case .hold: self.set(id, .held)
        case .skip: self.bury(id, .dead)
        case .dropLane: for other in self.pending where other.lane == entry.lane { self.bury(other.id, .dead) }
        }
    }

    mutating func bury(_ id: UUID, _ state: RequestState) {
        guard let index = self.pending.firstIndex(where: { $0.id == id }) else { return }
        var entry = self.pending.remove(at: index)
        entry.state = state
        self.finished.append(entry)
        self.promote()
    }

    mutating func requeue(_ id: UUID) {
        if let entry = self.pending.first(where: { $0.id == id }) {
            if entry.state == .held { self.set(id, .ready) }
        } else if let index = self.finished.firstIndex(where: { $0.id == id && $0.state == .dead }) {
            var entry = self.finished.remove(at: index)
            entry.state = self.pending.contains { $0.lane != nil && $0.lane == entry.lane } ? .blocked : .ready
            self.pending.append(entry)
            self.last += 1
            self.numbers[id] = self.last
        }
    }

    mutating func promoteDue(_ now: Int) {
        for entry in self.pending where entry.due.map({ $0 <= now }) ?? false { self.set(entry.id, .ready) }
    }
}

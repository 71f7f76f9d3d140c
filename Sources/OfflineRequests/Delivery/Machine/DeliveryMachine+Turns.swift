// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// Whose turn it is: the hosts take turns, those that work first and those that fail last, and in each host the requests
/// that were not tried yet go first.
extension DeliveryMachine {
    /// How a host stands among the others.
    private enum Rank: Comparable {
        /// It has answered, and not failed since.
        case proven
        /// It fails, and none that does is being tried.
        case overdue
        case unknown
        case failing
    }

    /// Which of the requests through a gate are looked at first.
    enum Order: Sendable {
        /// Those that were tried least, the oldest first.
        case oldest
        /// Those that were tried least, the newest first.
        case newest
        /// One of those that were tried most, and then as ``oldest``.
        case mostTried
    }

    private func rank(of host: String) -> Rank {
        if self.hosts[host] != nil {
            return self.running.values.contains { self.hosts[$0.host] != nil } ? .failing : .overdue
        }
        return self.proven.contains(host) ? .proven : .unknown
    }

    /// How long a connection may take to a host of which nothing is known, while others wait for a place: one that takes
    /// longer gets its whole time at the next attempt, and the others need not wait for as long.
    static let firstConnection: Duration = .seconds(3)

    /// How long the connection of a request that is being sent may take at most, where so many gates have requests; nil for as
    /// long as the request allows.
    func connectionLimit(of id: UUID, besideGates count: Int) -> Duration? {
        guard count > self.concurrency, let host = self.running[id]?.host else { return nil }
        return self.rank(of: host) == .unknown ? Self.firstConnection : nil
    }

    /// The gates that are open, in the order of their turns.
    ///
    /// Hosts that nothing is known of go in turns from both ends, so that neither many old ones nor many new ones that do
    /// not answer hide the others; of those that fail the one goes first that was left alone for longest.
    func inTurn(_ gates: [StoreGate], at now: Moment) -> [StoreGate] {
        let open = gates.filter { self.waiting(for: $0.gate, at: now) == nil }
        let ranks = Dictionary(grouping: open) { self.rank(of: $0.gate.host) }
        let proven = (ranks[.proven] ?? []).map { ($0, self.running(on: $0.gate.host)) }
            .sorted { ($1.0.priority, $0.1, $0.0.first) < ($0.0.priority, $1.1, $1.0.first) }
            .map(\.0)
        let unknown = RequestPriority.allCases.reversed().flatMap { priority in
            self.fromBothEnds(
                (ranks[.unknown] ?? []).filter { $0.priority == priority }.sorted { $0.first < $1.first }
            )
        }
        let failing = (ranks[.overdue] ?? ranks[.failing] ?? [])
            .map { ($0, self.hosts[$0.gate.host]?.failedAt ?? now.monotonic) }
            .sorted { ($0.1, $0.0.first) < ($1.1, $1.0.first) }
            .map(\.0)
        return ranks[.overdue] == nil ? proven + unknown + failing : proven + failing + unknown
    }

    private func fromBothEnds(_ gates: [StoreGate]) -> [StoreGate] {
        var rest = gates[...]
        return (0..<gates.count).compactMap { number in
            (number + self.turns).isMultiple(of: 2) ? rest.popFirst() : rest.popLast()
        }
    }

    /// Which requests to a host are looked at first: of one that fails the oldest and the newest in turns, of one that
    /// works now and then one that was tried, so that those do not wait for as long as new ones come.
    mutating func order(of host: String) -> Order {
        if let health = self.hosts[host] {
            return health.probes.isMultiple(of: 2) ? .newest : .oldest
        }
        return Int.random(in: 0..<4, using: &self.random) == 0 ? .mostTried : .oldest
    }

    /// Chooses what is sent now, and counts it as being sent.
    ///
    /// Of each gate there are the first ones, and the gates are in the order of their turns.
    mutating func choose(_ places: Int, of heads: [[RequestRecord]], at now: Moment) -> [RequestRecord] {
        var candidates: [(record: RequestRecord, gate: Gate, key: (Rank, RequestPriority, Int, Int))] = []
        for (place, records) in heads.enumerated() {
            for (round, record) in records.enumerated() {
                let gate = Gate(record.request)
                let rank = self.rank(of: gate.host)
                let priority = rank == .failing || rank == .overdue ? .normal : record.request.priority
                candidates.append((record, gate, (rank, priority, round, place)))
            }
        }
        candidates.sort { lhs, rhs in
            (lhs.key.0, rhs.key.1, lhs.key.2, lhs.key.3) < (rhs.key.0, lhs.key.1, rhs.key.2, rhs.key.3)
        }
        var chosen: [RequestRecord] = []
        for (record, gate, _) in candidates where chosen.count < places {
            // A damaged file may have one twice.
            guard self.running[record.id] == nil, self.waiting(for: gate, at: now) == nil else { continue }
            self.started(record.id, gate: gate, at: now)
            chosen.append(record)
        }
        if !chosen.isEmpty { self.turns &+= 1 }
        return chosen
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP
import NetPathTestKit
import Synchronization

@testable import OfflineRequests

/// A store in a folder of its own, and clocks that only go when they are told to.
final class StoreBench: Sendable {
    let folder: TemporaryDirectory
    let path: String
    private let time = Mutex(
        Moment(wall: Date(timeIntervalSince1970: 1_750_000_000), bootID: "first", bootNanoseconds: 1_000_000_000)
    )
    private let found = Mutex<[QueueEvent]>([])

    init() throws {
        self.folder = try TemporaryDirectory()
        self.path = self.folder["queue.sqlite"]
    }

    /// What happened to the file so far.
    var salvages: [QueueEvent] { self.found.withLock { $0 } }

    var stamp: Moment { self.time.withLock { $0 } }

    func open(_ settings: QueueSettings = QueueSettings()) throws(QueueError) -> RequestStore {
        try RequestStore(
            path: self.path,
            settings: settings,
            clock: { self.stamp },
            salvaged: { event in self.found.withLock { $0.append(event) } }
        )
    }

    func settle() throws { try Self.settle(self.path) }

    /// Brings everything into the file itself, and empties its journal.
    static func settle(_ path: String) throws {
        var configuration = Configuration()
        // A queue that was closed a moment ago may have the lock still.
        configuration.busyMode = .timeout(10)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.inDatabase { db in
            // A connection knows of the journal once it has read.
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
            _ = try db.checkpoint(.truncate)
        }
        try database.close()
    }

    /// Lets time pass.
    func pass(_ duration: Duration) {
        self.time.withLock {
            $0.wall.addTimeInterval(duration / .seconds(1))
            $0.bootNanoseconds += Int64(duration / .nanoseconds(1))
        }
    }

    /// Sets the wall clock.
    func setWall(_ change: TimeInterval) { self.time.withLock { $0.wall.addTimeInterval(change) } }

    /// Starts the system anew, and that takes a while.
    func reboot(after duration: Duration = .zero) {
        self.time.withLock {
            $0.wall.addTimeInterval(duration / .seconds(1))
            $0.bootID = UUID().uuidString
            $0.bootNanoseconds = 5_000_000_000
        }
    }
}

extension RequestStore {
    @discardableResult
    func insert(_ request: RetryableRequest) throws -> Insertion {
        let prepared = try self.prepare(request)
        return try self.transaction(durable: true, inserting: prepared.row.size) { try $0.insert(prepared) }
    }

    /// All requests, in order.
    func all(_ states: Set<RequestState> = Set(RequestState.allCases)) throws -> [RequestRecord] {
        try self.read { records in try records.page(states: states, after: 0, limit: .max) }
    }

    func record(_ id: UUID) throws -> RequestRecord? { try self.read { records in try records.record(id) } }

    var counts: QueueCounts { get throws { try self.read { try $0.counts } } }

    /// Those that may go, those with precedence first in every gate.
    func ready() throws -> [ReadyRequest] {
        try self.transaction(durable: false) { transaction in
            try transaction.gates().flatMap { try transaction.ready(gate: $0.id, limit: .max) }
        }
    }

    /// Those of them that are what was taken; the others are held, as by the process that sends.
    func readyIDs() throws -> [UUID] {
        let ready = try self.ready()
        let damaged = try ready.filter { try $0.row.intact(self.bodies) == nil }.map(\.id)
        if !damaged.isEmpty {
            try self.transaction(durable: true) { transaction in
                for row in try damaged.compactMap(transaction.row) {
                    try transaction.hold(row, .damaged, error: RequestRecord.damage)
                }
            }
        }
        return ready.map(\.id).filter { !damaged.contains($0) }
    }

    /// Starts a request and ends it.
    @discardableResult
    func run(
        _ id: UUID,
        _ disposition: Disposition,
        status: Int? = nil,
        error: String? = nil,
        response: TransportResponse? = nil
    ) throws -> Finish? {
        try self.transaction(durable: false) { transaction in
            guard try transaction.markRunning(id) else { return nil }
            return try transaction.finish(id, disposition, status: status, error: error, response: response)
        }
    }
}

extension QueueEvent {
    /// How many requests of a damaged file were kept; nil for any other event, as for those below.
    var recovered: Int? { if case .salvaged(let count, _, _) = self { count } else { nil } }
    var lost: Int? { if case .salvaged(_, let count, _) = self { count } else { nil } }
    var setAsideAs: String? { if case .salvaged(_, _, let path) = self { path } else { nil } }
}

/// A request like most.
func sample(_ number: Int = 0, _ change: (inout RetryableRequest) -> Void = { _ in }) -> RetryableRequest {
    var request = RetryableRequest(
        endpoint: "https://example.net/items/\(number)",
        method: "POST",
        headers: ["Content-Type": "application/json", "Authorization": "Bearer secret-\(number)"],
        body: Data("{\"number\": \(number)}".utf8),
        timestamp: Date(timeIntervalSince1970: 1_750_000_000),
        requestType: "item"
    )
    change(&request)
    return request
}

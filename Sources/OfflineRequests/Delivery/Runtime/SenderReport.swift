// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// What the process that sends says of why it does not send; for other processes in the file whose lock says who it is.
///
/// Without a reason a request waits for its turn: that it is the next but one changes too often to be written down.
/// That the queue is paused, and when a request is tried again, the database says.
struct SenderReport: Codable, Hashable, Sendable {
    /// More are not told apart: to look at all of them after every transaction costs too much.
    private static let capacity = 1_000

    /// What all of them wait for.
    private var all: WaitingReason?
    private var gates: [Gate: WaitingReason] = [:]
    /// Hosts that are reached without what the others wait for.
    private var nearHosts: Set<String> = []
    /// The only request that the process sends; nil for all.
    private(set) var only: UUID?

    init(only: UUID? = nil) { self.only = only }

    init(_ machine: DeliveryMachine, gates: [Gate], only: UUID?, at now: Moment) {
        self.only = only
        if let reason = machine.waiting(for: Gate(host: ""), at: now), case .noPath = reason {
            self.all = reason
            self.nearHosts = Set((machine.facts?.nearHosts ?? []).prefix(Self.capacity))
        }
        for gate in gates.prefix(Self.capacity) {
            switch machine.waiting(for: gate, at: now) {
            case nil, .concurrency, .paused: ()
            case .noPath where self.all != nil: ()
            case .hostPaused(let host, let until):
                // Whole seconds, so that the same instant is not another one every time it is worked out.
                let seconds = until.timeIntervalSince1970.rounded(.up)
                self.gates[gate] = .hostPaused(host, until: Date(timeIntervalSince1970: seconds))
            case let reason?: self.gates[gate] = reason
            }
        }
    }

    /// What the process says that sends for a queue; nil when none does.
    init?(ofQueue file: String) {
        let path = QueueFile.senderLock(of: file)
        guard FileLock.isTaken(at: path) else { return nil }
        // One that is just being written is not whole.
        let report = FileManager.default.contents(atPath: path).flatMap {
            try? JSONDecoder().decode(Self.self, from: $0)
        }
        self = report ?? Self()
    }

    /// Whether the process would send a request.
    func isAbout(_ id: UUID) -> Bool { self.only == nil || self.only == id }

    /// Why a request with that gate waits; nil when it is for its turn.
    func reason(for gate: Gate) -> WaitingReason? {
        let isNear = self.nearHosts.contains(gate.host) && !gate.requires.dependsOnPath
        return self.gates[gate] ?? (isNear ? nil : self.all)
    }

    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? [] }
}

/// What a queue says of itself, for those who read on other threads.
struct QueueStatus: Sendable {
    enum Role: Sendable {
        /// Nothing: it was not started, or is closed.
        case none
        /// Another process sends; this one waits for its end.
        case waiting
        /// It sends one request only, when that can go and no other process sends.
        case standby
        case sender
    }

    var role = Role.none
    var report = SenderReport()

    /// Adds what requests wait for, where the database does not say it, and another process that sends may beside it.
    func explain(_ records: [RequestRecord], isPaused: Bool, in file: String) -> [RequestRecord] {
        let waiting: Set<RequestState> = [.ready, .backoff, .running]
        guard records.contains(where: { waiting.contains($0.state) }) else { return records }
        let sender = self.role == .sender ? nil : SenderReport(ofQueue: file)
        let ownSenders = OwnSenders(at: QueueFile.senderLock(of: file))
        return records.map { record in
            var record = record
            let other = sender?.isAbout(record.id) == true ? sender : nil
            // The process that was sending it is there no more.
            if record.state == .running, other == nil, self.role != .sender {
                (record.state, record.isRepeat) = (.ready, true)
            }
            guard record.state == .ready || record.state == .backoff, record.waiting != .expired else { return record }
            let until = record.state == .backoff ? record.notBefore : nil
            let isAlone = other?.only != nil || other == nil && ownSenders.contains(record.id)
            let alone = isAlone ? WaitingReason.ownSender(until: until) : nil
            record.waiting = isPaused ? .paused : self.reason(for: Gate(record.request), other, alone)
            guard let until else { return record }
            // What ends without its own time coming is worth more than a time.
            switch record.waiting {
            case .notRunning, .ownSender, .paused, .noPath, .portal, .metered, .interfaceType: ()
            default: record.waiting = .backoff(until: until)
            }
            return record
        }
    }

    private func reason(for gate: Gate, _ other: SenderReport?, _ alone: WaitingReason?) -> WaitingReason {
        if let other { return other.reason(for: gate) ?? alone ?? .otherSender }
        return switch self.role {
        case .none: alone ?? .notRunning
        // The other one has just ended, and this process is the next.
        case .waiting: .otherSender
        case .standby, .sender: self.report.reason(for: gate) ?? .concurrency
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// What the process that sends says of why it does not send, for the others; in the file whose lock says who it is.
///
/// Without a reason a request waits for its turn: that it is the next but one changes too often to be written down.
/// That the queue is paused, and when a request is tried again, the database says.
struct SenderReport: Codable, Hashable, Sendable {
    fileprivate struct Entry: Codable, Hashable, Sendable {
        var host: String
        var requires: PathRequirements
        var reason: WaitingReason
    }

    /// More are not told apart: to look at all of them after every transaction costs too much.
    private static let capacity = 1_000

    /// What all of them wait for.
    private var everybody: WaitingReason?
    private var gates: [Entry] = []

    init() {}

    init(_ machine: DeliveryMachine, gates: [Gate], at now: Moment) {
        if let reason = machine.waiting(for: Gate(host: ""), at: now), case .noPath = reason { self.everybody = reason }
        self.gates = gates.prefix(Self.capacity).compactMap { gate in
            switch machine.waiting(for: gate, at: now) {
            case nil, .concurrency, .paused: nil
            case .hostPaused(let host, let until):
                // Whole seconds, so that the same instant is not another one every time it is worked out.
                Entry(
                    gate,
                    .hostPaused(host, until: Date(timeIntervalSince1970: until.timeIntervalSince1970.rounded(.up)))
                )
            case let reason?: Entry(gate, reason)
            }
        }
    }

    /// Why a request with that gate waits.
    func reason(for gate: Gate) -> WaitingReason {
        self.everybody ?? self.gates.first { $0.host == gate.host && $0.requires == gate.requires }?.reason
            ?? .otherSender
    }

    /// What the process says that sends for a queue; nil when none does.
    init?(ofQueue file: String) {
        let path = QueueFile.senderLock(of: file)
        guard SenderLock.isHeld(at: path) else { return nil }
        // One that is just being written is not whole.
        let report = FileManager.default.contents(atPath: path).flatMap {
            try? JSONDecoder().decode(Self.self, from: $0)
        }
        self = report ?? Self()
    }

    /// What is written.
    var octets: [UInt8] { (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? [] }
}

extension SenderReport.Entry {
    fileprivate init(_ gate: Gate, _ reason: WaitingReason) {
        self.init(host: gate.host, requires: gate.requires, reason: reason)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathSystem
import OfflineRequests

extension QueueEvent {
    /// A stable name, which is the key in JSON.
    var code: String {
        switch self {
        case .enqueued: "enqueued"
        case .attempt: "attempt"
        case .attemptFailed: "attemptFailed"
        case .backoff: "backoff"
        case .succeeded: "succeeded"
        case .held: "held"
        case .dead: "dead"
        case .expired: "expired"
        case .cancelled: "cancelled"
        case .drained: "drained"
        case .connectivityRestored: "connectivityRestored"
        case .salvaged: "salvaged"
        case .failed: "failed"
        }
    }

    /// The request it is about; nil when it is about the queue.
    var id: UUID? {
        switch self {
        case .enqueued(let id), .attempt(let id, _), .attemptFailed(let id, _), .backoff(let id, _),
            .succeeded(let id, _), .held(let id, _), .dead(let id, _), .expired(let id), .cancelled(let id):
            id
        case .drained, .connectivityRestored, .salvaged, .failed: nil
        }
    }

    /// Whether a user may have to do something about it.
    var isTrouble: Bool {
        switch self {
        case .held, .dead, .expired, .salvaged, .failed: true
        default: false
        }
    }

    /// Whether the file was damaged.
    var isSalvage: Bool { if case .salvaged = self { true } else { false } }

    /// What there is to say about it; nil for nothing.
    var details: String? {
        switch self {
        case .attempt(_, let number): "number \(number)"
        case .backoff(_, let until): "not before \(until.text)"
        case .succeeded(_, let status): "\(status)"
        case .held(let id, let reason): reason.description + reason.advice(for: id)
        case .attemptFailed(_, let reason), .dead(_, let reason): reason
        case .salvaged(let recovered, let lost, let aside):
            "the file was damaged: \(recovered) requests kept, \(lost.map(String.init) ?? "an unknown number") lost, "
                + "the old file is \(aside)"
        case .failed(let error): error.description
        case .enqueued, .expired, .cancelled, .drained, .connectivityRestored: nil
        }
    }
}

extension SeenEvent {
    /// A line of a log.
    var line: String {
        [self.time.text(withMilliseconds: true), self.event.code, self.event.id?.text, self.event.details]
            .compactMap { $0?.safe }.joined(separator: "  ")
    }

    /// The document of an event.
    var document: JSONNode {
        let status: Int? = if case .succeeded(_, let status) = self.event { status } else { nil }
        let number: Int? = if case .attempt(_, let number) = self.event { number } else { nil }
        let until: Date? = if case .backoff(_, let until) = self.event { until } else { nil }
        return [
            "schema": schemaVersion,
            "time": .time(self.time),
            "event": .string(self.event.code),
            "id": .optional(self.event.id?.text),
            "attempt": .optional(number),
            "status": .optional(status),
            "until": .time(until),
            "message": .optional(self.event.details),
        ]
    }
}

extension WaitingReason {
    /// What a user can do about it; empty where time does it.
    func advice(for id: UUID) -> String {
        switch self {
        case .unauthorized: ": \(typed("queue retry \(id.text) -H \"Authorization: …\""))"
        case .laneHeld, .redirected, .unexpectedAnswer:
            ": \(typed("queue retry \(id.text)")), or \(typed("queue cancel \(id.text)"))"
        // The next process that sends would hold it again.
        case .damaged: ": \(typed("queue cancel \(id.text)"))"
        case .paused: ": \(typed("queue resume"))"
        case .notRunning, .expired: ": \(typed("queue run"))"
        default: ""
        }
    }
}

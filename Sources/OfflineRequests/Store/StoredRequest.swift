// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// A row of the table `request`: the one place where requests are written and read.
struct StoredRequest: Sendable, Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "request"

    /// The place in the order; nil for behind all others.
    var sequence: Int64?
    var id: UUID
    var state: RequestState
    /// What it must pass, as ``Gate/text`` has it.
    var gate: String
    var priority: RequestPriority
    var lane: String?
    var uniqueKey: String?
    var requestType: String
    var due: Int64?
    var deadline: Int64?
    var enqueued: Int64
    var size: Int
    var retries: Int
    var attempts: Int
    var received: Bool
    var status: Int?
    var error: String?
    var waiting: WaitingReason?
    /// Of the request and its body, so that neither is sent when it is not what was taken.
    var checksum: Int64
    /// The request as JSON, without its body.
    var request: String
    var bodyFile: String?
    var body: Data?
    var answer: Answer?
    var answerBody: Data?

    /// The head of a response.
    struct Answer: Hashable, Sendable, Codable {
        var status: Int
        var headers: HeaderFields
    }

    init(_ prepared: PreparedRequest, sequence: Int64?, state: RequestState, enqueued: Int64, deadline: Int64?) {
        let request = prepared.request
        self.sequence = sequence
        self.id = request.id
        self.state = state
        self.gate = Gate(request, to: prepared.host).text
        self.priority = request.priority
        self.lane = prepared.lane
        self.uniqueKey = request.uniqueKey
        self.requestType = request.requestType
        self.deadline = deadline
        self.enqueued = enqueued
        self.size = prepared.size
        self.retries = request.retryCount
        (self.attempts, self.received) = (0, false)
        self.checksum = prepared.checksum
        self.request = prepared.payload
        self.bodyFile = prepared.bodyFile
        self.body = request.body
    }

    /// Writes the columns one by one: for half of them an encoder would try JSON first, which takes as long as all the rest.
    func encode(to container: inout PersistenceContainer) throws {
        container["sequence"] = self.sequence
        container["id"] = self.id
        container["state"] = self.state.rawValue
        container["gate"] = self.gate
        container["priority"] = self.priority.rawValue
        container["lane"] = self.lane
        container["uniqueKey"] = self.uniqueKey
        container["requestType"] = self.requestType
        container["due"] = self.due
        container["deadline"] = self.deadline
        container["enqueued"] = self.enqueued
        container["size"] = self.size
        container["retries"] = self.retries
        container["attempts"] = self.attempts
        container["received"] = self.received
        container["status"] = self.status
        container["error"] = self.error
        container["waiting"] = try self.waiting.map { try StoreTransaction.text(of: $0) }
        container["checksum"] = self.checksum
        container["request"] = self.request
        container["bodyFile"] = self.bodyFile
        container["body"] = self.body
        container["answer"] = try self.answer.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        container["answerBody"] = self.answerBody
    }

    /// The request; nil when it cannot be read, or its body is not the one that was taken.
    func intact(_ bodies: BodyFiles) -> RetryableRequest? {
        guard let sum = self.bodyFile.map({ try? bodies.checksum($0) }) ?? Checksum.of(self.body),
            self.checksum == Checksum.of(self.request) ^ sum
        else { return nil }
        return self.decoded(bodies)
    }

    /// The request, whatever its checksum; one that cannot be read any more has its id and its type.
    func readable(_ bodies: BodyFiles) -> RetryableRequest {
        self.decoded(bodies) ?? RetryableRequest(id: self.id, endpoint: "", requestType: self.requestType)
    }

    private func decoded(_ bodies: BodyFiles) -> RetryableRequest? {
        guard var request = try? JSONDecoder().decode(RetryableRequest.self, from: Data(self.request.utf8)) else {
            return nil
        }
        request.body = self.body
        request.bodyFile = self.bodyFile.map { bodies.path($0) }
        request.retryCount = self.retries
        return request
    }

    /// The request and where it stands.
    func record(of request: RetryableRequest, _ clock: QueueClock, at stamp: ClockStamp) -> RequestRecord {
        let due = self.due.map { clock.wall($0, at: stamp) }
        return RequestRecord(
            request: request,
            state: self.state,
            waiting: self.waiting,
            lastError: self.error,
            lastStatus: self.status,
            notBefore: due,
            sequence: self.sequence ?? 0,
            attempts: self.attempts,
            isRepeat: self.received || self.retries > 0,
            response: self.answer.map { answer in
                TransportResponse(
                    status: answer.status,
                    headers: answer.headers,
                    body: [UInt8](self.answerBody ?? Data())
                )
            }
        )
    }
}

/// What changes of state need of a row: everything but the request itself.
struct StoredRow: Hashable, Sendable, Codable, FetchableRecord {
    static let columns = "sequence, id, state, size, lane, bodyFile"

    var sequence: Int64
    var id: UUID
    var state: RequestState
    var size: Int
    var lane: String?
    var bodyFile: String?
}

extension Gate {
    /// What all requests with this gate have in its column: scheme and host, and what else it needs as JSON.
    var text: String {
        let place = "\(self.isPlain ? "http" : "https") \(self.host)"
        guard self.requires != PathRequirements() else { return place }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return "\(place) \(String(decoding: (try? encoder.encode(self.requires)) ?? Data(), as: UTF8.self))"
    }

    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2 else { return nil }
        var requires = PathRequirements()
        if parts.count == 3 {
            guard let read = try? JSONDecoder().decode(PathRequirements.self, from: Data(parts[2].utf8)) else {
                return nil
            }
            requires = read
        }
        self.init(host: String(parts[1]), requires: requires, isPlain: parts[0] == "http")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// A row of the table `request`: the one place where requests are written and read.
struct StoredRequest: Sendable, Codable, FetchableRecord {
    /// The place in the order; nil for behind all others.
    var sequence: Int64?
    var id: UUID
    var state = RequestState.ready
    /// What it must pass, as ``Gate/text`` has it.
    var gate: String
    var priority: RequestPriority
    var lane: String?
    var uniqueKey: String?
    var requestType: String
    var due: Int64?
    var deadline: Int64?
    var enqueued: Int64 = 0
    /// How many bytes it takes, body included.
    var size: Int
    var retries: Int
    var attempts = 0
    var received = false
    var status: Int?
    var error: String?
    var waiting: WaitingReason?
    /// Of the request and its body, so that neither is sent when it is damaged.
    var checksum: Int64
    /// The request as JSON, without its body.
    var request: String
    var bodyFile: String?
    var body: Data?
    var answer: Answer?
    var answerBody: Data?

    struct Answer: Hashable, Sendable, Codable {
        var status: Int
        var headers: HeaderFields
        /// Whether the rest of the body is missing; nil for no.
        var isCut: Bool?
    }

    init(_ request: RetryableRequest, to host: String, _ copy: BodyFiles.Copy?) throws(QueueError) {
        self.id = request.id
        self.gate = Gate(request, to: host).text
        self.priority = request.priority
        // Requests with the same unique key and without a lane are a lane of their own, in which one waits for another.
        self.lane = request.orderingKey.map { "o\($0)" } ?? request.uniqueKey.map { "u\($0)" }
        self.uniqueKey = request.uniqueKey
        self.requestType = request.requestType
        self.retries = request.retryCount
        self.request = request.text
        self.checksum = Checksum.of(self.request) ^ (copy?.checksum.value ?? Checksum.of(request.body))
        self.size = self.request.utf8.count + (copy?.size ?? request.body?.count ?? 0)
        self.bodyFile = copy?.name
        self.body = request.body
    }

    private static let newInsertion = "INSERT OR FAIL INTO request VALUES (\(databaseQuestionMarks(count: 24)))"
    private static let insertion = "INSERT OR IGNORE INTO request VALUES (\(databaseQuestionMarks(count: 24)))"

    /// Inserts the row; one that is not new only where there is none with that id.
    func insert(_ db: Database, isNew: Bool = true) throws {
        let values: [any StatementBinding] = [
            self.sequence, self.id, self.state.rawValue, self.gate, self.priority.rawValue, self.lane, self.uniqueKey,
            self.requestType, self.due, self.deadline, self.enqueued, self.size, self.retries, self.attempts,
            self.received, self.status, self.error, try self.waiting.map { try JSON.text(of: $0) }, self.checksum,
            self.request, self.bodyFile, self.body, try self.answer.map { try JSON.text(of: $0) }, self.answerBody,
        ]
        try db.executeDirectly(isNew ? Self.newInsertion : Self.insertion, values)
    }

    /// The request; nil when it cannot be read, or its body is not the one that was taken.
    ///
    /// - Throws: ``QueueError/io(path:reason:)`` when the system does not give the body now, which says nothing of it.
    func intact(_ bodies: BodyFiles) throws(QueueError) -> RetryableRequest? {
        guard let sum = try self.sumOfBody(bodies), self.checksum == Checksum.of(self.request) ^ sum else { return nil }
        return self.decoded(bodies)
    }

    private func sumOfBody(_ bodies: BodyFiles) throws(QueueError) -> Int64? {
        guard let bodyFile else { return Checksum.of(self.body) }
        do { return try bodies.checksum(bodyFile) } catch .bodyUnreadable { return nil }
    }

    /// The request, whatever its checksum; one that cannot be read any more has its id and its type.
    func readable(_ bodies: BodyFiles) -> RetryableRequest {
        self.decoded(bodies) ?? RetryableRequest(id: self.id, endpoint: "", requestType: self.requestType)
    }

    private func decoded(_ bodies: BodyFiles) -> RetryableRequest? {
        let decoded = try? JSONDecoder().decode(RetryableRequest.self, from: Data(self.request.utf8))
        // That the checksum is of the request covers the identifier of the row, too.
        guard var request = decoded, request.id == self.id else { return nil }
        request.body = self.body
        request.bodyFile = self.bodyFile.map { bodies.path($0) }
        request.retryCount = self.retries
        return request
    }

    func record(_ bodies: BodyFiles, _ status: StoreStatus, at stamp: Moment) -> RequestRecord {
        RequestRecord(
            request: self.readable(bodies),
            state: self.state,
            waiting: self.waiting,
            lastError: self.error,
            lastStatus: self.status,
            notBefore: self.due.map { status.wall($0, at: stamp) },
            sequence: self.sequence ?? 0,
            attempts: self.attempts,
            isRepeat: self.received || self.retries > 0,
            response: self.answer.map { answer in
                TransportResponse(
                    status: answer.status,
                    headers: answer.headers,
                    body: [UInt8](self.answerBody ?? Data()),
                    isCut: answer.isCut ?? false
                )
            }
        )
    }
}

extension RequestRecord {
    /// What is said of a request whose checksum is wrong.
    static let damage = "it is damaged"
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

enum JSON {
    static func text(of value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = []) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union(.withoutEscapingSlashes)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import NetPathHTTP
import OfflineRequests

extension SendCommand {
    /// The request that the command line describes; its fields are checked when it is enqueued.
    func request(bodyLimit limit: Int) throws(QueueError) -> RetryableRequest {
        let now = Date()
        let body = try SendBody(data: self.data, encoded: self.dataUrlencode, limit: limit)
        var headers = try HeaderFields(commandLine: self.headers)
        if headers["Content-Type"] == "" {
            // As with curl: none at all.
            headers["Content-Type"] = nil
        } else if headers["Content-Type"] == nil, !body.isEmpty {
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        }
        var request = RetryableRequest(
            endpoint: self.url,
            method: self.method ?? (body.isEmpty ? "GET" : "POST"),
            headers: headers,
            body: body.data,
            timestamp: now,
            maxRetries: self.maxRetries ?? RetryableRequest(endpoint: self.url).maxRetries,
            requestType: self.type ?? "",
            orderingKey: self.key,
            idempotencyKey: self.noIdempotencyKey ? .none : self.idempotencyKey.map { .value($0) } ?? .automatic
        )
        request.bodyFile = body.file
        request.priority = self.priority.value
        request.expiresAt = self.expiresIn.map { now.addingTimeInterval($0.duration / .seconds(1)) }
        if let policy = self.onFailure { request.onFailure = policy.value }
        request.requires = PathRequirements(
            unmeteredOnly: self.unmeteredOnly,
            interfaceType: self.interfaceType?.value
        )
        request.uniqueKey = self.unique
        if let policy = self.ifExists { request.ifExists = policy.value }
        request.sensitiveHeaders = self.sensitive
        if let limit = self.maxResponse { request.responseLimit = limit.bytes }
        request.keepsResponse = self.wait
        request.timeouts = self.timeouts
        request.expectedStatuses = Set(self.expectStatus.compactMap(Self.statuses).joined())
        request.expectedHeaders.fields = self.expectHeader.map { text in
            let field = Self.field(text) ?? (text, "")
            return HeaderFields.Field(name: field.name, value: field.value)
        }
        return request
    }

    private var timeouts: TransportRequest.Timeouts {
        var timeouts = TransportRequest.Timeouts()
        if let maxTime = self.maxTime { timeouts.total = maxTime.duration }
        if let stallTime = self.stallTime { timeouts.stall = stallTime.duration }
        return timeouts
    }
}

extension HeaderFields {
    /// The headers of a command line, which have been checked, and of the files that it names, as with curl.
    init(commandLine texts: [String]) throws(QueueError) {
        self.init()
        for text in texts {
            let isFile = text.hasPrefix("@")
            for (number, line) in try (isFile ? Self.lines(of: String(text.dropFirst())) : [text]).enumerated() {
                guard let field = SendCommand.field(line) else {
                    // The line may be a secret.
                    let place = "line \(number + 1) of \(text.dropFirst().description.safe)"
                    throw .invalidRequest(field: "header", reason: "is not one in \(place): write 'Name: value'")
                }
                self.fields.append(Field(name: field.name, value: field.value))
            }
        }
    }

    private static func lines(of path: String) throws(QueueError) -> [String] {
        let content: Data
        do {
            content = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 1 << 20) ?? Data()
        } catch {
            let reason = "cannot be read from the file \(path.safe): \(fileReason(error))"
            throw .invalidRequest(field: "header", reason: reason)
        }
        // Longer heads are refused by servers.
        guard content.count < 1 << 20 else {
            throw .invalidRequest(field: "header", reason: "is longer than 1 MiB in the file \(path.safe)")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw .invalidRequest(field: "header", reason: "is not UTF-8 in \(path.safe)")
        }
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        return lines.map { String($0) }.filter { !$0.isEmpty }
    }
}

extension SendCommand.Priority {
    fileprivate var value: RequestPriority {
        switch self {
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }
}

extension SendCommand.OnFailure {
    fileprivate var value: LanePolicy {
        switch self {
        case .hold: .hold
        case .skip: .skip
        case .dropLane: .dropLane
        }
    }
}

extension SendCommand.IfExists {
    fileprivate var value: UniquePolicy {
        switch self {
        case .keep: .keep
        case .replace: .replace
        }
    }
}

extension SendCommand.Link {
    fileprivate var value: ConnectionType {
        switch self {
        case .wifi: .wifi
        case .cellular: .cellular
        case .wired: .ethernet
        }
    }
}

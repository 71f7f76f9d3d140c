// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathCLI
import NetPathHTTP
import NetPathSystem
import OfflineRequests

extension JSONNode {
    /// A point in time in UTC (RFC 3339), or null.
    static func time(_ date: Date?) -> JSONNode {
        .optional(date?.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    /// What a request waits for, or null.
    static func waiting(_ reason: WaitingReason?) -> JSONNode {
        guard let reason else { return .null }
        return ["code": .string(reason.code), "message": .string(reason.description), "until": .time(reason.until)]
    }

    /// The fields of a head.
    static func headers(_ headers: HeaderFields) -> JSONNode {
        .array(headers.fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    /// What a server answered; a body that is no text is written in Base64.
    static func response(_ response: TransportResponse) -> JSONNode {
        let text = String(validating: response.body, as: UTF8.self)
        return [
            "status": .integer(response.status),
            "headers": .headers(response.headers),
            "body": .optional(text),
            "isCut": .bool(response.isCut),
            "bodyBase64": text == nil ? .string(Data(response.body).base64EncodedString()) : .null,
        ]
    }
}

extension RequestRecord {
    /// What lists show of a request.
    var summary: JSONNode {
        let request = self.request
        let requires = request.requires
        return [
            "schema": schemaVersion,
            "id": .string(request.id.text),
            "state": .string(self.state.rawValue),
            "waiting": .waiting(self.waiting),
            "method": .string(request.method),
            "url": .string(request.endpoint),
            "type": .string(request.requestType),
            "priority": .string("\(request.priority)"),
            "key": .optional(request.orderingKey),
            "onFailure": .string(request.onFailure.rawValue),
            "unique": .optional(request.uniqueKey),
            "idempotencyKey": .optional(request.idempotencyKey),
            "attempts": .integer(self.attempts),
            "retryCount": .integer(request.retryCount),
            "maxRetries": .integer(request.maxRetries),
            "isRepeat": .bool(self.isRepeat),
            "enqueued": .time(request.timestamp),
            "expires": .time(request.expiresAt),
            "notBefore": .time(self.notBefore),
            "lastStatus": .optional(self.lastStatus),
            "lastError": .optional(self.lastError),
            "requires": [
                "unmeteredOnly": .bool(requires.unmeteredOnly),
                "interfaceType": .optional(requires.interfaceType?.rawValue),
            ],
        ]
    }

    /// All there is to show of a request; the body is left out.
    var details: JSONNode {
        let request = self.request
        let body: JSONNode = [
            "bytes": .optional(request.body?.count),
            "file": .optional(request.bodyFile),
        ]
        return .object(
            self.summary.members + [
                (key: "expectedStatuses", value: .array(request.expectedStatuses.sorted().map(JSONNode.integer))),
                (key: "expectedHeaders", value: .strings(request.expectedHeaders.fields.map(\.name))),
                (key: "headers", value: .headers(request.headers)),
                (key: "body", value: request.body == nil && request.bodyFile == nil ? .null : body),
                (key: "contextBytes", value: .optional(request.context?.count)),
                (key: "response", value: self.response.map(JSONNode.response) ?? .null),
            ]
        )
    }
}

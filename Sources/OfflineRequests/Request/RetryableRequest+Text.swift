// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathSystem

extension RetryableRequest {
    /// The request as it is kept: JSON that can be decoded, without the body, the count of failures, and what is as usual.
    ///
    /// What most requests have is written here, since `JSONEncoder` takes ten times as long: it was a sixth of an enqueuing.
    var text: String {
        let line = JSONText.line { json in
            func put(_ key: StaticString, _ value: String?) {
                guard let value else { return }
                json.key(key)
                json.string(value)
            }
            // Nothing but a date that is not finite could fail, which no valid request has.
            func put<Value: Encodable & Equatable>(_ key: StaticString, _ value: Value, unless usual: Value) {
                guard value != usual, let text = try? JSON.text(of: value) else { return }
                json.key(key)
                json.json(text)
            }
            json.beginObject()
            put("id", self.id.text)
            put("endpoint", self.endpoint)
            put("method", self.method)
            if !self.headers.fields.isEmpty {
                json.key("headers")
                json.beginObject()
                json.key("fields")
                json.beginArray()
                for field in self.headers.fields {
                    json.beginObject()
                    put("name", field.name)
                    put("value", field.value)
                    json.endObject()
                }
                json.endArray()
                json.endObject()
            }
            json.key("timestamp")
            json.number(self.timestamp.timeIntervalSinceReferenceDate)
            json.key("maxRetries")
            json.integer(Int64(self.maxRetries))
            put("requestType", self.requestType.isEmpty ? nil : self.requestType)
            put("priority", self.priority, unless: .normal)
            put("expiresAt", self.expiresAt, unless: nil)
            put("orderingKey", self.orderingKey)
            put("onFailure", self.onFailure, unless: .hold)
            put("idempotencyKey", self.idempotencyKey)
            put("requires", self.requires, unless: PathRequirements())
            put("uniqueKey", self.uniqueKey)
            put("ifExists", self.ifExists, unless: .keep)
            put("sensitiveHeaders", self.sensitiveHeaders, unless: [])
            put("timeouts", self.timeouts, unless: TransportRequest.Timeouts())
            put("responseLimit", self.responseLimit, unless: Self.usualResponseLimit)
            put("expectedStatuses", self.expectedStatuses, unless: [])
            put("expectedHeaders", self.expectedHeaders, unless: [:])
            put("keepsResponse", self.keepsResponse, unless: false)
            put("context", self.context, unless: nil)
            json.endObject()
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}

extension UUID {
    /// In lower case; `uuidString` has the C library print it, which takes ten times as long.
    package var text: String {
        let (id, digits) = (self.uuid, Array("0123456789abcdef".utf8))
        let bytes = [
            id.0, id.1, id.2, id.3, id.4, id.5, id.6, id.7, id.8, id.9, id.10, id.11, id.12, id.13, id.14, id.15,
        ]
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (place, byte) in bytes.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

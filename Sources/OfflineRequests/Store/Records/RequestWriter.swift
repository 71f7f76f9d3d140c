// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP

/// Writes a request as the queue keeps it.
///
/// Not as JSON: encoding that costs more than SQLite's whole insert. The names of cases are written and not their
/// numbers, so that the order of cases may change.
struct RequestWriter {
    /// What every request begins with: a mark, and the version of the form.
    static let mark: [UInt8] = [0x4E, 0x50, 0x52, 1]

    private var octets: [UInt8] = Self.mark

    private init(reserving count: Int) {
        self.octets.reserveCapacity(count)
    }

    /// Writes a request; the name is that of the file in the queue's own folder that has the body, where one has it.
    static func encode(_ request: RetryableRequest, bodyFile: String?) -> Data {
        var writer = RequestWriter(reserving: 512 + (bodyFile == nil ? request.body?.count ?? 0 : 0))
        writer.write(request.id)
        writer.write(request.endpoint)
        writer.write(request.method)
        writer.write(request.headers)
        writer.write(request.timestamp)
        writer.write(request.maxRetries)
        writer.write(request.requestType)
        writer.write(request.priority.rawValue)
        writer.write(optional: request.expiresAt) { $0.write($1) }
        writer.write(optional: request.orderingKey) { $0.write($1) }
        writer.write(request.onFailure.rawValue)
        writer.write(optional: request.idempotencyKey) { $0.write($1) }
        writer.write(request.requires)
        writer.write(optional: request.uniqueKey) { $0.write($1) }
        writer.write(request.ifExists.rawValue)
        writer.write(request.sensitiveHeaders.count)
        for name in request.sensitiveHeaders { writer.write(name) }
        writer.write(request.timeouts.connect)
        writer.write(optional: request.timeouts.total) { $0.write($1) }
        writer.write(request.timeouts.stall)
        writer.write(request.keepsResponse)
        writer.write(optional: bodyFile) { $0.write($1) }
        writer.write(optional: bodyFile == nil ? request.body : nil) { writer, body in
            writer.write(body.count)
            writer.octets.append(contentsOf: body)
        }
        // What came later, which earlier versions do not read.
        writer.write(request.timeouts.minimumRate)
        writer.write(request.needsHandler)
        writer.write(request.expects.statuses.count)
        for status in request.expects.statuses.sorted() { writer.write(status) }
        writer.write(request.expects.headers)
        return Data(writer.octets)
    }

    /// Writes what tells a gate from others of its host.
    static func encode(_ gate: Gate) -> Data {
        var writer = RequestWriter(reserving: 64)
        writer.write(gate.requires)
        if gate.isPlain { writer.write(true) }
        return Data(writer.octets)
    }

    static func encode(_ response: TransportResponse) -> Data {
        var writer = RequestWriter(reserving: 512 + response.body.count)
        writer.write(response.status)
        writer.write(response.headers)
        writer.octets += response.body
        return Data(writer.octets)
    }

    private mutating func write(_ headers: HeaderFields) {
        self.write(headers.fields.count)
        for field in headers.fields {
            self.write(field.name)
            self.write(field.value)
        }
    }

    private mutating func write(_ id: UUID) {
        let id = id.uuid
        self.octets += [
            id.0, id.1, id.2, id.3, id.4, id.5, id.6, id.7, id.8, id.9, id.10, id.11, id.12, id.13, id.14, id.15,
        ]
    }

    private mutating func write(_ text: String) {
        let text = text.utf8
        self.write(text.count)
        self.octets.append(contentsOf: text)
    }

    /// Small numbers take an octet.
    private mutating func write(_ number: Int) {
        if number >= 0, number < 0xFF {
            self.octets.append(UInt8(number))
        } else {
            self.octets.append(0xFF)
            self.write(UInt64(bitPattern: Int64(number)))
        }
    }

    private mutating func write(_ number: UInt64) {
        for place in 0..<8 { self.octets.append(UInt8(truncatingIfNeeded: number >> UInt64(place * 8))) }
    }

    private mutating func write(_ flag: Bool) { self.octets.append(flag ? 1 : 0) }

    private mutating func write(_ date: Date) { self.write(date.timeIntervalSinceReferenceDate.bitPattern) }

    private mutating func write(_ duration: Duration) {
        let parts = duration.components
        self.write(UInt64(bitPattern: parts.seconds))
        self.write(UInt64(bitPattern: parts.attoseconds))
    }

    private mutating func write(_ requirements: PathRequirements) {
        self.write(requirements.unmeteredOnly)
        self.write(optional: requirements.interfaceType) { $0.write($1.rawValue) }
        self.write(optional: requirements.hostReachable) { $0.write($1) }
    }

    private mutating func write<Value>(optional value: Value?, _ write: (inout Self, Value) -> Void) {
        self.write(value != nil)
        if let value { write(&self, value) }
    }
}

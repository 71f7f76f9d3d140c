// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP

/// Reads requests and responses as files of older versions have them; octets that are damaged never trap.
struct LegacyReader {
    /// What is kept does not have the form it was written in.
    struct Damage: Error {}

    private let octets: [UInt8]
    private var index = 4

    private init(_ octets: Data) throws(Damage) {
        self.octets = [UInt8](octets)
        // "NPR", and the version of the form.
        guard self.octets.starts(with: [0x4E, 0x50, 0x52, 1]) else { throw Damage() }
    }

    /// Reads a request.
    ///
    /// - Returns: The request, and the name of the file that has its body, where one has it.
    static func request(_ octets: Data) throws(Damage) -> (request: RetryableRequest, bodyFile: String?) {
        var reader = try LegacyReader(octets)
        let id = try reader.id()
        let (endpoint, method) = (try reader.text(), try reader.text())
        var request = RetryableRequest(id: id, endpoint: endpoint, method: method, idempotencyKey: .none)
        request.headers = try reader.headers()
        request.timestamp = try reader.date()
        request.maxRetries = try reader.number()
        request.requestType = try reader.text()
        request.priority = try reader.known(RequestPriority(rawValue: try reader.number()))
        request.expiresAt = try reader.flag() ? try reader.date() : nil
        request.orderingKey = try reader.optionalText()
        request.onFailure = try reader.known(LanePolicy(rawValue: try reader.text()))
        request.idempotencyKey = try reader.optionalText()
        request.requires.unmeteredOnly = try reader.flag()
        let type = try reader.optionalText()
        request.requires.interfaceType = try type.map { name throws(Damage) in
            try reader.known(ConnectionType(rawValue: name))
        }
        request.requires.hostReachable = try reader.optionalText()
        request.uniqueKey = try reader.optionalText()
        request.ifExists = try reader.known(UniquePolicy(rawValue: try reader.text()))
        for _ in 0..<(try reader.count()) { request.sensitiveHeaders.append(try reader.text()) }
        request.timeouts.connect = try reader.duration()
        request.timeouts.total = try reader.flag() ? try reader.duration() : nil
        request.timeouts.stall = try reader.duration()
        request.keepsResponse = try reader.flag()
        let bodyFile = try reader.optionalText()
        request.body = try reader.flag() ? Data(try reader.take(try reader.count())) : nil
        // The first records end here, when nobody could ask for a handler.
        let isLater = reader.index < reader.octets.endIndex
        request.timeouts.minimumRate = isLater ? try reader.number() : 0
        request.needsHandler = isLater ? try reader.flag() : false
        if isLater {
            for _ in 0..<(try reader.count()) { request.expects.statuses.insert(try reader.number()) }
            request.expects.headers = try reader.headers()
        }
        return (request, bodyFile)
    }

    static func response(_ octets: Data) throws(Damage) -> TransportResponse {
        var reader = try LegacyReader(octets)
        let (status, headers) = (try reader.number(), try reader.headers())
        return TransportResponse(status: status, headers: headers, body: Array(reader.octets[reader.index...]))
    }

    private mutating func headers() throws(Damage) -> HeaderFields {
        var headers = HeaderFields()
        for _ in 0..<(try self.count()) {
            let name = try self.text()
            headers.fields.append(HeaderFields.Field(name: name, value: try self.text()))
        }
        return headers
    }

    private mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard 0...(self.octets.endIndex - self.index) ~= count else { throw Damage() }
        defer { self.index += count }
        return self.octets[self.index..<(self.index + count)]
    }

    private mutating func word() throws(Damage) -> UInt64 {
        try self.take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func number() throws(Damage) -> Int {
        let first = try self.take(1).first ?? 0
        return first == 0xFF ? Int(Int64(bitPattern: try self.word())) : Int(first)
    }

    /// A number of things that each take an octet at least, so that a damaged one cannot make this run for long.
    private mutating func count() throws(Damage) -> Int {
        let count = try self.number()
        guard 0...(self.octets.endIndex - self.index) ~= count else { throw Damage() }
        return count
    }

    private mutating func text() throws(Damage) -> String {
        try self.known(String(validating: try self.take(try self.count()), as: UTF8.self))
    }

    private mutating func optionalText() throws(Damage) -> String? { try self.flag() ? try self.text() : nil }

    private mutating func flag() throws(Damage) -> Bool {
        let octet = try self.take(1).first ?? 0
        return octet <= 1 ? octet == 1 : try self.known(nil)
    }

    private mutating func date() throws(Damage) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try self.word()))
    }

    private mutating func duration() throws(Damage) -> Duration {
        let (seconds, rest) = (Int64(bitPattern: try self.word()), Int64(bitPattern: try self.word()))
        guard abs(rest) < 1_000_000_000_000_000_000 else { throw Damage() }
        return Duration(secondsComponent: seconds, attosecondsComponent: rest)
    }

    private mutating func id() throws(Damage) -> UUID {
        let id = Array(try self.take(16))
        return UUID(
            uuid: (
                id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7],
                id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]
            )
        )
    }

    private func known<Value>(_ value: Value?) throws(Damage) -> Value {
        guard let value else { throw Damage() }
        return value
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import GRDB
import NetPathHTTP

/// Reads requests and responses as files of older versions have them; bytes that are damaged never trap.
struct LegacyReader {
    /// What is kept does not have the form it was written in.
    struct Damage: Error {}

    private let bytes: [UInt8]
    private var index = 4

    private init(_ bytes: Data) throws {
        self.bytes = [UInt8](bytes)
        // "NPR", and the version of the form.
        guard self.bytes.starts(with: [0x4E, 0x50, 0x52, 1]) else { throw Damage() }
    }

    /// Reads a request, whose body may be in a file that is named without its folder.
    static func request(_ bytes: Data) throws -> RetryableRequest {
        var reader = try LegacyReader(bytes)
        let id = try reader.known(UUID.fromDatabaseValue(Data(try reader.take(16)).databaseValue))
        var request = RetryableRequest(id: id, endpoint: try reader.text(), idempotencyKey: .none)
        request.method = try reader.text()
        request.headers = try reader.headers()
        request.timestamp = try reader.date()
        request.maxRetries = try reader.number()
        request.requestType = try reader.text()
        request.priority = try reader.known(RequestPriority(rawValue: try reader.number()))
        request.expiresAt = try reader.optional { try $0.date() }
        request.orderingKey = try reader.optional { try $0.text() }
        request.onFailure = try reader.known(LanePolicy(rawValue: try reader.text()))
        request.idempotencyKey = try reader.optional { try $0.text() }
        request.requires.unmeteredOnly = try reader.flag()
        request.requires.interfaceType = try reader.optional { try $0.known(ConnectionType(rawValue: try $0.text())) }
        _ = try reader.optional { try $0.text() }
        request.uniqueKey = try reader.optional { try $0.text() }
        request.ifExists = try reader.known(UniquePolicy(rawValue: try reader.text()))
        request.sensitiveHeaders = try reader.list { try $0.text() }
        request.timeouts.connect = try reader.duration()
        request.timeouts.total = try reader.optional { try $0.duration() }
        request.timeouts.stall = try reader.duration()
        request.keepsResponse = try reader.flag()
        request.bodyFile = try reader.optional { try $0.text() }
        request.body = try reader.optional { Data(try $0.take(try $0.count())) }
        // The first records end here, when nobody could ask for a handler.
        let isLater = reader.index < reader.bytes.endIndex
        request.timeouts.minimumRate = isLater ? try reader.number() : 0
        request.needsHandler = isLater ? try reader.flag() : false
        if isLater {
            request.expects.statuses = Set(try reader.list { try $0.number() })
            request.expects.headers = try reader.headers()
        }
        return request
    }

    static func response(_ bytes: Data) throws -> TransportResponse {
        var reader = try LegacyReader(bytes)
        let (status, headers) = (try reader.number(), try reader.headers())
        return TransportResponse(status: status, headers: headers, body: Array(reader.bytes[reader.index...]))
    }

    private mutating func headers() throws -> HeaderFields {
        HeaderFields(try self.list { HeaderFields.Field(name: try $0.text(), value: try $0.text()) })
    }

    private mutating func list<Value>(_ read: (inout Self) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try self.count()) { values.append(try read(&self)) }
        return values
    }

    private mutating func optional<Value>(_ read: (inout Self) throws -> Value) throws -> Value? {
        try self.flag() ? try read(&self) : nil
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard 0...(self.bytes.endIndex - self.index) ~= count else { throw Damage() }
        defer { self.index += count }
        return self.bytes[self.index..<(self.index + count)]
    }

    private mutating func word() throws -> UInt64 { try self.take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    private mutating func number() throws -> Int {
        let first = try self.take(1).first ?? 0
        return first == 0xFF ? Int(Int64(bitPattern: try self.word())) : Int(first)
    }

    /// A number of things that each take a byte at least, so that a damaged one cannot make this run for long.
    private mutating func count() throws -> Int {
        let count = try self.number()
        guard 0...(self.bytes.endIndex - self.index) ~= count else { throw Damage() }
        return count
    }

    private mutating func text() throws -> String {
        try self.known(String(validating: try self.take(try self.count()), as: UTF8.self))
    }

    private mutating func flag() throws -> Bool {
        let byte = try self.take(1).first ?? 0
        return byte <= 1 ? byte == 1 : try self.known(nil)
    }

    private mutating func date() throws -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try self.word()))
    }

    private mutating func duration() throws -> Duration {
        let (seconds, rest) = (Int64(bitPattern: try self.word()), Int64(bitPattern: try self.word()))
        guard rest.magnitude < 1_000_000_000_000_000_000 else { throw Damage() }
        return Duration(secondsComponent: seconds, attosecondsComponent: rest)
    }

    private func known<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Damage() }
        return value
    }
}

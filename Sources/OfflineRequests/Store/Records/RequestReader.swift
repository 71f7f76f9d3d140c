// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP

/// What is kept does not have the form it was written in.
struct Damage: Error {
    /// What is wrong, for a person.
    var reason: String
}

/// Reads what a ``RequestWriter`` wrote; octets that are damaged never trap.
struct RequestReader {
    // An array, whose octets cost a fraction of those of a Data.
    private let octets: [UInt8]
    private var index = 0

    private init(_ octets: Data) throws(Damage) {
        self.octets = [UInt8](octets)
        guard self.octets.starts(with: RequestWriter.mark) else { throw Damage(reason: "a record has no mark") }
        self.index += RequestWriter.mark.count
    }

    /// Reads a request.
    ///
    /// - Returns: The request, and the name of the file that has its body, where one has it.
    static func request(_ octets: Data) throws(Damage) -> (request: RetryableRequest, bodyFile: String?) {
        var reader = try RequestReader(octets)
        let id = try reader.id()
        let endpoint = try reader.text()
        let method = try reader.text()
        var request = RetryableRequest(
            id: id,
            endpoint: endpoint,
            method: method,
            headers: try reader.headers(),
            timestamp: try reader.date(),
            idempotencyKey: .none
        )
        request.maxRetries = try reader.number()
        request.requestType = try reader.text()
        request.priority = try reader.known(RequestPriority(rawValue: try reader.number()))
        request.expiresAt = try reader.flag() ? try reader.date() : nil
        request.orderingKey = try reader.flag() ? try reader.text() : nil
        request.onFailure = try reader.known(LanePolicy(rawValue: try reader.text()))
        request.idempotencyKey = try reader.flag() ? try reader.text() : nil
        request.requires = try reader.requirements()
        request.uniqueKey = try reader.flag() ? try reader.text() : nil
        request.ifExists = try reader.known(UniquePolicy(rawValue: try reader.text()))
        for _ in 0..<(try reader.count()) { request.sensitiveHeaders.append(try reader.text()) }
        request.timeouts.connect = try reader.duration()
        request.timeouts.total = try reader.flag() ? try reader.duration() : nil
        request.timeouts.stall = try reader.duration()
        request.keepsResponse = try reader.flag()
        let bodyFile = try reader.flag() ? try reader.text() : nil
        request.body = try reader.flag() ? Data(try reader.take(try reader.count())) : nil
        try reader.readLater(into: &request)
        return (request, bodyFile)
    }

    /// Reads what records of earlier versions do not have.
    private mutating func readLater(into request: inout RetryableRequest) throws(Damage) {
        guard self.index < self.octets.endIndex else {
            // Nobody asked for a handler then.
            request.needsHandler = false
            request.timeouts.minimumRate = 0
            return
        }
        request.timeouts.minimumRate = try self.number()
        request.needsHandler = try self.flag()
        for _ in 0..<(try self.count()) { request.expects.statuses.insert(try self.number()) }
        request.expects.headers = try self.headers()
    }

    static func response(_ octets: Data) throws(Damage) -> TransportResponse {
        var reader = try RequestReader(octets)
        let status = try reader.number()
        let headers = try reader.headers()
        return TransportResponse(status: status, headers: headers, body: [UInt8](octets[reader.index...]))
    }

    /// Reads what tells a gate from others of its host.
    static func gate(_ octets: Data, of host: String) throws(Damage) -> Gate {
        var reader = try RequestReader(octets)
        let requires = try reader.requirements()
        // Earlier versions do not say it.
        let isPlain = reader.index < reader.octets.endIndex ? try reader.flag() : false
        return Gate(host: host, requires: requires, isPlain: isPlain)
    }

    private mutating func headers() throws(Damage) -> HeaderFields {
        var headers = HeaderFields()
        for _ in 0..<(try self.count()) {
            let name = try self.text()
            headers.fields.append(HeaderFields.Field(name: name, value: try self.text()))
        }
        return headers
    }

    private mutating func requirements() throws(Damage) -> PathRequirements {
        let unmeteredOnly = try self.flag()
        let type = try self.flag() ? try self.known(ConnectionType(rawValue: try self.text())) : nil
        let host = try self.flag() ? try self.text() : nil
        return PathRequirements(unmeteredOnly: unmeteredOnly, interfaceType: type, hostReachable: host)
    }

    private mutating func take(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= self.octets.endIndex - self.index else {
            throw Damage(reason: "a record ends too early")
        }
        defer { self.index += count }
        return self.octets[self.index..<(self.index + count)]
    }

    private mutating func octet() throws(Damage) -> UInt8 {
        guard self.index < self.octets.endIndex else { throw Damage(reason: "a record ends too early") }
        defer { self.index += 1 }
        return self.octets[self.index]
    }

    private mutating func word() throws(Damage) -> UInt64 {
        try self.take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func number() throws(Damage) -> Int {
        let first = try self.octet()
        return first == 0xFF ? Int(Int64(bitPattern: try self.word())) : Int(first)
    }

    /// A number of things that each take an octet at least, so that a damaged one cannot make this run for long.
    private mutating func count() throws(Damage) -> Int {
        let count = try self.number()
        guard count >= 0, count <= self.octets.endIndex - self.index else {
            throw Damage(reason: "a record ends too early")
        }
        return count
    }

    private mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try self.take(try self.count()), as: UTF8.self) else {
            throw Damage(reason: "a text of a record is not UTF-8")
        }
        return text
    }

    private mutating func flag() throws(Damage) -> Bool {
        switch try self.octet() {
        case 0: false
        case 1: true
        default: throw Damage(reason: "a record has something else where it says yes or no")
        }
    }

    private mutating func date() throws(Damage) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try self.word()))
    }

    private mutating func duration() throws(Damage) -> Duration {
        let seconds = Int64(bitPattern: try self.word())
        let attoseconds = Int64(bitPattern: try self.word())
        guard abs(attoseconds) < 1_000_000_000_000_000_000 else { throw Damage(reason: "a duration is none") }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    private mutating func id() throws(Damage) -> UUID {
        try self.known(UUID(octets: try self.take(16)))
    }

    private func known<Value>(_ value: Value?) throws(Damage) -> Value {
        guard let value else { throw Damage(reason: "a record has a choice that is not known") }
        return value
    }
}

extension UUID {
    /// Reads the 16 octets of an id; nil for another number of them.
    init?(octets: some Collection<UInt8>) {
        guard octets.count == 16 else { return nil }
        let id = [UInt8](octets)
        self.init(
            uuid: (
                id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7],
                id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15]
            )
        )
    }
}

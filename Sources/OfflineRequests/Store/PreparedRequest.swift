// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A request as it goes into the database: encoded, and with a long body in a file of the queue's own.
///
/// All that takes long is done when it is made, on the thread of whoever enqueues.
struct PreparedRequest: Sendable {
    /// The request, as the queue will give it back.
    let request: RetryableRequest
    /// The request as JSON, without its body.
    let payload: String
    let checksum: Int64
    /// How many octets it takes, body included.
    let size: Int
    /// The host it goes to.
    let host: String
    /// The lane it is in; nil for none.
    let lane: String?
    /// The name of the file that has its body.
    let bodyFile: String?
    /// The file of the body; nil without one.
    let lease: BodyLease?

    /// Prepares a request that is valid, and goes to that host.
    init(
        _ request: RetryableRequest,
        to host: String,
        limits: QueueLimits,
        bodies: BodyFiles
    ) throws(QueueError) {
        var kept = request
        var spooled: BodyFiles.Copy?
        if let file = request.bodyFile {
            spooled = try bodies.copy(file, limit: limits.maxBodyBytes)
        } else if let body = request.body, body.count > BodyFiles.threshold {
            spooled = try bodies.write(body)
        }
        if let spooled {
            kept.body = nil
            kept.bodyFile = spooled.lease.path
        }
        self.request = kept
        self.payload = try Self.encode(kept)
        self.checksum = Checksum.of(self.payload) ^ (spooled?.checksum ?? Checksum.of(kept.body))
        self.size = self.payload.utf8.count + (spooled?.size ?? kept.body?.count ?? 0)
        self.host = host
        // Requests with the same unique key and without a lane are a lane of their own, in which one waits for another.
        self.lane = request.orderingKey.map { "o\($0)" } ?? request.uniqueKey.map { "u\($0)" }
        self.bodyFile = spooled?.name
        self.lease = spooled?.lease
    }

    /// Writes a request without its body.
    static func encode(_ request: RetryableRequest) throws(QueueError) -> String {
        var request = request
        (request.body, request.bodyFile) = (nil, nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        do { return String(decoding: try encoder.encode(request), as: UTF8.self) } catch {
            throw .invalidRequest(field: "request", reason: "cannot be written as JSON: \(error)")
        }
    }
}

/// A checksum of octets, for damage and not against malice.
///
/// Every step is a bijection of what was before, so that a single damaged word of eight octets never goes unnoticed, and
/// other damage does once in 2^64 cases. That of a request is the exclusive or of those of its parts.
struct Checksum {
    private(set) var value: Int64 = 0

    static func of(_ text: String) -> Int64 { Self.of(Data(text.utf8)) }

    /// The checksum of octets; zero where there are none.
    static func of(_ octets: Data?) -> Int64 {
        var checksum = Checksum()
        if let octets { for piece in octets.pieces { checksum.add(piece) } }
        return checksum.value
    }

    /// Adds a piece.
    mutating func add(_ octets: [UInt8]) {
        var hash = 0x9E37_79B9_7F4A_7C15 ^ UInt64(octets.count)
        let span = octets.span
        var index = 0
        while index + 8 <= span.count {
            var word: UInt64 = 0
            for place in 0..<8 { word |= UInt64(span[index + place]) << UInt64(place * 8) }
            Self.mix(word, into: &hash)
            index += 8
        }
        var word: UInt64 = 0
        while index < span.count {
            word = word << 8 | UInt64(span[index])
            index += 1
        }
        Self.mix(word, into: &hash)
        self.value = (self.value << 1 | (self.value >> 63 & 1)) ^ Int64(bitPattern: hash)
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}

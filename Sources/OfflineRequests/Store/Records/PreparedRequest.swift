// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A request as it goes into the database: encoded, and with a long body in a file of the queue's own.
///
/// All that takes long is done when it is made, on the thread of whoever enqueues.
struct PreparedRequest: Sendable {
    /// The request, as the queue will give it back.
    let request: RetryableRequest
    /// What goes into the database.
    let payload: Data
    /// The checksum of the payload.
    let seal: Int64
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
        var spooled: (name: String, lease: BodyLease, size: Int)?
        if let file = request.bodyFile {
            spooled = try bodies.copy(file, limit: limits.maxBodyBytes)
        } else if let body = request.body {
            guard body.count <= limits.maxBodyBytes else {
                throw .bodyTooLarge(bytes: body.count, limit: limits.maxBodyBytes)
            }
            if body.count > BodyFiles.threshold {
                let file = try bodies.write(body)
                spooled = (file.name, file.lease, body.count)
            }
        }
        if let spooled {
            kept.body = nil
            kept.bodyFile = spooled.lease.path
        }
        self.init(kept, to: host, bodyFile: spooled?.name, lease: spooled?.lease, bodySize: spooled?.size ?? 0)
    }

    /// Prepares a request whose long body is in its file already.
    init(_ request: RetryableRequest, to host: String, bodyFile: String?, lease: BodyLease? = nil, bodySize: Int) {
        self.request = request
        self.payload = RequestWriter.encode(request, bodyFile: bodyFile)
        self.seal = Checksum.of(self.payload)
        self.size = self.payload.count + bodySize
        self.host = host
        self.lane = Self.lane(of: request)
        self.bodyFile = bodyFile
        self.lease = lease
    }

    /// Requests with the same unique key and without a lane are a lane of their own, in which one waits for another.
    private static func lane(of request: RetryableRequest) -> String? {
        if let key = request.orderingKey { return "o\(key)" }
        return request.uniqueKey.map { "u\($0)" }
    }
}

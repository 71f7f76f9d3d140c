// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A request as it goes into the database: encoded, and with a long body in a file of the queue's own.
///
/// All that takes long is done when it is made, on the thread of whoever enqueues.
struct PreparedRequest: Sendable {
    /// The request, as the queue will give it back.
    let request: RetryableRequest
    /// Its row, but for its place and its times.
    let row: StoredRequest
    /// The file of the body; nil without one.
    let lease: BodyLease?

    /// Prepares a request that is valid, and goes to that host.
    init(_ request: RetryableRequest, to host: String, limits: QueueLimits, bodies: BodyFiles) throws(QueueError) {
        var kept = request
        var copy: BodyFiles.Copy?
        if let file = request.bodyFile {
            copy = try bodies.copy(file, limit: limits.maxBodyBytes)
        } else if let body = request.body, body.count > BodyFiles.threshold {
            copy = try bodies.write(body)
        }
        if let copy {
            kept.body = nil
            kept.bodyFile = copy.lease.path
        }
        self.request = kept
        self.row = try StoredRequest(kept, to: host, copy)
        self.lease = copy?.lease
    }
}

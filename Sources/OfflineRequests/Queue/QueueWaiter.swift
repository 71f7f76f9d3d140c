// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Somebody who waits for the end of a request, or for the end of all of them.
struct QueueWaiter: Sendable {
    let number: UInt64
    /// The request; nil for all.
    let id: UUID?
    /// Tells how the request ended; nil for one that is not there.
    let reply: @Sendable (Result<RequestRecord?, QueueError>) -> Void
    /// The request as it was when it was last looked at.
    var last: SeenRequest?

    init(number: UInt64, id: UUID?, reply: @escaping @Sendable (Result<RequestRecord?, QueueError>) -> Void) {
        self.number = number
        self.id = id
        self.reply = reply
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How much is taken of anybody.
package struct ServeLimits: Sendable {
    /// For more than these the one is closed that waits longest without a whole request.
    package var connections = 2_048
    /// Of them so many may be streams of events, so that there is room for other requests.
    var streams: Int { self.connections / 4 * 3 }
    /// The bytes of the header of a request, all lines together.
    package var header = 16_384
    /// How many lines the header may have.
    package var headerLines = 64
    /// The bytes of the body of a request: a token.
    package var body = 4_096
    /// How long a request may take to arrive, and what is asked because of it to be answered.
    package var request: Duration = .seconds(10)
    /// How long a client may take to read a piece of an answer of 16 KiB.
    package var piece: Duration = .seconds(10)
    /// How many bytes of answers that take time to make are kept for all clients.
    package var shared = 32 << 20
    /// How long a connection is kept without a request.
    package var idle: Duration = .seconds(60)
    /// How long there may be nothing on a stream of events.
    package var heartbeat: Duration = .seconds(20)

    package init() {}
}

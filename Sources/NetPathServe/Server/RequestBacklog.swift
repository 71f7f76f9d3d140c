// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOHTTP1

/// Requests that came together with one that is being answered.
///
/// Few clients send some ahead, and none needs many: what is beyond the limits is dropped, and the connection closed when
/// the others are answered.
struct RequestBacklog {
    private let limits: ServeLimits
    private var parts: CircularBuffer<HTTPServerRequestPart> = []
    private var requests = 0
    private var bytes = 0
    /// Whether something was dropped, and all that follows is.
    private var isOverrun = false
    /// Whether nothing is left of what came before something was dropped.
    var isAtEnd: Bool { self.isOverrun && self.parts.isEmpty }

    init(_ limits: ServeLimits) {
        self.limits = limits
    }

    mutating func append(_ part: HTTPServerRequestPart) {
        switch part {
        case .head: self.requests += 1
        case .body(let buffer): self.bytes += buffer.readableBytes
        case .end: break
        }
        // The first request of all may have a body that is too long, and is told so.
        if self.requests > self.limits.pipelined || (self.requests > 1 && self.bytes > self.limits.body) {
            self.isOverrun = true
        }
        if !self.isOverrun { self.parts.append(part) }
    }

    mutating func next() -> HTTPServerRequestPart? {
        guard let part = self.parts.popFirst() else { return nil }
        switch part {
        case .body(let buffer): self.bytes -= buffer.readableBytes
        case .end: self.requests -= 1
        case .head: break
        }
        return part
    }
}

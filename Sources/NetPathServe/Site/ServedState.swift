// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The newest state and the number of it, as events and as a document.
package struct ServedState: Sendable {
    /// How long a browser waits before it connects again, in milliseconds.
    static let retry = 1_000

    /// Tells servers apart, so that a number of another one is never taken for one of this.
    package let instance: UInt64
    package private(set) var version: UInt64 = 0
    /// The document: an object of JSON on one line, without a line feed.
    package private(set) var document: [UInt8]

    package init(instance: UInt64 = .random(in: 0...(.max)), document: [UInt8] = Array("{}".utf8)) {
        self.instance = instance
        self.document = document
    }

    /// Takes a newer document, a line of JSON.
    package mutating func set(_ line: [UInt8]) {
        self.document = line.last == UInt8(ascii: "\n") ? line.dropLast() : line
        self.version += 1
    }

    /// The name of the state among events.
    package var identifier: String { "\(String(self.instance, radix: 36))-\(self.version)" }

    /// The state as an event.
    package var event: [UInt8] {
        Array("id: \(self.identifier)\nevent: status\ndata: ".utf8) + self.document + Array("\n\n".utf8)
    }

    /// What a client gets first: how long to wait before it comes again, and the state unless it has that.
    ///
    /// - Parameter lastEvent: The name of the state that it saw last.
    /// - Returns: The bytes.
    package func greeting(lastEvent: String?) -> [UInt8] {
        let retry = Array("retry: \(Self.retry)\n".utf8)
        // A stream that begins with nothing tells no client that it is open.
        return retry + (lastEvent == self.identifier ? Self.heartbeat : self.event)
    }

    /// What is sent when there has long been nothing: an event, since a page never sees comments and has to notice when
    /// nothing comes any more.
    package static let heartbeat = Array("event: heartbeat\ndata: {}\n\n".utf8)
}

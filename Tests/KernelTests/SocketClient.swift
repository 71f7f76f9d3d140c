// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import Testing

/// One end of a socket in the file system.
final class SocketClient {
    private let descriptor: Int32
    private var text = ""

    init(_ path: String, buffer: Int32? = nil) throws {
        self.descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        if var buffer {
            unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // The backlog of a socket in the file system makes one that comes too early wait.
        let isConnected = unsafe Self.withAddress(path) { unsafe connect(self.descriptor, $0, $1) } == 0
        try #require(isConnected)
    }

    init(receivingAt path: String) throws {
        self.descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let isBound = unsafe Self.withAddress(path) { unsafe bind(self.descriptor, $0, $1) } == 0
        try #require(isBound)
    }

    deinit { close(self.descriptor) }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = unsafe send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        try #require(count == bytes.count)
    }

    /// Says that nothing more is written.
    func end() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    private func read(until deadline: ContinuousClock.Instant) throws -> Int {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        let rest = max(0, Int32((deadline - .now) / .milliseconds(1)))
        let isReady = unsafe poll(&entry, 1, rest) == 1
        try #require(isReady, "nothing more came after: \(self.text.suffix(2_000))")
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(self.descriptor, &bytes, bytes.count, 0)
        self.text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return count
    }

    /// Waits for a text, and forgets it and what came before it.
    func await(_ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            if let range = self.text.range(of: text) {
                self.text.removeSubrange(..<range.upperBound)
                return
            }
            try #require(try self.read(until: deadline) > 0, "ended after: \(self.text)")
        }
    }

    /// Reads for as long as something comes: a busy machine takes its time for megabytes.
    func readToEnd() throws -> String {
        while try self.read(until: .now + .seconds(60)) > 0 {}
        return self.text
    }
}

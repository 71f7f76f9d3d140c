// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Synchronization

/// A client of HTTP that does nothing by itself, with a deadline for everything.
final class Client {
    private let socket: FileDescriptor
    private var input: [UInt8] = []

    /// Connects to a port of loopback.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        guard let socket = FileDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) else {
            throw SystemError.last("cannot make a socket")
        }
        self.socket = socket
        if var size = receiveBuffer {
            _ = unsafe setsockopt(socket.number, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemError.last("cannot connect") }
        self.limit()
    }

    /// Connects to a socket in the file system.
    init(path: String) throws {
        guard let socket = FileDescriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) else {
            throw SystemError.last("cannot make a socket")
        }
        self.socket = socket
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError.last("cannot connect") }
        self.limit()
    }

    private func limit() {
        var time = timeval(tv_sec: 20, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = unsafe setsockopt(self.socket.number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Sends a text; one that the server does not take to its end is no error.
    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(self.socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a text again and again while that goes without waiting for longer than a moment.
    ///
    /// - Returns: How many bytes went.
    func flood(_ text: String, limit: Int) -> Int {
        let bytes = Array(text.utf8)
        var (sum, refusals) = (0, 0)
        while sum < limit, refusals < 50 {
            let count = unsafe bytes.withUnsafeBytes {
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                return unsafe Glibc.send(self.socket.number, $0.baseAddress, $0.count, flags)
            }
            if count > 0 {
                (sum, refusals) = (sum + count, 0)
            } else {
                refusals += 1
                usleep(20_000)
            }
        }
        return sum
    }

    /// Reads until a text has come, and takes everything up to its end; what there is when nothing more comes.
    func read(until text: String, atLeast: Int = 0) -> String {
        let wanted = Array(text.utf8)
        while true {
            if self.input.count >= atLeast, let start = self.find(wanted) {
                defer { self.input.removeFirst(start + wanted.count) }
                return String(decoding: self.input[..<(start + wanted.count)], as: UTF8.self)
            }
            guard let part = self.socket.read(limit: 1 << 16), !part.isEmpty else {
                return String(decoding: self.input, as: UTF8.self)
            }
            self.input += part
        }
    }

    private func find(_ text: [UInt8]) -> Int? {
        guard self.input.count >= text.count else { return nil }
        return (0...(self.input.count - text.count)).first { start in
            self.input[start] == text[0] && self.input[start..<(start + text.count)].elementsEqual(text)
        }
    }

    /// Reads until the server closes the connection.
    func readToEnd() -> String {
        while let part = self.socket.read(limit: 1 << 16), !part.isEmpty { self.input += part }
        return String(decoding: self.input, as: UTF8.self)
    }

    /// Asks once.
    func ask(_ path: String, host: String = "localhost") -> String {
        self.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        return self.readToEnd()
    }
}

/// Something that a thread waits for.
final class WakeUpFlag: Sendable {
    private let isSet = Mutex(false)

    func set() { self.isSet.withLock { $0 = true } }

    func wait() { while !self.isSet.withLock(\.self) { usleep(1_000) } }
}

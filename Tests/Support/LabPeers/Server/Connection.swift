// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A connection to a client, used by one thread, which may block.
final class Connection {
    /// Which connection it is, from 1.
    let number: Int
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    init(_ descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        Glibc.close(self.descriptor)
    }

    /// Closes with RST: what is under way is lost on both sides.
    func reset() {
        var abort = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
        self.close()
    }

    /// Ends both directions at once; the descriptor goes with the object.
    func close() {
        // With SO_LINGER 0 only close(2) resets, and the object may live on: dup2 onto it closes it.
        let null = unsafe open("/dev/null", O_RDWR)
        dup2(null, self.descriptor)
        Glibc.close(null)
    }

    /// The next head, without the empty line; nil when the client has gone.
    func readHead() -> ArraySlice<UInt8>? {
        var searched = self.start
        while true {
            if let end = self.endOfHead(from: searched) {
                let head = self.buffer[self.start..<end]
                self.start = end + 4
                return head
            }
            let isEmpty = self.start == self.buffer.count
            searched = isEmpty ? 0 : max(self.start, self.buffer.count - 3)
            guard self.fill() else { return nil }
        }
    }

    /// Reads a part of a body, at most the bytes that are missing; empty when the client has gone.
    func readBody(atMost count: Int) -> ArraySlice<UInt8> {
        if self.start == self.buffer.count {
            guard self.fill() else { return [] }
        }
        let end = min(self.buffer.count, self.start + count)
        defer { self.start = end }
        return self.buffer[self.start..<end]
    }

    /// Waits until the client closes, and reads nothing that a body consists of meanwhile.
    func waitForClose() {
        // POLLRDHUP, which the headers keep for GNU sources.
        var request = pollfd(fd: self.descriptor, events: 0x2000, revents: 0)
        while unsafe poll(&request, 1, -1) < 0 && errno == EINTR {}
    }

    /// Sends all bytes, and says whether the client took them.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = unsafe Glibc.send(
                    self.descriptor,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    private func fill() -> Bool {
        let count = unsafe self.chunk.withUnsafeMutableBytes { chunk in
            while true {
                let count = unsafe recv(self.descriptor, chunk.baseAddress, chunk.count, 0)
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count > 0 else { return false }
        if self.start == self.buffer.count {
            self.buffer.removeAll(keepingCapacity: true)
            self.start = 0
        }
        self.buffer.append(contentsOf: self.chunk[..<count])
        return true
    }

    private func endOfHead(from index: Int) -> Int? {
        unsafe self.buffer.withUnsafeBytes { buffer in
            var end = index
            while end + 4 <= buffer.count {
                if unsafe buffer[end] == 13 && buffer[end + 1] == 10 && buffer[end + 2] == 13 && buffer[end + 3] == 10 {
                    return end
                }
                end += 1
            }
            return nil
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// One blocking exchange over TCP that another thread can end.
final class SocketClient: Sendable {
    struct Loss: Error, CustomStringConvertible {
        let description: String

        init(_ action: String) {
            self.description = "\(action): \(unsafe String(cString: strerror(errno)))"
        }
    }

    private let descriptor: Int32

    /// Opens a socket; nil when the process may open no more.
    init?(_ family: AddressFamily) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        self.descriptor = socket(family == .ipv4 ? AF_INET : AF_INET6, type, 0)
        if self.descriptor < 0 { return nil }
        // Also limits how long connecting may take.
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            _ = unsafe setsockopt(self.descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit {
        close(self.descriptor)
    }

    /// Ends the exchange that is under way; it counts as lost.
    func abort() {
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    /// Sends a text and reads until the other end closes the connection.
    func exchange(_ request: String, with address: InternetAddress, port: UInt16) -> Result<String, Loss> {
        guard self.connect(to: address, port: port) == 0 else { return .failure(Loss("connect")) }
        let bytes = Array(request.utf8)
        guard unsafe send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            return .failure(Loss("send"))
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(self.descriptor, &buffer, buffer.count, 0)
            if count < 0 { return .failure(Loss("receive")) }
            if count == 0 { break }
            answer += buffer[..<count]
        }
        guard !answer.isEmpty else {
            errno = ECONNRESET
            return .failure(Loss("receive"))
        }
        return .success(String(decoding: answer, as: UTF8.self))
    }

    private func connect(to address: InternetAddress, port: UInt16) -> Int32 {
        switch address.family {
        case .ipv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.bits).bigEndian
            return self.connect(name)
        case .ipv6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &name.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
            return self.connect(name)
        }
    }

    private func connect(_ name: some Any) -> Int32 {
        unsafe withUnsafeBytes(of: name) { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe Glibc.connect(
                self.descriptor,
                base.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
    }
}

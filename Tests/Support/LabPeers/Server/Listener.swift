// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A socket that accepts connections.
struct Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// Listens on a numeric address of either family; nil when that does not work, see errno.
    init?(address: String, port: UInt16) {
        guard let address = SocketAddress(address, port: port) else { return nil }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, 0)
        var one: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe address.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1024) == 0
        else { return nil }
        // The port is at the same place in both families.
        var bound = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutableBytes(of: &bound) { bound in
            unsafe getsockname(descriptor, bound.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard result == 0 else { return nil }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: bound.sin6_port)
    }

    /// Waits for the next connection; nil when it was gone at once.
    func accept() -> Int32? {
        let descriptor = Glibc.accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}

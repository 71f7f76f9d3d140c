// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathTestKit

/// A port of loopback that is taken, and where nobody listens: connections to it are refused.
final class ClosedPort: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        (self.descriptor, self.port) = try bindLoopback()
    }

    deinit {
        close(self.descriptor)
    }
}

/// A port of loopback whose queue is full, so that the kernel drops every further SYN: connections to it hang.
final class FullPort: Sendable {
    let port: Int
    private let descriptors: [Int32]

    init() throws {
        let (listener, port) = try bindLoopback()
        listen(listener, 0)
        // A queue for 0 connections holds one.
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = unsafe withUnsafeBytes(of: &address) { bytes -> Int32 in
            unsafe connect(client, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard result == 0 else { throw LabError.invalidRequest("loopback cannot be connected to") }
        self.descriptors = [listener, client]
        self.port = port
    }

    deinit {
        for descriptor in self.descriptors { close(descriptor) }
    }
}

private func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
}

private func bindLoopback() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
        let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
        let result = unsafe bind(descriptor, address, size)
        return unsafe result == 0 ? getsockname(descriptor, address, &size) : result
    }
    guard result == 0 else { throw LabError.invalidRequest("no port on loopback") }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

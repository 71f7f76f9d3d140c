// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathTestKit

/// A port of loopback that is taken, and where nobody listens: connections to it are refused.
final class ClosedPort: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            let result = unsafe bind(descriptor, address, size)
            return unsafe result == 0 ? getsockname(descriptor, address, &size) : result
        }
        guard result == 0 else { throw LabError.invalidRequest("no port on loopback") }
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(self.descriptor)
    }
}

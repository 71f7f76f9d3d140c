// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A numeric address of either family with a port.
struct SocketAddress: Sendable {
    let family: Int32
    private let storage: sockaddr_storage
    private let length: socklen_t

    /// Reads an address, with `%interface` where it is of a link; nil when it is none.
    init?(_ text: String, port: UInt16) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(text, "\(port)", &hints, &list) == 0, let entry = unsafe list?.pointee else {
            return nil
        }
        defer { unsafe freeaddrinfo(list) }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { storage in
            unsafe storage.copyMemory(
                from: UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
            )
        }
        self.storage = storage
        self.family = unsafe entry.ai_family
        self.length = unsafe entry.ai_addrlen
    }

    /// The address as it is in a packet.
    var bytes: [UInt8] {
        unsafe withUnsafeBytes(of: self.storage) { storage in
            // Where sockaddr_in and sockaddr_in6 have it.
            unsafe Array(self.family == AF_INET ? storage[4..<8] : storage[8..<24])
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: self.storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, self.length) }
        }
    }
}

/// A UDP socket with what programs set to steer their packets.
struct DatagramSocket {
    struct Options {
        /// SO_MARK.
        var mark: UInt32?
        /// SO_BINDTODEVICE.
        var device: String?
        /// The address to be bound to.
        var source: String?
    }

    let descriptor: Int32
    private let options: Options

    /// Opens a socket that does not block; nil while its device or its source is not there.
    init?(_ family: Int32, _ options: Options) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        self.descriptor = socket(family, type, 0)
        self.options = options
        guard self.descriptor >= 0 else { fail("socket: errno \(errno)") }
        if var mark = options.mark {
            let status = unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_MARK, &mark, socklen_t(4))
            guard status == 0 else { fail("SO_MARK: errno \(errno)") }
        }
        guard self.bindToDevice(), self.bindToSource() else {
            close(self.descriptor)
            return nil
        }
    }

    /// Binds the socket to its device, if it has one: again after the device was made anew under its name.
    func bindToDevice() -> Bool {
        guard let device = self.options.device else { return true }
        return unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_BINDTODEVICE, device, socklen_t(device.utf8.count))
            == 0
    }

    private func bindToSource() -> Bool {
        guard let source = self.options.source else { return true }
        return unsafe numericAddress(source, port: 0).withPointer { unsafe bind(self.descriptor, $0, $1) } == 0
    }

    func connect(to address: SocketAddress) -> Bool {
        unsafe address.withPointer { unsafe Glibc.connect(self.descriptor, $0, $1) } == 0
    }

    /// Sends without a word when that does not work, as the network itself loses packets.
    func send(_ bytes: ArraySlice<UInt8>, to address: SocketAddress? = nil) {
        unsafe bytes.withUnsafeBytes { bytes in
            if let address {
                _ = unsafe address.withPointer {
                    unsafe sendto(self.descriptor, bytes.baseAddress, bytes.count, 0, $0, $1)
                }
            } else {
                _ = unsafe Glibc.send(self.descriptor, bytes.baseAddress, bytes.count, 0)
            }
        }
    }
}

/// Reads a packet or a datagram; nil when there is none.
func receive(from descriptor: Int32, into buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return count > 0 ? buffer[..<count] : nil
}

/// Writes a line at once.
func say(_ line: String) {
    _ = unsafe Array("\(line)\n".utf8).withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

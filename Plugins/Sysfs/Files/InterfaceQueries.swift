// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// What the kernel says of this process's network namespace, whatever is mounted on `/sys`.
protocol InterfaceQuerying {
    /// The index of the interface of a name; nil when there is none.
    func index(of name: String) -> UInt32?
    /// The lower 16 bits of the flags (IFF_*).
    func flags(of name: String) -> UInt32?
    /// The link-layer type (ARPHRD_*) and the first 14 bytes of the address, zeros included.
    func hardware(of name: String) -> (type: UInt16, address: [UInt8])?
    /// The name of the driver, which is the kind of most virtual interfaces.
    func driver(of name: String) -> String?
    /// Whether the driver sees a link; nil when it does not say.
    func hasLink(_ name: String) -> Bool?
    /// All IPv4 addresses, each with its label, which begins with the name of the interface.
    func ipv4Addresses() -> [(label: String, address: UInt32)]?
    /// The mask of an IPv4 address.
    func ipv4Mask(label: String, address: UInt32) -> UInt32?
    /// What becomes of packets that a route of the main table refuses.
    func refusal(of destination: InternetAddress) -> RouteLookupResult
}

/// Asks through the requests of `netdevice(7)`, which know nothing of netlink.
@safe final class InterfaceQueries: InterfaceQuerying {
    private let socket: FileDescriptor
    /// One `struct ifreq`: the name in the first 16 bytes, then what is asked for.
    private let request: UnsafeMutableRawBufferPointer
    private var list: [UInt8] = []

    private static let nameLength = 16
    /// SIOCETHTOOL, which the C library does not declare.
    private static let ethtool = 0x8946

    /// Opens the socket that the requests go to.
    ///
    /// - Throws: ``SysfsError`` when the system grants none.
    init() throws(SysfsError) {
        guard let socket = FileDescriptor(socketOf: .ipv4) ?? FileDescriptor(socketOf: .ipv6)
        else { throw SysfsError("the system grants no socket to ask for the interfaces", number: errno) }
        self.socket = socket
        unsafe self.request = .allocate(byteCount: MemoryLayout<ifreq>.size, alignment: 16)
    }

    deinit {
        unsafe self.request.deallocate()
    }

    private func ask(_ command: Int, _ name: String, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }) -> Bool
    {
        let bytes = name.utf8
        guard bytes.count < Self.nameLength, !bytes.isEmpty, let base = unsafe self.request.baseAddress else {
            return false
        }
        unsafe self.request.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe self.request.copyBytes(from: bytes)
        unsafe fill(UnsafeMutableRawBufferPointer(rebasing: self.request[Self.nameLength...]))
        return unsafe ioctl(self.socket.number, UInt(command), base) == 0
    }

    private func answer<Value: BitwiseCopyable>(at offset: Int = 0, as type: Value.Type) -> Value {
        unsafe self.request.loadUnaligned(fromByteOffset: Self.nameLength + offset, as: type)
    }

    func index(of name: String) -> UInt32? {
        unsafe self.ask(Int(SIOCGIFINDEX), name) ? self.answer(as: UInt32.self) : nil
    }

    func flags(of name: String) -> UInt32? {
        unsafe self.ask(Int(SIOCGIFFLAGS), name) ? UInt32(self.answer(as: UInt16.self)) : nil
    }

    func hardware(of name: String) -> (type: UInt16, address: [UInt8])? {
        guard unsafe self.ask(Int(SIOCGIFHWADDR), name) else { return nil }
        return (self.answer(as: UInt16.self), (0..<14).map { self.answer(at: 2 + $0, as: UInt8.self) })
    }

    func ipv4Mask(label: String, address: UInt32) -> UInt32? {
        // Several addresses can share a label; the kernel looks for the one in the request.
        let asked = unsafe self.ask(Int(SIOCGIFNETMASK), label) { argument in
            unsafe argument.storeBytes(of: UInt16(AF_INET), as: UInt16.self)
            unsafe argument.storeBytes(of: address.bigEndian, toByteOffset: 4, as: UInt32.self)
        }
        return asked ? UInt32(bigEndian: self.answer(at: 4, as: UInt32.self)) : nil
    }

    // MARK: ethtool

    /// ETHTOOL_GDRVINFO and ETHTOOL_GLINK, the sizes of their structures, and where the driver's name is.
    private static let driverInformation = (command: UInt32(0x03), size: 196, driver: 4, driverLength: 32)
    private static let link = (command: UInt32(0x0A), size: 8)

    private func ethtool<Result>(
        _ name: String,
        command: UInt32,
        size: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { argument in
            unsafe argument.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe argument.storeBytes(of: command, as: UInt32.self)
            let asked = unsafe self.ask(Self.ethtool, name) { pointer in
                unsafe pointer.storeBytes(of: UInt(bitPattern: argument.baseAddress), as: UInt.self)
            }
            return unsafe asked ? body(UnsafeRawBufferPointer(argument)) : nil
        }
    }

    func driver(of name: String) -> String? {
        let layout = Self.driverInformation
        let name = unsafe self.ethtool(name, command: layout.command, size: layout.size) { answer in
            let bytes = unsafe answer[layout.driver..<(layout.driver + layout.driverLength)].prefix { $0 != 0 }
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    func hasLink(_ name: String) -> Bool? {
        unsafe self.ethtool(name, command: Self.link.command, size: Self.link.size) { answer in
            unsafe answer.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
        }
    }

    // MARK: Addresses

    func ipv4Addresses() -> [(label: String, address: UInt32)]? {
        let size = unsafe MemoryLayout<ifreq>.size
        while true {
            if self.list.isEmpty { self.list = [UInt8](repeating: 0, count: 64 * size) }
            var written = 0
            let asked = unsafe self.list.withUnsafeMutableBytes { bytes in
                var request = unsafe ifconf()
                unsafe request.ifc_len = Int32(clamping: bytes.count)
                unsafe request.ifc_ifcu.ifcu_buf = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                defer { written = unsafe Int(request.ifc_len) }
                return unsafe ioctl(self.socket.number, UInt(SIOCGIFCONF), &request) == 0
            }
            guard asked else { return nil }
            // A list that fills the room may go on behind it; a million addresses are enough.
            if written + size > self.list.count, self.list.count < 1 << 26 {
                self.list = [UInt8](repeating: 0, count: self.list.count * 4)
                continue
            }
            return stride(from: 0, to: written - size + 1, by: size).map { start in
                let label = String(
                    decoding: self.list[start..<start + Self.nameLength].prefix { $0 != 0 },
                    as: UTF8.self
                )
                // struct sockaddr_in: family, port, address.
                let address = self.list[start + Self.nameLength + 4..<start + Self.nameLength + 8]
                return (label, address.reduce(0) { $0 << 8 | UInt32($1) })
            }
        }
    }
}

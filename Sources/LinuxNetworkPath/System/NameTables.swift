// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// What the C library knows of addresses, services and interfaces; nothing is asked of the network.
enum NameTables {
    /// Reads an address as `getaddrinfo(3)` with AI_NUMERICHOST does.
    ///
    /// - Returns: The bytes in network order, and the index of the interface if the text names one.
    static func address(_ text: String, family: AddressFamily?) -> (bytes: [UInt8], scope: UInt32?)? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST
        unsafe hints.ai_family = family.map { $0 == .ipv4 ? AF_INET : AF_INET6 } ?? AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        return unsafe self.first(host: text, service: nil, hints: &hints) { address in
            if unsafe address.pointee.sa_family == AF_INET {
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    (unsafe self.bytes(of: address.pointee.sin_addr), nil)
                }
            }
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                let scope = unsafe address.pointee.sin6_scope_id
                return (unsafe self.bytes(of: address.pointee.sin6_addr), scope == 0 ? nil : scope)
            }
        }
    }

    /// Finds the port of a service in `/etc/services`.
    static func port(of service: String) -> UInt16? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_INET
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        return unsafe self.first(host: nil, service: service, hints: &hints) { address in
            unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                UInt16(bigEndian: unsafe address.pointee.sin_port)
            }
        }
    }

    /// Finds an interface by name; nil when there is none.
    static func interface(named name: String) -> NWInterface? {
        let index = unsafe if_nametoindex(name)
        return index == 0 ? nil : NWInterface(index: index, name: name, isLoopback: name == "lo")
    }

    /// Finds an interface by index; nil when there is none.
    static func interface(at index: UInt32) -> NWInterface? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard unsafe if_indextoname(index, &name) != nil else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return self.interface(named: String(decoding: bytes, as: UTF8.self))
    }

    private static func first<Result>(
        host: String?,
        service: String?,
        hints: inout addrinfo,
        _ body: (UnsafeMutablePointer<sockaddr>) -> Result?
    ) -> Result? {
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, service, &hints, &list) == 0, let found = unsafe list else { return nil }
        defer { unsafe freeaddrinfo(found) }
        return unsafe found.pointee.ai_addr.flatMap { unsafe body($0) }
    }

    private static func bytes<Value>(of value: Value) -> [UInt8] {
        unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// The interface that leads back to this machine.
struct Loopback: Sendable {
    /// The interface, which is up.
    let interface: NetworkInterface
    /// The families it has addresses of.
    let families: Set<AddressFamily>

    /// Reads what the kernel says now; nil when there is no such interface, or it is down.
    ///
    /// Nothing tells of its changes, which only a person makes.
    static func current() -> Loopback? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var interface: NetworkInterface?
        var families: Set<AddressFamily> = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.ifa_next
            let flags = unsafe InterfaceFlags(kernelFlags: entry.pointee.ifa_flags)
            guard flags.contains(.loopback), flags.contains(.up) else { continue }
            let index = unsafe if_nametoindex(entry.pointee.ifa_name)
            guard index != 0, interface == nil || interface?.index == index else { continue }
            interface = unsafe NetworkInterface(
                index: index,
                name: String(cString: entry.pointee.ifa_name),
                type: .loopback,
                flags: flags
            )
            switch unsafe entry.pointee.ifa_addr.map({ unsafe Int32($0.pointee.sa_family) }) {
            case AF_INET: families.insert(.ipv4)
            case AF_INET6: families.insert(.ipv6)
            default: break
            }
        }
        return interface.map { Loopback(interface: $0, families: families) }
    }
}

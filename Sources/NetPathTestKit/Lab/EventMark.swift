// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A point in the sequence of kernel events that can be recognised in a monitor's output.
///
/// A monitor that lists the mark's address has read every event before it, because the kernel delivers events in order.
/// So a test can wait for "everything until here has been seen" without waiting for a time.
package struct EventMark: Sendable, Hashable {
    /// The mark's address in CIDR notation, from 198.18.0.0/15, the block reserved for benchmarks.
    package let address: String
}

extension NetworkNamespace {
    /// Sets a mark: adds a fresh address of host scope to an interface.
    ///
    /// An address of host scope is never chosen as a source of packets to other machines, so a mark alone leaves the
    /// verdict as it is. The address stays, since removing it would be another event.
    package func mark(on interface: LabInterface) throws -> EventMark {
        let number = nextNumber()
        guard number < 1 << 17 else {
            throw LabError.invalidRequest("this namespace has used all of its \(1 << 17) marks; make a new one")
        }
        let address = "198.\(18 + number >> 16).\(number >> 8 & 255).\(number & 255)/32"
        try ip("address add \(address) dev \(interface.name) scope host")
        return EventMark(address: address)
    }
}

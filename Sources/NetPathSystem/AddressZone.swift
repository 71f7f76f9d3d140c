// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The zones of addresses that are valid on one link only (RFC 4007).
package enum AddressZone {
    /// Returns the kernel's index of the interface that a zone names, by its name or its index; nil when there is none.
    package static func interface(_ zone: String) -> UInt32? {
        if let index = self.index(ofInterface: zone) { return index }
        guard let number = UInt32(zone), self.name(ofInterface: number) != nil else { return nil }
        return number
    }

    /// Returns the kernel's index of an interface by its name; nil when there is none.
    package static func index(ofInterface name: String) -> UInt32? {
        let index = unsafe if_nametoindex(name)
        return index == 0 ? nil : index
    }

    /// Returns the name of an interface by the kernel's index; nil when there is none.
    package static func name(ofInterface index: UInt32) -> String? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard unsafe if_indextoname(index, &name) != nil else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

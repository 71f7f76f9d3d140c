// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The zones of addresses that are valid on one link only (RFC 4007).
package enum AddressZone {
    /// Returns the kernel's index of the interface that a zone names, by its name or its index; nil when there is none.
    package static func interface(_ zone: String) -> UInt32? {
        let index = unsafe if_nametoindex(zone)
        if index != 0 { return index }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard let number = UInt32(zone), unsafe if_indextoname(number, &name) != nil else { return nil }
        return number
    }
}

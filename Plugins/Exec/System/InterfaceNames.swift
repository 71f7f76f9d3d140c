// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The names of this machine's interfaces.
enum InterfaceNames {
    /// The kernel's index; nil when there is no such interface.
    static func index(of name: String) -> UInt32? {
        let index = unsafe if_nametoindex(name)
        return index == 0 ? nil : index
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A file descriptor that is closed with its last reference.
package final class FileDescriptor: Sendable {
    /// The number, for system calls; valid as long as this object is.
    package let number: Int32

    /// Takes over a descriptor that a system call returned; nil when the call failed.
    package init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        _ = close(self.number)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// Why this backend cannot go on.
package struct SysfsError: Error, CustomStringConvertible {
    package let description: String

    /// Creates an error with the system's own words where there is a number (`errno(3)`).
    init(_ what: String, number: Int32 = 0) {
        self.description = number == 0 ? what : "\(what): \(SystemReason.text(number))"
    }
}

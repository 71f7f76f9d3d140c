// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

/// A number of bytes on the command line: plain, or of KiB, MiB or GiB with `K`, `M` or `G`.
package struct ByteCount: ExpressibleByArgument, Hashable, Sendable {
    package var bytes: Int

    package init?(argument: String) {
        let shift = ["K": 10, "M": 20, "G": 30][argument.suffix(1).uppercased()] ?? 0
        guard let count = Int(shift > 0 ? argument.dropLast() : argument[...]), count >= 0 else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
        if overflow { return nil }
        self.bytes = bytes
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc

/// A failure of the netlink socket, as a sentence for people.
struct NetlinkError: Error, CustomStringConvertible {
    let description: String

    /// Describes a failure by the system's error number.
    init(_ action: String, _ error: Int32) {
        self.description = "cannot \(action): \(unsafe String(cString: strerror(error)))"
    }

    /// Describes the failure of the system call that just failed on this thread (`errno(3)`).
    init(failedTo action: String) {
        self.init(action, errno)
    }

    /// Describes a failure by libnl's error number.
    init(_ action: String, libnl error: Int32) {
        let reason = unsafe String(cString: nl_geterror(error))
        self.description = "cannot \(action): \(reason); does a sandbox forbid AF_NETLINK?"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A failure of the netlink socket, as a sentence for people.
struct NetlinkError: Error, CustomStringConvertible {
    let description: String

    /// Describes a failure by the system's error number.
    init(_ action: String, _ error: Int32) {
        self.description = "cannot \(action): \(SystemReason.text(error))"
    }

    /// Describes the failure of the system call that just failed on this thread (`errno(3)`).
    init(failedTo action: String) {
        self.init(action, errno)
    }

    /// Describes that a netlink socket was refused.
    init(refusingSocket error: Int32) {
        let isForbidden = [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS].contains(error)
        self.description =
            "cannot open a netlink socket: \(SystemReason.text(error))"
            + (isForbidden ? "; does a sandbox forbid AF_NETLINK?" : "")
    }
}

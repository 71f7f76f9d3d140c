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

    /// Describes that a netlink socket was refused.
    init(refusingSocket error: Int32) {
        let isForbidden = [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS].contains(error)
        self.description =
            "cannot open a netlink socket: \(SystemReason.text(error))"
            + (isForbidden ? "; does a sandbox forbid AF_NETLINK?" : "")
    }
}

/// An error number of the system (`errno(3)`), as the kernel puts it into answers; ``LookupFailure`` tells what it means
/// there.
struct KernelError: Error, Hashable {
    let number: Int32

    static let networkUnreachable = KernelError(number: ENETUNREACH)
    static let hostUnreachable = KernelError(number: EHOSTUNREACH)
    static let invalid = KernelError(number: EINVAL)
    static let accessDenied = KernelError(number: EACCES)
    static let noSuchFamily = KernelError(number: EAFNOSUPPORT)
    static let noSuchObject = KernelError(number: ESRCH)
    static let noSuchDevice = KernelError(number: ENODEV)
    static let noAddress = KernelError(number: EADDRNOTAVAIL)
    static let notSupported = KernelError(number: EOPNOTSUPP)
    static let notPermitted = KernelError(number: EPERM)
    /// Nothing came back in time.
    static let timedOut = KernelError(number: ETIMEDOUT)
    /// The socket does not work.
    static let broken = KernelError(number: EIO)
    /// The answer is not one to the question.
    static let badAnswer = KernelError(number: EBADMSG)
}

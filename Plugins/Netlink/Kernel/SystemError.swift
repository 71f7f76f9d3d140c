// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// An error number of the system (`errno(3)`), as the kernel puts it into answers; ``LookupFailure`` tells what it means
/// there.
struct SystemError: Error, Hashable {
    let number: Int32

    static let networkUnreachable = SystemError(number: ENETUNREACH)
    static let hostUnreachable = SystemError(number: EHOSTUNREACH)
    static let invalid = SystemError(number: EINVAL)
    static let accessDenied = SystemError(number: EACCES)
    static let noSuchFamily = SystemError(number: EAFNOSUPPORT)
    static let noSuchObject = SystemError(number: ESRCH)
    static let noSuchDevice = SystemError(number: ENODEV)
    static let noAddress = SystemError(number: EADDRNOTAVAIL)
    static let notSupported = SystemError(number: EOPNOTSUPP)
    static let notPermitted = SystemError(number: EPERM)
    /// Nothing came back in time.
    static let timedOut = SystemError(number: ETIMEDOUT)
    /// The socket does not work.
    static let broken = SystemError(number: EIO)
    /// The answer is not one to the question.
    static let badAnswer = SystemError(number: EBADMSG)
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// An error number of the system (`errno(3)`), as the kernel puts it into answers.
struct SystemError: Error, Hashable {
    let number: Int32

    /// No route, or a route of type throw.
    static let networkUnreachable = SystemError(number: ENETUNREACH)
    /// A route of type unreachable.
    static let hostUnreachable = SystemError(number: EHOSTUNREACH)
    /// A route of type blackhole, or a request the kernel does not understand.
    static let invalid = SystemError(number: EINVAL)
    /// A route of type prohibit.
    static let accessDenied = SystemError(number: EACCES)
    /// The kernel has no such family; IPv6 may be compiled out or switched off.
    static let noSuchFamily = SystemError(number: EAFNOSUPPORT)
    /// The kernel has no such object.
    static let noSuchObject = SystemError(number: ESRCH)
    /// There is no interface of that index.
    static let noSuchDevice = SystemError(number: ENODEV)
    /// The kernel does not support the request.
    static let notSupported = SystemError(number: EOPNOTSUPP)
    /// A sandbox forbids the request.
    static let notPermitted = SystemError(number: EPERM)
    /// Nothing came back in time.
    static let timedOut = SystemError(number: ETIMEDOUT)
    /// The socket does not work.
    static let broken = SystemError(number: EIO)
    /// The answer is not one to the question.
    static let badAnswer = SystemError(number: EBADMSG)
}

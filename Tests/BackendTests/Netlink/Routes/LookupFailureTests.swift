// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import Testing

@testable import NetPathNetlink

/// What every error number of a lookup means.
@Suite struct LookupFailureTests {
    @Test(arguments: [
        (ENETUNREACH, RouteLookupResult.noRoute), (ESRCH, .noRoute), (ENODEV, .noRoute), (EADDRNOTAVAIL, .noRoute),
        (EHOSTUNREACH, .rejected(.unreachable)), (EACCES, .rejected(.prohibit)), (EINVAL, .rejected(.blackhole)),
        (EAFNOSUPPORT, .noRoute), (EOPNOTSUPP, .noRoute),
        (EPERM, .unknown), (EAGAIN, .unknown), (ENOBUFS, .unknown), (ENOMEM, .unknown), (EMSGSIZE, .unknown),
        (ETIMEDOUT, .unknown), (EIO, .unknown), (EBADMSG, .unknown), (EBUSY, .unknown), (ERANGE, .unknown),
    ])
    func everyNumberHasAMeaning(number: Int32, answer: RouteLookupResult) {
        #expect(LookupFailure(KernelError(number: number)).answer == answer)
    }
}

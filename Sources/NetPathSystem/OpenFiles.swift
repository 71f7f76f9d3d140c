// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// How many descriptors the process may have (getrlimit(2), RLIMIT_NOFILE).
package enum OpenFiles: Sendable {
    /// The limit; 1,024, which most processes get, where the kernel does not tell.
    package static var limit: Int { self.limits().map { Int(clamping: $0.rlim_cur) } ?? 1_024 }

    /// Raises the limit to what the process may have without further rights.
    ///
    /// - Returns: The limit.
    @discardableResult
    package static func raiseLimit() -> Int {
        guard var limit = self.limits() else { return 1_024 }
        let soft = Int(clamping: limit.rlim_cur)
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? Int(limit.rlim_cur) : soft
    }

    private static func limits() -> rlimit? {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// How many descriptors the process may have.
package enum OpenFiles: Sendable {
    /// Raises the limit to what the process may have without asking anybody; 1,024 is what most get.
    ///
    /// - Returns: The limit.
    @discardableResult
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        let soft = Int(clamping: limit.rlim_cur)
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? Int(limit.rlim_cur) : soft
    }
}

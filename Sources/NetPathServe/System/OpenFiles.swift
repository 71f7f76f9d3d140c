// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// How many descriptors the process may have.
package enum OpenFiles: Sendable {
    /// Raises the limit to what the process may have without asking anybody; 1,024 is what most get.
    package static func raiseLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

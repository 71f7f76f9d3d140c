// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The thread that asks.
package enum CurrentThread {
    /// Whether it is the first one of the process, whose number is that of the process (gettid(2)).
    package static var isMain: Bool { Self.number?() == getpid() }

    /// gettid(2), which glibc declares with _GNU_SOURCE only, and Swift does not see.
    private static let number: (@convention(c) @Sendable () -> pid_t)? = {
        guard let symbol = unsafe dlsym(nil, "gettid") else { return nil }
        return unsafe unsafeBitCast(symbol, to: (@convention(c) @Sendable () -> pid_t).self)
    }()
}

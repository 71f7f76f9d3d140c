// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// The time of day, which certificates are judged by.
enum WallClock: Sendable {
    /// The seconds since 1970.
    static func now() -> Int64 { Int64(time(nil)) }
}

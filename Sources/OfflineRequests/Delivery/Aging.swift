// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// How old requests are, on machines whose clock jumps or was never set.
enum Aging {
    /// A wall clock that shows less than this was not set: 2024-01-01.
    static let plausible = Date(timeIntervalSince1970: 1_704_067_200)

    /// How long ago something was enqueued; never negative.
    ///
    /// Within one boot no clock that anybody can set takes part. Across boots the wall clock must do; where that was
    /// not set on either side, what is known is that this boot began later.
    static func age(of stamp: ClockStamp, at now: ClockStamp) -> Duration {
        let isSameBoot = stamp.bootID != nil && stamp.bootID == now.bootID
        if isSameBoot, now.bootNanoseconds >= stamp.bootNanoseconds {
            return .nanoseconds(now.bootNanoseconds - stamp.bootNanoseconds)
        }
        guard stamp.wall >= self.plausible, now.wall >= self.plausible else {
            return isSameBoot ? .zero : .nanoseconds(max(0, now.bootNanoseconds))
        }
        return .seconds(max(0, now.wall.timeIntervalSince(stamp.wall)))
    }

    /// Whether a request is of no use any more.
    ///
    /// `expiresAt` is taken as the lifetime it meant when the request was enqueued, so that a jump of the clock does
    /// not end it; only where the clock was not set then, and a real date was asked for, the date itself counts.
    static func isExpired(_ stamp: ClockStamp, expiresAt: Date?, maxAge: Duration, at now: ClockStamp) -> Bool {
        let age = self.age(of: stamp, at: now)
        if age >= maxAge { return true }
        guard let expiresAt else { return false }
        if stamp.wall < self.plausible, expiresAt >= self.plausible {
            return now.wall >= expiresAt
        }
        return age / .seconds(1) >= expiresAt.timeIntervalSince(stamp.wall)
    }
}

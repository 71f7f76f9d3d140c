// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc

extension StoreMoment {
    /// Does not change while this process lives.
    private static let currentBoot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }()

    /// What the clocks of the system show now.
    static func now() -> StoreMoment {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        let sinceBoot = Duration.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        return StoreMoment(wall: Date(), sinceBoot: sinceBoot, boot: Self.currentBoot)
    }
}

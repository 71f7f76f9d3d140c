// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// When the next path of a replay is shown.
final class ReplayPace {
    private let speed: Double?
    private let waitsForKey: Bool
    private let loop: EventLoop
    private var first: (recorded: MonotonicTime, shown: MonotonicTime)?
    private var isFirst = true

    init(speed: Double?, waitsForKey: Bool) throws(SystemError) {
        self.speed = speed
        self.waitsForKey = waitsForKey
        self.loop = try EventLoop()
        if speed != nil { self.loop.wakeUp.stopOnSignals() }
    }

    /// Waits until what happened is to be shown.
    ///
    /// - Returns: Whether to go on.
    func wait(until event: RecordedEvent) throws -> Bool {
        if self.waitsForKey {
            defer { self.isFirst = false }
            return self.isFirst || readLine() != nil
        }
        guard let speed else { return true }
        let now = self.loop.now()
        // A machine that booted meanwhile begins to count anew.
        guard let first, event.time >= first.recorded else {
            self.first = (event.time, now)
            return true
        }
        let due = first.shown + (event.time - first.recorded) / speed
        return !self.loop.wait(until: due)
    }
}

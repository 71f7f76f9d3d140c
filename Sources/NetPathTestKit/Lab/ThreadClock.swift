// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The machine's own monotonic clock, whose sleepers cost nothing once they are cancelled.
///
/// Swift keeps the timer of a cancelled sleep until its deadline, which looks like a leak where a backend is started and
/// ended a thousand times.
final class ThreadClock: MonotonicClock {
    /// The clock of all checks; its thread lives as long as the process.
    static let shared = ThreadClock()

    private let time = SystemMonotonicClock()
    private let sleepers = Sleepers()
    /// Nil where the system grants neither a descriptor nor a thread: then Swift's own timers have to do.
    private let wakeUp: WakeUp?

    private init() {
        let wakeUp = try? WakeUp()
        let (sleepers, time) = (self.sleepers, self.time)
        let isRunning = BackgroundThread.start {
            guard let wakeUp else { return }
            while true {
                let timeout = sleepers.nextDeadline.map { $0 - time.now() }
                _ = FileDescriptor.poll(readable: [wakeUp.fileDescriptor], timeout: timeout)
                wakeUp.drain()
                sleepers.wakeDue(at: time.now())
            }
        }
        self.wakeUp = isRunning ? wakeUp : nil
    }

    func now() -> MonotonicTime { self.time.now() }

    func sleep(until deadline: MonotonicTime) async throws {
        guard let wakeUp else { return try await self.time.sleep(until: deadline) }
        try await self.sleepers.sleep(until: deadline) { wakeUp.wake() }
    }

    /// Suspends for a time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(for duration: Duration) async throws {
        try await self.sleep(until: self.now() + duration)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct SystemTests {
    @Test func wakeUpsAddUp() throws {
        let wakeUp = try LoopWakeUp()
        #expect(wakeUp.take() == [])
        wakeUp.wake(.output)
        wakeUp.wake(.output)
        #expect(wakeUp.take() == .output)
        wakeUp.wake(.stop)
        wakeUp.wake(.output)
        #expect(wakeUp.take() == [.output, .stop])
        #expect(wakeUp.take() == [])
    }

    @Test func clocks() {
        let reading = ClockReading.now()
        #expect(reading.wall.nanoseconds > 1_700_000_000 * 1_000_000_000)
        #expect(reading.wall.rfc3339.hasSuffix("Z"))
        let difference = CivilTime(reading.wall, offsetSeconds: 0).second - reading.wall.local.second
        #expect(difference == 0)
    }

    @Test func environment() {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) }
        #expect(path != nil)
        #expect(processEnvironment()["PATH"] == path)
    }

    @Test func blockingThread() async throws {
        #expect(try await onBlockingThread { 42 } == 42)
    }

    @Test func errors() {
        let full = SystemError(action: "cannot write", errno: ENOSPC)
        #expect(full.description == "cannot write: No space left on device (errno 28)")
        #expect(!full.isReaderGone)
        #expect(SystemError(action: "", errno: EPIPE).isReaderGone)
    }
}

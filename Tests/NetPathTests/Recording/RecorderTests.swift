// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath
@testable import NetPathRecording

/// A recorder that cannot write, and how it goes on.
@Suite struct RecorderTests {
    private static let wall: Int64 = 1_790_000_000_000_000_000
    private let folder = ScratchFolder()
    private let clock = ManualClock()

    /// What a recorder wants to be called for, and what it says.
    private final class Desk: Sendable {
        let messages = Mutex<[String]>([])
        let work = Mutex<[(after: Duration, run: @Sendable () -> Void)]>([])

        /// Does what is due after a time, but not what that asks for.
        func turn(after: Duration) {
            let due = self.work.withLock { work in
                defer { work.removeAll { $0.after == after } }
                return work.filter { $0.after == after }
            }
            for item in due { item.run() }
        }
    }

    private func recorder(_ coordinator: PathCoordinator, _ desk: Desk, required: Bool = false) throws -> Recorder {
        try Recorder(
            coordinator,
            to: RecordingStore(folder: "\(self.folder.path)/kept"),
            header: RecordingHeader(netpath: "0", boot: "b"),
            isRequired: required,
            now: { [clock] in (clock.now(), clock.now().nanoseconds + Self.wall, 0) },
            log: { _, message in desk.messages.withLock { $0.append(message) } },
            schedule: { delay, work in desk.work.withLock { $0.append((delay, work)) } }
        )
    }

    private var gaps: [(begin: Int64, reason: String)] {
        get throws {
            var gaps: [(Int64, String)] = []
            try Recording("\(self.folder.path)/kept").read { event in
                if case .gap(let reason) = event.kind { gaps.append((event.wallNanoseconds - Self.wall, reason)) }
                return true
            }
            return gaps
        }
    }

    /// The folder belongs to another one for a while, and nothing happens to the network when it is free.
    @Test func itTriesAgainByItself() throws {
        var other = RecordingStore(folder: "\(self.folder.path)/kept")
        try other.append([])
        let coordinator = PathCoordinator(backends: [], clock: self.clock)
        #expect(throws: SystemError.self) { try self.recorder(coordinator, Desk(), required: true) }
        let desk = Desk()
        let recorder = try self.recorder(coordinator, desk)
        #expect(desk.messages.withLock { $0.map { $0.contains("already; nothing is recorded until") } } == [true])
        self.clock.advance(by: .seconds(10))
        coordinator.refresh()
        desk.turn(after: .milliseconds(100))
        desk.turn(after: .seconds(10))
        #expect(desk.messages.withLock { $0.count } == 1, "said once")
        other.close()
        self.clock.advance(by: .seconds(10))
        desk.turn(after: .seconds(10))
        #expect(desk.messages.withLock { $0.last } == "the recording goes on")
        desk.turn(after: .seconds(10))
        #expect(desk.work.withLock { $0.isEmpty }, "nothing is tried again that works")
        recorder.stop()
        // What the other one recorded is not unknown.
        #expect(try self.gaps.map { $0.begin } == [self.clock.now().nanoseconds])
    }

    /// The power is cut 24 minutes after the last change: all but the time since the last line of life is known.
    @Test func lifeIsTold() throws {
        let coordinator = PathCoordinator(backends: [], clock: self.clock)
        let recorder = try self.recorder(coordinator, Desk())
        for _ in 0..<16 {
            self.clock.advance(by: .seconds(90))
            recorder.flush(isLife: true)
        }
        self.clock.advance(by: .seconds(60))
        // As it lies on the disk then.
        var last: RecordedEvent?
        try Recording("\(self.folder.path)/kept").read(.paths) { event in
            last = event
            return true
        }
        #expect(last?.wallNanoseconds == self.clock.now().nanoseconds + Self.wall - 60_000_000_000)
        #expect(last?.sleptNanoseconds == 0)
        if case .clock? = last?.kind {} else { Issue.record("the last line is no line of life") }
        recorder.stop()
    }

    /// More happens than is kept: what was kept is written, and the gap begins after it.
    @Test func theGapBeginsAtTheLastGoodLine() throws {
        let begin = self.clock.now()
        let coordinator = PathCoordinator(backends: [], clock: self.clock)
        let desk = Desk()
        let recorder = try self.recorder(coordinator, desk)
        for _ in 0..<(2 * CoordinatorJournal.limit) {
            self.clock.advance(by: .milliseconds(1))
            coordinator.refresh()
        }
        desk.turn(after: .milliseconds(100))
        recorder.stop()
        let kept = Int64(CoordinatorJournal.limit) * 1_000_000
        #expect(try self.gaps.map { $0.begin - begin.nanoseconds } == [kept])
        var inputs = 0
        try Recording("\(self.folder.path)/kept").read { event in
            if case .input = event.kind { inputs += 1 }
            return true
        }
        #expect(inputs == CoordinatorJournal.limit)
    }

    /// A place that is none: the gap begins with the program, and not when there was room at last.
    @Test func theGapBeginsWithWhatIsMissing() throws {
        let begin = self.clock.now()
        let blocked = self.folder.file("kept", [])
        let coordinator = PathCoordinator(backends: [], clock: self.clock)
        let desk = Desk()
        let recorder = try self.recorder(coordinator, desk)
        for _ in 0..<40 {
            self.clock.advance(by: .milliseconds(100))
            coordinator.refresh()
            desk.turn(after: .milliseconds(100))
        }
        #expect(unsafe unlink(blocked) == 0)
        self.clock.advance(by: .milliseconds(100))
        coordinator.refresh()
        desk.turn(after: .milliseconds(100))
        self.clock.advance(by: .seconds(1))
        recorder.stop()
        #expect(try self.gaps.map { $0.begin } == [begin.nanoseconds])
        var history = PathHistory()
        let damaged = try Recording("\(self.folder.path)/kept").read(.paths) { event in
            history.take(event)
            return true
        }
        #expect(damaged == 0)
        #expect(history.periods.first?.length == .milliseconds(5_100), "no path was ever known")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Synchronization
import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct WatchOutputTests {
    /// A pipe whose reader is the test.
    private final class Channel: Sendable {
        let reader: Int32
        let writer: Int32
        private let rest = Mutex<[UInt8]>([])

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            self.reader = ends[0]
            self.writer = ends[1]
        }

        /// Reads a line; nil when none comes for so long that even a machine with too much to do has had its turn.
        ///
        /// Not on a thread of the pool: what is tested needs one as well.
        func line() async throws -> String? {
            try await onBlockingThread { self.rest.withLock { self.line(&$0) } }
        }

        private func line(_ rest: inout [UInt8]) -> String? {
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest.removeSubrange(...end) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                var entry = pollfd(fd: self.reader, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&entry, 1, 600_000) == 1 else { return nil }
                var chunk = [UInt8](repeating: 0, count: 4_096)
                let size = unsafe read(self.reader, &chunk, chunk.count)
                guard size > 0 else { return nil }
                rest += chunk.prefix(size)
            }
        }
    }

    /// A line much longer than what a pipe takes at once is part of the test.
    private static let renderer: WatchOutput<StatusSnapshot>.Renderer = { snapshot, previous, room in
        let numbers = [previous(), snapshot].map { $0?.path?.sequence ?? 0 }
        room = Array("\(numbers[0]) \(numbers[1]) \(String(repeating: "x", count: 10_000))\n".utf8)
        return room.count
    }

    private func output(_ channel: Channel, _ loop: EventLoop) throws -> WatchOutput<StatusSnapshot> {
        WatchOutput(try WatchDescriptor(channel.writer), loop: loop, renderInto: Self.renderer)
    }

    /// The reader does not read, and `show` returns all the same: if it blocked, the test would hang.
    @Test func aSlowReaderGetsTheNewest() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        async let end = onBlockingThread { output.run {} }
        for number in 1...1_000 { output.show(Fixtures.snapshot(Fixtures.routed, sequence: UInt64(number))) }

        var seen: [(previous: Int, number: Int)] = []
        while seen.last?.number != 1_000 {
            let words = try #require(await channel.line()).split(separator: " ").prefix(2).compactMap { Int($0) }
            try #require(words.count == 2 && (seen.last?.number ?? 0) == words[0])
            seen.append((words[0], words[1]))
        }
        #expect(seen.first?.number == 1)
        #expect(seen.count < 20)
        loop.wakeUp.wake(.stop)
        #expect(try await end == .stopped)
    }

    @Test func aReaderThatLeavesEndsAnIdleWatch() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        output.show(Fixtures.snapshot(Fixtures.routed))
        async let end = onBlockingThread { output.run {} }
        #expect(try await channel.line() != nil)
        close(channel.reader)
        #expect(try await end == .readerGone)
    }

    @Test func whatIsPendingIsStillWrittenAfterAStop() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = WatchOutput<StatusSnapshot>(
            try WatchDescriptor(channel.writer),
            loop: loop,
            flushLimit: .seconds(60),
            renderInto: Self.renderer
        )
        for number in 1...50 { output.show(Fixtures.snapshot(Fixtures.routed, sequence: UInt64(number))) }
        loop.wakeUp.wake(.stop)
        async let end = onBlockingThread { output.run {} }
        var last = ""
        while !last.contains(" 50 ") { last = try #require(await channel.line()) }
        #expect(last.hasSuffix("x"))
        #expect(try await end == .stopped)
    }

    @Test func aReaderThatNeverReadsDoesNotPreventTheEnd() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        for number in 1...50 { output.show(Fixtures.snapshot(Fixtures.routed, sequence: UInt64(number))) }
        loop.wakeUp.wake(.stop)
        #expect(try await onBlockingThread { output.run {} } == .stopped)
    }

    @Test func silenceIsReportedOnceUnlessSomethingWasShown() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        async let end = onBlockingThread { output.run { output.show(Fixtures.unknown, onlyFirst: true) } }
        #expect(try await channel.line()?.hasPrefix("0 0 x") == true)
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 9), onlyFirst: true)
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 10))
        #expect(try await channel.line()?.hasPrefix("0 10 x") == true)
        loop.wakeUp.wake(.stop)
        #expect(try await end == .stopped)
    }

    @Test func theCountEndsAfterALineThatIsWhole() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = WatchOutput<StatusSnapshot>(
            try WatchDescriptor(channel.writer),
            loop: loop,
            count: 2,
            renderInto: Self.renderer
        )
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 1))
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 2))
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 3))
        #expect(try await onBlockingThread { output.run {} } == .complete)
        #expect(try await channel.line()?.hasPrefix("0 1 x") == true)
        #expect(try await channel.line()?.hasPrefix("1 2 x") == true)
        // The output keeps a descriptor of its own, so that there is no end of file to wait for.
        #expect(unsafe write(channel.writer, "end\n", 4) == 4)
        #expect(try await channel.line() == "end")
    }

    @Test func theFirstIsOnlyComparedWith() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = WatchOutput<StatusSnapshot>(
            try WatchDescriptor(channel.writer),
            loop: loop,
            count: 1,
            skipsFirst: true,
            renderInto: Self.renderer
        )
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 7))
        async let end = onBlockingThread { output.run {} }
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 8))
        #expect(try await channel.line()?.hasPrefix("7 8 x") == true)
        #expect(try await end == .complete)
    }

    @Test func theTimeIsOver() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        loop.stop(at: loop.now() + .milliseconds(5))
        #expect(try await onBlockingThread { output.run {} } == .stopped)
    }

    @Test func afterAPauseTheNextSnapshotIsTheFirst() async throws {
        let (channel, loop) = (try Channel(), try EventLoop())
        let output = try self.output(channel, loop)
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 1))
        #expect(try await channel.line()?.hasPrefix("0 1 x") == true)
        output.pause()
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 2))
        output.resume()
        output.show(Fixtures.snapshot(Fixtures.routed, sequence: 3))
        #expect(try await channel.line()?.hasPrefix("0 3 x") == true)
    }

    @Test func theSharedDescriptionStaysBlocking() throws {
        let channel = try Channel()
        let descriptor = try WatchDescriptor(channel.writer)
        #expect(descriptor.rawValue != channel.writer)
        #expect(fcntl(channel.writer, F_GETFL) & O_NONBLOCK == 0)
        #expect(fcntl(descriptor.rawValue, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func withoutReaderOrWriterThereIsNothingToDo() async throws {
        let channel = try Channel()
        #expect(throws: SystemError.self) { try WatchDescriptor(channel.reader) }
        close(channel.reader)
        let output = try self.output(channel, try EventLoop())
        #expect(try await onBlockingThread { output.run {} } == .readerGone)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Synchronization

/// Why an output ended.
enum WatchEnd: Hashable, Sendable {
    /// A signal asked for it, or the time for it is over.
    case stopped
    /// As many values as were asked for are written.
    case complete
    /// The reader has closed the pipe.
    case readerGone
    /// Writing failed.
    case failed(SystemError)
}

/// Writes the newest of a sequence of snapshots to standard output, line by line, without ever holding up the thread
/// that brings them.
///
/// ``show(_:onlyFirst:)`` writes at once what goes without waiting. What does not go is left to the thread in
/// ``run(onSilence:)``, which blocks in the event loop and does nothing while nothing happens.
final class WatchOutput<Snapshot: Sendable>: Sendable {
    /// Makes the line of a snapshot, as ``LatestLineBuffer/Renderer`` does.
    typealias Renderer = @Sendable (_ snapshot: Snapshot, _ previous: () -> Snapshot?, _ room: inout [UInt8]) -> Int

    private struct State: Sendable {
        var buffer = LatestLineBuffer<Snapshot>()
        var hasShown = false
        /// How many more are wanted; nil for all there will be.
        var remaining: Int?
        /// Whether another program has the terminal.
        var isPaused = false
        /// Whether the thread waits for room already and needs no wake-up.
        var isAwaitingRoom = false
        var end: WatchEnd?
    }

    /// How long nothing may have been shown before the silence itself is worth a word.
    private static var silenceLimit: Duration { .seconds(2) }

    private let descriptor: WatchDescriptor
    private let loop: EventLoop
    private let render: Renderer
    private let skipsFirst: Bool
    private let flushLimit: Duration
    private let state: Mutex<State>

    /// Makes an output.
    ///
    /// - Parameters:
    ///   - descriptor: Where to write to.
    ///   - loop: The loop that ``run(onSilence:)`` turns.
    ///   - count: How many snapshots to write, at least 1; nil to write all.
    ///   - skipsFirst: Whether the first snapshot is only what the next one is compared with.
    ///   - flushLimit: How long after a stop a slow reader may take what is still pending.
    ///   - render: Makes the lines.
    init(
        _ descriptor: WatchDescriptor,
        loop: EventLoop,
        count: Int? = nil,
        skipsFirst: Bool = false,
        flushLimit: Duration = .seconds(1),
        renderInto render: @escaping Renderer
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.render = render
        self.skipsFirst = skipsFirst
        self.flushLimit = flushLimit
        self.state = Mutex(State(remaining: count))
    }

    /// Makes an output of lines that are texts, for all snapshots.
    convenience init(
        _ descriptor: WatchDescriptor,
        loop: EventLoop,
        render: @escaping @Sendable (_ snapshot: Snapshot, _ previous: Snapshot?) -> String
    ) {
        self.init(descriptor, loop: loop) { snapshot, previous, room in
            room = Array(render(snapshot, previous()).utf8)
            return room.count
        }
    }

    /// Shows a snapshot in place of any that is still waiting; callable from any thread, never waits for the reader.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - onlyFirst: Whether to do nothing when another one was shown before.
    func show(_ snapshot: Snapshot, onlyFirst: Bool = false) {
        let needsThread = self.state.withLock { state in
            if state.end != nil || (onlyFirst && state.hasShown) { return false }
            // The first one ends the waiting for silence, or the thread would wake up for nothing later.
            let isFirst = !state.hasShown
            state.hasShown = true
            if state.isPaused { return isFirst }
            if isFirst, self.skipsFirst {
                state.buffer.skip(snapshot)
                return true
            }
            state.buffer.offer(snapshot)
            self.flush(&state)
            let needsThread = state.end != nil || (state.buffer.isPending && !state.isAwaitingRoom)
            // Once is enough: the pipe that wakes the thread never fills up.
            if needsThread { state.isAwaitingRoom = true }
            return needsThread || isFirst
        }
        if needsThread { self.loop.wakeUp.wake(.output) }
    }

    /// Drops what is not written, and everything that comes until ``resume()``.
    func pause() {
        self.state.withLock { state in
            state.isPaused = true
            state.buffer = LatestLineBuffer()
        }
    }

    /// Goes on with the next snapshot as if it were the first.
    func resume() {
        self.state.withLock { $0.isPaused = false }
    }

    /// Blocks until the count is reached, or a wake-up with the reason `stop`, or the reader ends the output.
    ///
    /// - Parameters:
    ///   - screen: Where to look for keys.
    ///   - onWakeUp: Called on this thread with what it was woken for.
    ///   - onSilence: Called once, on this thread, when nothing was shown for two seconds.
    /// - Returns: Why the output ended.
    func run(
        screen: TerminalScreen? = nil,
        onWakeUp: (LoopWakeUp.Reasons) -> Void = { _ in },
        onSilence: () -> Void
    ) -> WatchEnd {
        var silenceDeadline: MonotonicTime? = self.loop.now() + Self.silenceLimit
        var flushDeadline: MonotonicTime?
        while true {
            let (isPending, hasShown, end) = self.state.withLock { state in
                state.isAwaitingRoom = state.buffer.isPending
                return (state.buffer.isPending, state.hasShown, state.end)
            }
            if let end { return end }
            if flushDeadline != nil, !isPending { return .stopped }
            if hasShown { silenceDeadline = nil }

            let now = self.loop.now()
            if let flushDeadline, flushDeadline <= now { return .stopped }
            if let deadline = silenceDeadline, deadline <= now {
                silenceDeadline = nil
                onSilence()
                continue
            }
            let limit = (flushDeadline ?? silenceDeadline).map { $0 - now }
            let result = self.loop.turn(output: self.descriptor, wantsRoom: isPending, screen: screen, limit: limit)
            if result.isReaderGone { return .readerGone }
            if result.hasRoom { self.state.withLock { self.flush(&$0) } }
            onWakeUp(result.reasons)
            if result.reasons.contains(.stop) { flushDeadline = flushDeadline ?? self.loop.now() + self.flushLimit }
        }
    }

    private func flush(_ state: inout State) {
        do throws(SystemError) {
            while state.end == nil, state.buffer.isPending {
                let bytes = state.buffer.nextBytes(render: self.render)
                if bytes.isEmpty { continue }
                let count = try self.descriptor.write(bytes)
                if count == 0 { return }
                guard state.buffer.wrote(count), let remaining = state.remaining else { continue }
                state.remaining = remaining - 1
                if remaining == 1 { state.end = .complete }
            }
        } catch {
            state.end = error.isReaderGone ? .readerGone : .failed(error)
        }
    }
}

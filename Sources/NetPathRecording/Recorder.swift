// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem
import Synchronization

/// How a recorder is doing.
package struct RecorderStatus: Hashable, Sendable {
    /// Whether what happens is written; what does not go is tried again.
    package var isRecording = false
    /// Bytes written in all.
    package var writtenBytes = 0
    /// When something was written last: nanoseconds since 1970; nil before.
    package var lastWrite: Int64?
    /// How many attempts to write failed.
    package var errors = 0
}

/// Records what happens to a coordinator.
///
/// The coordinator's threads only leave word; the thread that calls ``flush()`` does the work. Nothing happens here while
/// nothing happens there, except that what could not be written is tried again.
package final class Recorder: Sendable {
    /// A time of which nothing is written.
    private struct Gap: Sendable {
        /// When the first thing happened that is missing.
        var begin: MonotonicTime
        var reason: SystemError
    }

    private struct State: Sendable {
        var writer: RecordingWriter
        var store: RecordingStore
        /// What is missing so far; nil while all is written.
        var gap: Gap?
        /// Whether the recording says yet that this program writes it.
        var hasBegun = false
        var isStopped = false
        var lastWrite: Int64?
        var errors = 0
    }

    /// How it is doing.
    package var status: RecorderStatus {
        self.state.withLock { state in
            RecorderStatus(
                isRecording: state.gap == nil && state.hasBegun,
                writtenBytes: state.store.writtenBytes,
                lastWrite: state.lastWrite,
                errors: state.errors
            )
        }
    }

    /// How long what happened is kept in memory: to encode it at once would hold up the events that follow, and those who
    /// wait for the path (see Benchmarks/run-recorder).
    private static let delay: Duration = .milliseconds(100)
    /// How long after a failure the next attempt is made, when nothing happens before.
    private static let retryInterval: Duration = .seconds(10)

    private let coordinator: PathCoordinator
    private let now: @Sendable () -> RecorderClocks
    private let log: @Sendable (LogLevel, String) -> Void
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let state: Mutex<State>

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - coordinator: The coordinator; nothing is lost when it has not been started.
    ///   - store: Where to.
    ///   - header: What is said of the program.
    ///   - isRequired: Whether to throw when nothing can be written now; otherwise that is logged and tried again.
    ///   - now: Reads the clocks, all at once.
    ///   - log: Receives what goes wrong.
    ///   - schedule: Calls a function after a time, on a thread that may wait for the disk; itself called on any thread.
    /// - Throws: `SystemError` when nothing can be written, and that is required.
    package init(
        _ coordinator: PathCoordinator,
        to store: RecordingStore,
        header: RecordingHeader,
        isRequired: Bool,
        now: @escaping @Sendable () -> RecorderClocks,
        log: @escaping @Sendable (LogLevel, String) -> Void,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) throws {
        self.coordinator = coordinator
        self.now = now
        self.log = log
        self.schedule = schedule
        self.state = Mutex(State(writer: RecordingWriter(header), store: store))
        let checkpoint = coordinator.keepJournal { [weak self] in schedule(Self.delay) { self?.flush() } }
        let failure = try self.state.withLock { state -> SystemError? in
            do {
                try state.store.append(state.writer.begin(checkpoint, now: now()))
                state.hasBegun = true
                state.lastWrite = now().wallNanoseconds
                return nil
            } catch let error as SystemError {
                state.errors += 1
                if isRequired { throw error }
                state.gap = Gap(begin: checkpoint.time, reason: error)
                return error
            }
        }
        if let newer = self.state.withLock({ $0.store.newerFile }) {
            log(.warning, "\(newer) was written by a newer netpath and is kept; recording goes on in a new file")
        }
        guard let failure else { return }
        // What watches the network matters more than what tells of it later.
        log(.error, "\(failure.sentence); nothing is recorded until that works")
        self.retryLater()
    }

    private func retryLater() {
        self.schedule(Self.retryInterval) { [weak self] in self?.retry() }
    }

    private func retry() {
        guard self.state.withLock({ $0.gap != nil && !$0.isStopped }) else { return }
        self.flush()
        // One chain of attempts: those that events bring begin none.
        if self.state.withLock({ $0.gap != nil && !$0.isStopped }) { self.retryLater() }
    }

    /// Names another configuration in the files that begin from now on.
    package func setConfiguration(_ text: String?) {
        self.state.withLock { $0.writer.setConfiguration(text) }
    }

    /// Writes what happened since the last call.
    ///
    /// - Parameter isLife: Whether a line says, besides, that the program runs now, and all is brought to the disk: what
    ///   was true then was true until then, even if the power is cut right after it.
    package func flush(isLife: Bool = false) {
        let (message, hasFailed) = self.state.withLock { state -> ((LogLevel, String)?, Bool) in
            guard !state.isStopped else { return (nil, false) }
            let (hadGap, begin) = (state.gap != nil, self.now().time)
            let written = state.store.writtenBytes
            defer { if state.store.writtenBytes > written { state.lastWrite = self.now().wallNanoseconds } }
            do {
                try self.flush(&state, isLife: isLife)
                guard hadGap else { return (nil, false) }
                return ((.info, "the recording goes on"), false)
            } catch {
                state.errors += 1
                let failure = error as? SystemError ?? SystemError(action: "cannot encode what happened", errno: 0)
                if state.gap == nil { state.gap = Gap(begin: begin, reason: failure) }
                // Said once; what happens meanwhile is a gap.
                guard !hadGap else { return (nil, false) }
                let loss = "what happens until writing works again is missing in the recording"
                return ((.error, "\(failure); \(loss)"), true)
            }
        }
        if let message { self.log(message.0, message.1) }
        if hasFailed { self.retryLater() }
    }

    private func flush(_ state: inout State, isLife: Bool) throws {
        let beginsAnew = state.gap != nil || state.store.isFull
        let (entries, lost, checkpoint) = self.coordinator.takeJournal(
            withCheckpoint: beginsAnew || state.writer.wantsCheckpoint
        )
        let now = self.now()
        var missing = entries.first?.time ?? now.time
        do {
            if let checkpoint, state.gap != nil || lost > 0 {
                let reason = state.gap?.reason.sentence ?? "\(lost) events came faster than they could be written"
                // One that is full grows no more, whatever keeps the next one from being made.
                if state.store.isFull { try state.store.beginFile() }
                if state.gap == nil, let last = entries.last {
                    // What was lost came after these.
                    try state.store.append(state.writer.lines(of: entries, checkpoint: nil, now: now))
                    missing = last.time
                }
                var begin = state.gap?.begin ?? missing
                // What happened meanwhile was recorded by another process.
                if state.gap?.reason.isHeldElsewhere == true { begin = checkpoint.time }
                var bytes = try state.writer.gap(reason, at: begin, isBeginning: !state.hasBegun)
                bytes += try state.writer.begin(checkpoint, now: now, path: checkpoint.path)
                try state.store.append(bytes)
                state.gap = nil
                state.hasBegun = true
            } else {
                let isNewFile = state.store.isFull
                try state.store.append(
                    state.writer.lines(of: entries, checkpoint: isNewFile ? nil : checkpoint, now: now)
                )
                if isNewFile, let checkpoint {
                    missing = checkpoint.time
                    try state.store.beginFile()
                    try state.store.append(state.writer.begin(checkpoint, now: now, continues: true))
                }
            }
            guard isLife else { return }
            missing = now.time
            try state.store.append(state.writer.life(now))
            try state.store.synchronize()
        } catch let error as SystemError {
            // From the first thing on that is missing, which may be long before the next one that is written.
            if state.gap == nil { state.gap = Gap(begin: missing, reason: error) }
            throw error
        }
    }

    /// Writes the rest, and that it is the end.
    package func stop() {
        self.flush()
        self.state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            if state.gap == nil { try? state.store.append(state.writer.end(at: self.now().time)) }
            state.store.close()
        }
    }
}

extension SystemError {
    /// What went wrong; that another process holds the lock says all, and the system's words for it mislead.
    fileprivate var sentence: String { self.isHeldElsewhere ? self.action : self.description }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem
import Synchronization

/// Records what happens to a coordinator.
///
/// The coordinator's threads only leave word; whoever calls ``flush()`` does the work. Nothing happens here while nothing
/// happens there.
package final class Recorder: Sendable {
    private struct State: Sendable {
        var writer: RecordingWriter
        var store: RecordingStore
        /// Why what happened is not being written; nil while all is well.
        var failure: SystemError?
        var isStopped = false
    }

    private let coordinator: PathCoordinator
    private let now: @Sendable () -> (time: MonotonicTime, wallNanoseconds: Int64)
    private let log: @Sendable (LogLevel, String) -> Void
    private let state: Mutex<State>

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - coordinator: The coordinator; nothing is lost when it has not been started.
    ///   - store: Where to.
    ///   - header: What is said of the program.
    ///   - now: Reads both clocks at once.
    ///   - log: Receives what goes wrong.
    ///   - schedule: Calls a function later, on a thread that may wait for the disk; itself called on any thread.
    /// - Throws: `SystemError` when nothing can be written.
    package init(
        _ coordinator: PathCoordinator,
        to store: RecordingStore,
        header: RecordingHeader,
        now: @escaping @Sendable () -> (time: MonotonicTime, wallNanoseconds: Int64),
        log: @escaping @Sendable (LogLevel, String) -> Void,
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws {
        self.coordinator = coordinator
        self.now = now
        self.log = log
        self.state = Mutex(State(writer: RecordingWriter(header), store: store))
        let checkpoint = coordinator.keepJournal { [weak self] in schedule { self?.flush() } }
        try self.state.withLock { state in
            let wall = Self.wall(at: checkpoint.time, now())
            try state.store.append(state.writer.begin(checkpoint, wallNanoseconds: wall))
        }
    }

    private static func wall(
        at time: MonotonicTime,
        _ now: (time: MonotonicTime, wallNanoseconds: Int64)
    ) -> Int64 {
        now.wallNanoseconds - (now.time.nanoseconds - time.nanoseconds)
    }

    /// Names another configuration in the files that begin from now on.
    package func setConfiguration(_ text: String?) {
        self.state.withLock { $0.writer.setConfiguration(text) }
    }

    /// Writes what happened since the last call.
    package func flush() {
        let message = self.state.withLock { state -> (LogLevel, String)? in
            guard !state.isStopped else { return nil }
            do {
                try self.flush(&state)
                guard state.failure != nil else { return nil }
                state.failure = nil
                return (.info, "the recording goes on")
            } catch {
                // Said once; what happens meanwhile is a gap.
                guard state.failure == nil else { return nil }
                let failure = error as? SystemError ?? SystemError(action: "cannot encode what happened", errno: 0)
                state.failure = failure
                return (.error, "\(failure); what happens until then is missing in the recording")
            }
        }
        if let message { self.log(message.0, message.1) }
    }

    private func flush(_ state: inout State) throws {
        let beginsAnew = state.failure != nil || state.store.isFull
        let (entries, lost, checkpoint) = self.coordinator.takeJournal(
            withCheckpoint: beginsAnew || state.writer.wantsCheckpoint
        )
        let now = self.now()
        if let checkpoint, state.failure != nil || lost > 0 {
            let reason = state.failure?.description ?? "\(lost) events came faster than they could be written"
            // One that is full grows no more, whatever keeps the next one from being made.
            if state.store.isFull { try state.store.beginFile() }
            var bytes = state.writer.gap(reason, at: entries.first?.time ?? now.time)
            bytes += try state.writer.begin(checkpoint, wallNanoseconds: Self.wall(at: checkpoint.time, now))
            try state.store.append(bytes)
        } else {
            let isNewFile = state.store.isFull
            try state.store.append(
                state.writer.lines(of: entries, checkpoint: isNewFile ? nil : checkpoint, now: now)
            )
            guard isNewFile, let checkpoint else { return }
            try state.store.beginFile()
            let wall = Self.wall(at: checkpoint.time, now)
            try state.store.append(state.writer.begin(checkpoint, wallNanoseconds: wall, continues: true))
        }
    }

    /// Writes the rest, and that it is the end.
    package func stop() {
        self.flush()
        self.state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            if state.failure == nil { try? state.store.append(state.writer.end(at: self.now().time)) }
            state.store.close()
        }
    }
}

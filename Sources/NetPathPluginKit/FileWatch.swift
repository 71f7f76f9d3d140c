// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Synchronization

/// A thread that sleeps until a file changes, since Swift's tasks cannot wait for a descriptor.
final class FileWatch: Sendable {
    private let stopping: WakeUp
    /// Handed to the thread, so that it is closed by the time the thread has ended.
    private let watcher: Mutex<FileWatcher?>
    private let failure = Mutex<(any Error)?>(nil)

    /// Starts to watch; what changes from now on is told by ``run(_:)``.
    ///
    /// - Throws: `SystemError` when the system grants no watcher.
    init(_ paths: [String]) throws(SystemError) {
        self.stopping = try WakeUp()
        guard let watcher = FileWatcher(paths: paths) else { throw .last("cannot watch files") }
        self.watcher = Mutex(watcher)
    }

    /// Tells a signal of every change until ``stop()``, and of a failure.
    ///
    /// When it returns the watcher is closed: a user may have 128 of them.
    func run(_ signal: PollSignal) async {
        do {
            try await BackgroundThread.run {
                let watcher = self.watcher.withLock { $0.take() }
                watcher?.run(until: self.stopping.fileDescriptor) { signal.send(.fileChanged) }
            }
        } catch {
            self.failure.withLock { $0 = error }
            signal.send(.fileChanged)
        }
    }

    /// Throws what kept ``run(_:)`` from watching.
    ///
    /// - Throws: `SystemError` when the system granted no thread.
    func check() throws {
        if let error = self.failure.withLock(\.self) { throw error }
    }

    /// Ends ``run(_:)``, also one that begins later.
    func stop() { self.stopping.wake() }
}

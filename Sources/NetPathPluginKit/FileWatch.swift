// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// A thread that sleeps until a file changes, since Swift's tasks cannot wait for a descriptor.
struct FileWatch: Sendable {
    private let stopping: WakeUp

    /// Starts to watch; ``stop()`` has to be called, or the thread stays.
    ///
    /// - Throws: `SystemError` when the system grants no watcher or no thread.
    init(_ paths: [String], signal: PollSignal) throws(SystemError) {
        let stopping = try WakeUp()
        guard let watcher = FileWatcher(paths: paths) else { throw .last("cannot watch files") }
        let isStarted = BackgroundThread.start {
            while true {
                let ready = FileDescriptor.poll(
                    readable: [stopping.fileDescriptor, watcher.fileDescriptor],
                    timeout: nil
                )
                if ready[0] { return }
                if watcher.takeChanges() { signal.send(.fileChanged) }
            }
        }
        guard isStarted else { throw .last("cannot start a thread") }
        self.stopping = stopping
    }

    func stop() { self.stopping.wake() }
}

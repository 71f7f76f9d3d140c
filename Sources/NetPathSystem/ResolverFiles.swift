// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Tells when a file changes that decides what the system's resolver answers, while there is a listener.
///
/// All listeners of a process share one thread, which sleeps until the kernel tells of a change, and ends with the last
/// of them. Where the system grants no thread or no watcher, no change is told.
package final class ResolverFiles: Sendable {
    /// Those of this machine (nsswitch.conf(5), hosts(5), resolv.conf(5), gai.conf(5)).
    package static let shared = ResolverFiles(
        paths: ["nsswitch.conf", "hosts", "resolv.conf", "host.conf", "gai.conf"].map { "/etc/\($0)" }
    )

    private struct State: Sendable {
        var listeners: [UInt64: @Sendable () -> Void] = [:]
        var lastID: UInt64 = 0
        /// A socket whose other end the thread waits for, closed with the last listener; nil without a thread.
        var thread: FileDescriptor?
    }

    private let paths: [String]
    private let state = Mutex(State())

    /// Watches other files.
    package init(paths: [String]) {
        self.paths = paths
    }

    /// Calls a function on a thread of this object after every change, until it is removed.
    ///
    /// - Returns: The listener, to be removed by.
    package func listen(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
        self.state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = listener
            if state.thread == nil { state.thread = self.start() }
            return state.lastID
        }
    }

    /// Removes a listener; a call that is under way finishes.
    package func remove(_ id: UInt64) {
        let released = self.state.withLock { state in
            let listener = state.listeners.removeValue(forKey: id)
            return (listener, state.listeners.isEmpty ? state.thread.take() : nil)
        }
        withExtendedLifetime(released) {}
    }

    /// Starts a thread; the watch begins before this returns.
    private func start() -> FileDescriptor? {
        guard let (end, holder) = FileDescriptor.socketPair(), let watcher = FileWatcher(paths: self.paths),
            BackgroundThread.start({ [weak self, weak holder] in
                watcher.run(until: end.number) {
                    for listener in self?.listeners(of: holder) ?? [] { listener() }
                }
                withExtendedLifetime(end) {}
            })
        else { return nil }
        return holder
    }

    /// The listeners that a thread calls; none when it is about to end, and another one calls them.
    private func listeners(of thread: FileDescriptor?) -> [@Sendable () -> Void] {
        self.state.withLock { $0.thread === thread ? Array($0.listeners.values) : [] }
    }
}

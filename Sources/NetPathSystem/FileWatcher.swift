// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import Synchronization

/// Notices when files change: written in place, replaced by a rename, removed and created again, or reached through
/// symbolic links that are switched.
///
/// It has no thread and no timer: its owner polls ``fileDescriptor``, and calls ``takeChanges()`` when it is readable,
/// or lends ``run(until:_:)`` a thread. Thread-safe.
package final class FileWatcher: Sendable {
    private struct State: Sendable {
        var paths: [String] = []
        var trails: [FileTrail] = []
    }

    private let descriptor: FileDescriptor
    private let state = Mutex(State())

    /// Starts to watch files, which need not exist; nil when the system grants no watcher (inotify(7)).
    ///
    /// - Parameter paths: Absolute paths.
    package init?(paths: [String]) {
        guard let descriptor = FileDescriptor(inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))) else { return nil }
        self.descriptor = descriptor
        _ = self.watch(paths)
    }

    /// Becomes readable when something on the way to a file changed; the same one for the watcher's lifetime.
    package var fileDescriptor: Int32 { self.descriptor.number }

    /// Watches other files from now on; what was not taken yet of the former ones is forgotten.
    ///
    /// - Parameter paths: Absolute paths.
    /// - Returns: Whether they are others than before; then they have to be read after this, not before.
    package func watch(_ paths: [String]) -> Bool {
        self.state.withLock { state in
            if paths == state.paths { return false }
            state.paths = paths
            self.follow(&state)
            return true
        }
    }

    /// Takes what happened since the last call, without waiting.
    ///
    /// - Returns: Whether a file may read differently now; it is watched anew by then, so that nothing is missed after
    ///   it was read.
    package func takeChanges() -> Bool {
        self.state.withLock { state in
            var isAffected = false
            while let events = self.nextEvents() {
                isAffected = state.trails.contains { $0.isAffected(by: events) } || isAffected
            }
            guard isAffected else { return false }
            self.follow(&state)
            return true
        }
    }

    /// Calls a function after every change; returns when a descriptor is readable, or its other end is closed.
    package func run(until end: Int32, _ filesChanged: () -> Void) {
        while !FileDescriptor.poll(readable: [end, self.fileDescriptor], timeout: nil)[0] {
            if self.takeChanges() { filesChanged() }
        }
    }

    private func follow(_ state: inout State) {
        // All of them, because files of one directory share its watch.
        let watches = state.trails.reduce(into: Set<Int32>()) { $0.formUnion($1.watches) }
        for number in watches { _ = inotify_rm_watch(self.fileDescriptor, number) }
        state.trails = state.paths.map { FileTrail(to: $0, watcher: self.fileDescriptor) }
    }

    private func nextEvents() -> [UInt8]? {
        self.descriptor.read(limit: 4_096).flatMap { $0.isEmpty ? nil : $0 }
    }
}

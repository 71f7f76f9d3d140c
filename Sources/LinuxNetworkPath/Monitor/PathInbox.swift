// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// The newest path that one iteration has not seen yet.
final class PathInbox: Sendable {
    private struct State: Sendable {
        var newest: NWPath?
        var number: UInt64 = 0
    }

    private let state = Mutex(State())
    private let paths = ValueBuffer<NWPath>()

    /// Puts in a path, unless a newer one, or the same one, was there before.
    func offer(_ path: NWPath, number: UInt64) {
        // Under the lock, so that no older path overtakes it.
        self.state.withLock { state in
            guard number > state.number else { return }
            state.number = number
            guard path != state.newest else { return }
            state.newest = path
            self.paths.send(path)
        }
    }

    /// Ends the iteration; a path that it has not seen is dropped.
    func finish() { self.paths.cancel() }

    /// Waits for a path; nil at the end, and when the task was cancelled.
    func next(isolation actor: isolated (any Actor)?) async -> NWPath? { await self.paths.next(isolation: actor) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// The newest path that one iteration has not seen yet.
final class PathInbox: Sendable {
    private struct State: Sendable {
        /// What the iteration has not seen.
        var path: NWPath?
        /// The newest one that was put in.
        var newest: NWPath?
        var number: UInt64 = 0
        var isFinished = false
        var reader: CheckedContinuation<NWPath?, Never>?
    }

    private let state = Mutex(State())

    /// Puts in a path, unless a newer one, or the same one, was there before.
    func offer(_ path: NWPath, number: UInt64) {
        let reader: CheckedContinuation<NWPath?, Never>? = self.state.withLock { state in
            guard number > state.number, !state.isFinished else { return nil }
            state.number = number
            guard path != state.newest else { return nil }
            state.newest = path
            guard let reader = state.reader.take() else {
                state.path = path
                return nil
            }
            return reader
        }
        reader?.resume(returning: path)
    }

    /// Ends the iteration.
    func finish() {
        let reader = self.state.withLock { state in
            state.isFinished = true
            state.path = nil
            state.newest = nil
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// Waits for a path; nil at the end, and when the task was cancelled.
    func next() async -> NWPath? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: NWPath?? = self.state.withLock { state in
                    if state.isFinished { return .some(nil) }
                    if let path = state.path.take() { return path }
                    precondition(state.reader == nil, "one iterator was used by two tasks at once")
                    state.reader = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            self.finish()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathStandard
import Synchronization

/// Who is told of the events of a queue.
final class QueueObservers: Sendable {
    private typealias Continuation = AsyncStream<QueueEvent>.Continuation

    private struct State: Sendable {
        var streams: [UInt64: Continuation] = [:]
        var lastID: UInt64 = 0
        /// What was found wrong with the file before anybody could listen.
        var unheard: [QueueEvent] = []
        var isEnded = false
    }

    private static let capacity = 4096

    private let executor: BackgroundExecutor
    private let state = Mutex(State())

    init(executor: BackgroundExecutor) {
        self.executor = executor
    }

    /// Tells everybody, in order; on any thread.
    func send(_ events: [QueueEvent]) {
        self.state.withLock { state in
            if state.streams.isEmpty {
                state.unheard += events.filter { if case .salvaged = $0 { true } else { false } }
                state.unheard.removeFirst(max(0, state.unheard.count - 16))
            }
            for stream in state.streams.values {
                for event in events { stream.yield(event) }
            }
        }
    }

    /// Subscribes.
    func stream() -> AsyncStream<QueueEvent> { self.subscribe().stream }

    /// Calls a function with every event, one at a time, on a thread that is not the queue's.
    func observe(_ body: @escaping @Sendable (QueueEvent) -> Void) -> QueueObservation {
        let (stream, id) = self.subscribe()
        Task(executorPreference: self.executor) {
            for await event in stream { body(event) }
        }
        return QueueObservation(id: id, of: self)
    }

    /// Removes an observer.
    func remove(_ id: UInt64) {
        // Ended outside the lock: its end calls back.
        self.state.withLock { $0.streams.removeValue(forKey: id) }?.finish()
    }

    /// Ends all sequences, and those that are still to come.
    func end() {
        let streams = self.state.withLock { state in
            defer { state.streams = [:] }
            state.isEnded = true
            return state.streams.values
        }
        for stream in streams { stream.finish() }
    }

    private func subscribe() -> (stream: AsyncStream<QueueEvent>, id: UInt64) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueEvent.self,
            bufferingPolicy: .bufferingNewest(Self.capacity)
        )
        let (id, isEnded) = self.state.withLock { state in
            state.lastID += 1
            if !state.isEnded { state.streams[state.lastID] = continuation }
            for event in state.unheard { continuation.yield(event) }
            state.unheard = []
            return (state.lastID, state.isEnded)
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        if isEnded { continuation.finish() }
        return (stream, id)
    }
}

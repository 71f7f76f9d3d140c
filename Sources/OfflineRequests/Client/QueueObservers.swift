// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathStandard
import Synchronization

/// Who is told of the events of a queue.
final class QueueObservers: Sendable {
    private struct State: Sendable {
        var streams: [UInt64: AsyncStream<QueueEvent>.Continuation] = [:]
        var lastID: UInt64 = 0
        var salvages: [QueueSalvage] = []
        /// What was found wrong with the file before anybody could listen.
        var unheard: [QueueEvent] = []
        var isEnded = false
    }

    private static let capacity = 4096
    private let state = Mutex(State())

    /// What was saved from damaged files.
    var salvages: [QueueSalvage] { self.state.withLock { $0.salvages } }

    /// Tells everybody what was saved from a damaged file.
    func salvaged(_ salvage: QueueSalvage, from file: String) {
        let event = salvage.event(of: file)
        self.state.withLock { state in
            state.salvages.append(salvage)
            if state.streams.isEmpty { state.unheard.append(event) }
        }
        self.send([event])
    }

    /// Tells everybody, in order; on any thread.
    func send(_ events: [QueueEvent]) {
        let streams = self.state.withLock { $0.streams.values }
        // Outside of the lock: to wake a task waits for whoever cancels it, and that for the end of its stream.
        for stream in streams {
            for event in events { stream.yield(event) }
        }
    }

    /// Subscribes.
    func stream() -> AsyncStream<QueueEvent> {
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
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
        }
        if isEnded { continuation.finish() }
        return stream
    }

    /// Ends all sequences, and those that are still to come.
    func end() {
        let streams = self.state.withLock { state in
            defer { state.streams = [:] }
            state.isEnded = true
            return state.streams.values
        }
        // Outside of the lock: their end calls back.
        for stream in streams { stream.finish() }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
import Synchronization

/// Something that happened in a queue, as seen by this process.
///
/// What another process does with the same queue is seen in its records, not here.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum QueueEvent: Hashable, Sendable {
    /// A request was taken, and is on disk.
    case enqueued(UUID)
    /// An attempt begins; attempts count from 1.
    case attempt(UUID, number: Int)
    /// An attempt failed, and there will be another; why, without secrets.
    case attemptFailed(UUID, reason: String)
    /// An attempt failed, and there will be another, not before that.
    case backoff(UUID, until: Date)
    /// Delivered, and that is recorded.
    case succeeded(UUID, status: Int)
    /// Waits for a decision of a user.
    case held(UUID, WaitingReason)
    /// Given up, and kept as a dead letter.
    case dead(UUID, reason: String)
    /// Given up because it became too old.
    case expired(UUID)
    /// Cancelled, replaced by another with the same unique key, or removed as what was finished first, for a new one in a full queue.
    case cancelled(UUID)
    /// Nothing is left to send.
    case drained
    /// The path is back.
    case connectivityRestored
    /// The file was damaged: what could be read was taken over, and the file set aside; `lost` is nil where it does
    /// not say how many requests it had.
    case salvaged(recovered: Int, lost: Int?, setAsideAs: String)
    /// The queue cannot do its work at the moment, for example because the disk is full.
    case failed(QueueError)
}

/// Who is told of the events of a queue.
final class QueueObservers: Sendable {
    private struct State: Sendable {
        var streams: [UInt64: AsyncStream<QueueEvent>.Continuation] = [:]
        var lastID: UInt64 = 0
        var salvages: [QueueEvent] = []
        /// What was found wrong with the file before a stream was there.
        var unheard: [QueueEvent] = []
        var isEnded = false
    }

    private static let capacity = 4096
    private let state = Mutex(State())

    var salvages: [QueueEvent] { self.state.withLock { $0.salvages } }

    func salvaged(_ event: QueueEvent) {
        self.state.withLock { state in
            state.salvages.append(event)
            if state.streams.isEmpty { state.unheard.append(event) }
        }
        self.send([event])
    }

    /// Tells all streams, in order; on any thread.
    func send(_ events: [QueueEvent]) {
        let streams = self.state.withLock { $0.streams.values }
        // Outside of the lock: to wake a task waits for the task that cancels it, and that for the end of its stream.
        for stream in streams {
            for event in events { stream.yield(event) }
        }
    }

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

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
import NetPathStandard
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
    /// Cancelled, or replaced by another with the same unique key.
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
        var salvages: [QueueSalvage] = []
        /// What was found wrong with the file before a stream was there.
        var unheard: [QueueEvent] = []
        var isEnded = false
    }

    private static let capacity = 4096
    private let state = Mutex(State())

    /// What was saved from damaged files.
    var salvages: [QueueSalvage] { self.state.withLock { $0.salvages } }

    /// Tells all streams what was saved from a damaged file.
    func salvaged(_ salvage: QueueSalvage, from file: String) {
        let event = salvage.event(of: file)
        self.state.withLock { state in
            state.salvages.append(salvage)
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

/// What was saved from a file that is damaged or was removed, which another has taken the place of.
package struct QueueSalvage: Hashable, Sendable {
    /// How many requests are in the new file.
    package var recovered: Int
    /// How many are not, as far as the damaged file still says; nil when it does not.
    package var lost: Int?
    /// What the damaged file is called now, or the journal of one that was removed; nil when nothing of it is left.
    ///
    /// Bodies that belong to no request any more are in a folder of that name and `-bodies`.
    package var asideAs: String?
    /// What happened to the file.
    package var cause = Cause.damaged

    /// What happens to files.
    package enum Cause: Hashable, Sendable {
        /// It was damaged.
        case damaged
        /// It was removed while it was open.
        case removed
        /// Another was put in its place while it was open.
        case replaced
    }

    /// Creates a description.
    package init(recovered: Int, lost: Int? = nil, asideAs: String?, cause: Cause = .damaged) {
        (self.recovered, self.lost, self.asideAs, self.cause) = (recovered, lost, asideAs, cause)
    }

    /// What was lost, and where the rest is.
    package var text: String {
        let journal = self.asideAs.map { ", and its journal kept as \($0)" } ?? ""
        return switch self.cause {
        case .damaged:
            "the file was damaged: \(self.recovered) requests kept, "
                + "\(self.lost.map(String.init) ?? "an unknown number") lost, the old file is \(self.asideAs ?? "gone")"
        case .removed:
            "the file was removed while it was open, and what waited in it is lost; a new one was made\(journal)"
        case .replaced:
            "another file was put in the place of this one while it was open, which the queue goes on with: what waited in "
                + "the old one is not in it\(journal)"
        }
    }

    func event(of file: String) -> QueueEvent {
        guard self.cause == .damaged, let asideAs else { return .failed(.io(path: file, reason: self.text)) }
        return .salvaged(recovered: self.recovered, lost: self.lost, setAsideAs: asideAs)
    }
}

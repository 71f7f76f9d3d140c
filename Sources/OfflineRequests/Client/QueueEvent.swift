// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation

/// Something that happened in a queue, as seen by this process.
///
/// What another process does with the same queue is seen in its records, not here.
public enum QueueEvent: Hashable, Sendable {
    /// A request was taken, and is on disk.
    case enqueued(UUID)
    /// An attempt begins; attempts count from 1.
    case attempt(UUID, number: Int)
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

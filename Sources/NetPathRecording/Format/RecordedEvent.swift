// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// One line of a recording.
package struct RecordedEvent: Sendable {
    package enum Kind: Sendable {
        /// A program begins to record, or goes on in a new file.
        case header(RecordingHeader)
        /// The state of the coordinator; whether it follows from what stands before.
        case checkpoint(CoordinatorCheckpoint, continues: Bool)
        /// Something happened to the coordinator.
        case input(CoordinatorInput)
        /// A path was published.
        case path(RecordedPath)
        /// The time of day: nothing happened then that counts, or the wall clock was set, or the machine slept.
        case clock
        /// What happened up to here is missing, and why.
        case gap(String)
        /// The program stopped recording in good order.
        case end
    }

    /// When, on the clock that stands still while the machine sleeps, and begins anew with each boot.
    package var time: MonotonicTime
    /// When, on the wall clock as it was then: nanoseconds since 1970.
    package var wallNanoseconds: Int64
    package var kind: Kind
    /// How long the machine has slept since it booted, in nanoseconds; nil where the recording does not say it.
    package var sleptNanoseconds: Int64?
}

/// The names of what a line may hold.
enum RecordingKey {
    static let time = "at"
    static let wall = "wall"
    static let slept = "slept"
    static let header = "header"
    static let checkpoint = "checkpoint"
    static let continues = "continues"
    static let report = "report"
    static let input = "input"
    static let path = "path"
    static let gap = "gap"
    static let end = "end"
}

/// A report as a line holds it: what differs from the evidence of the one before.
struct RecordedReport: Codable {
    var backend: Int
    var generation: Int
    /// When subscribers were called on the backend's thread, and when they returned.
    var held: MonotonicTime?
    var released: MonotonicTime?
}

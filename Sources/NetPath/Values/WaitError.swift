// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Why a wait for a state of the network ended without it.
///
/// A task that is cancelled throws `CancellationError` instead.
public struct WaitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The time that was over; nil where it was not.
    private let timeout: Duration?

    /// The state did not come within the time.
    public static func timedOut(after timeout: Duration) -> WaitError { WaitError(timeout: timeout) }
    /// What was waited for was stopped or cancelled, or was not running.
    public static let stopped = WaitError(timeout: nil)

    /// Whether the time was over.
    public var isTimeout: Bool { self.timeout != nil }

    /// What happened, for people.
    public var description: String {
        self.timeout.map { "the state did not come within \(DurationText.format($0))" }
            ?? "what was waited for was stopped"
    }
}

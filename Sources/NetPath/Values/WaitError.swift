// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Why a wait for a state of the network ended without it.
///
/// A task that is cancelled throws `CancellationError` instead.
public struct WaitError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Cause: Hashable, Sendable {
        case timedOut(Duration)
        case stopped
    }

    private let cause: Cause

    /// The state did not come within the time.
    public static func timedOut(after timeout: Duration) -> WaitError { WaitError(cause: .timedOut(timeout)) }
    /// What was waited for was stopped or cancelled, or was not running.
    public static let stopped = WaitError(cause: .stopped)

    /// Whether the time was over.
    public var isTimeout: Bool {
        if case .timedOut = self.cause { true } else { false }
    }

    /// What happened, for people.
    public var description: String {
        switch self.cause {
        case .timedOut(let timeout): "the state did not come within \(DurationText.format(timeout))"
        case .stopped: "what was waited for was stopped"
        }
    }
}

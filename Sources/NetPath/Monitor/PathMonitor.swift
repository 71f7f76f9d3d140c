// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Something that can watch the network and report what it sees: a backend.
///
/// A monitor reports evidence, never policy; ``evaluate(_:policy:now:)`` turns evidence into a verdict, the same way
/// for every backend. The rules of the house:
///
/// - ``run(_:)`` is the whole lifetime. Cancellation of its task ends it, a thrown error is a failure, a restart is
///   another call: the coordinator supervises, so a monitor contains no retry loop for its own total failure.
/// - Report a full observation first, promptly (within 2 s), then one for every change.
/// - Answer every refresh request within 1 s by reading everything again and reporting, even when nothing changed.
/// - Say of every observation when its reading began (``Observation/observedAt``): one that was under way when another
///   backend broke may be of the time before, and cannot stand in for it.
/// - A fact that cannot be known is nil, and nil never means "no".
/// - Where ``MonitorContext/asksOnce`` says so, the full observation is all, and the monitor may return after it.
public protocol PathMonitor: Sendable {
    /// Watches until cancelled.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: The reason why watching is not possible (any more), as a sentence for people.
    func run(_ context: MonitorContext) async throws
}

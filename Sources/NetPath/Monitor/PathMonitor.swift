// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Something that can watch the network and report what it sees: a backend.
///
/// A monitor reports evidence, never policy; ``Evidence/verdict(policy:now:)`` turns evidence into a verdict, the same way
/// for every backend. The rules of the house:
///
/// - ``run(_:)`` is the whole lifetime. Cancellation of its task ends it, a thrown error is a failure, a restart is
///   another call: the coordinator supervises, so a monitor contains no retry loop for its own total failure.
/// - Report a full evidence first, promptly (within 2 s), then one for every change.
/// - Answer every refresh request within 1 s by reading everything again and reporting, even when nothing changed; or
///   say that the source cannot be asked (``MonitorContext/takesNoRefreshRequests()``).
/// - While the source is gone and may come back, say so (``MonitorContext/reportUnavailable(_:)``) and go on running.
/// - Say of every report when its reading began (``Evidence/observedAt``): one that was under way when another
///   backend broke may be of the time before, and cannot stand in for it.
/// - A fact that cannot be known is nil, and nil never means "no".
/// - Where only the answer is known and not the facts, state a ``Conclusion``; never invent evidence for it.
/// - Where ``MonitorContext/asksOnce`` says so, the full evidence is all, and the monitor may return after it.
public protocol PathMonitor: Sendable {
    /// Watches until cancelled.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: The reason why watching is not possible (any more), as a sentence for people.
    func run(_ context: MonitorContext) async throws

    /// Whether it sends packets or starts programs.
    ///
    /// Where the present state is asked for once, such a monitor is left out unless there is no other: the answer is to
    /// come at once, and to cost nothing.
    var reachesOut: Bool { get }

    /// Whether anything it reports can tell of the internet: probes, or a conclusion that names it.
    ///
    /// A client that waits for the internet is told at once when no backend ever reports on it.
    var speaksOfInternet: Bool { get }
}

extension PathMonitor {
    /// False: it reads what this machine knows.
    public var reachesOut: Bool { false }

    /// True, unless a backend says otherwise.
    public var speaksOfInternet: Bool { true }
}

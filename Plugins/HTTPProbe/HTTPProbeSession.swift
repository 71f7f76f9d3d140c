// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathPluginKit
import Synchronization

/// What one run of the monitor knows, and whom it tells; thread-safe.
final class HTTPProbeSession: Sendable {
    /// Tells that the network may be another one.
    let changes = PollSignal()
    private let context: MonitorContext
    /// What was said last; nil before the first word.
    private let last = Mutex<Evidence?>(nil)

    init(_ context: MonitorContext) {
        self.context = context
    }

    /// Tells the coordinator what came of a round.
    func report(_ round: HTTPProbeRound, at time: MonotonicTime) {
        var evidence = Evidence(at: time)
        evidence.probes = round.result
        evidence.limitations = round.limitations
        self.last.withLock { $0 = evidence }
        self.context.report(evidence)
    }

    /// Answers a refresh with what is known, and has it found out anew.
    func refreshed() {
        // Before the first word no client waits for an answer.
        if let last = self.last.withLock({ $0 }) { self.context.report(last) }
        // Only now: what is found out must not come before what was known.
        self.changes.send(.asked)
    }

    /// Says that nothing is known, unless something was said.
    func speakFirst() {
        var nothing = Evidence(at: self.context.clock.now())
        nothing.probes = ProbeRound(outcomes: [], isComplete: false)
        let isFirst = self.last.withLock { last in
            guard last == nil else { return false }
            last = nothing
            return true
        }
        if isFirst { self.context.report(nothing) }
    }
}

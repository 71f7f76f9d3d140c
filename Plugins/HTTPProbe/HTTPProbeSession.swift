// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathPluginKit
import Synchronization

/// What one run of the monitor knows, and whom it tells; thread-safe.
final class HTTPProbeSession: Sendable {
    private struct State: Sendable {
        var last: Evidence?
        var hasSpoken = false
    }

    /// Tells that the network may be another one.
    let changes = PollSignal()
    private let context: MonitorContext
    private let state = Mutex(State())

    init(_ context: MonitorContext) {
        self.context = context
    }

    /// Tells the coordinator what came of a round.
    func report(_ round: HTTPProbeRound, at time: MonotonicTime) {
        var evidence = Evidence(at: time)
        evidence.probes = round.result
        evidence.limitations = round.limitations
        self.state.withLock { state in
            state.last = evidence
            state.hasSpoken = true
        }
        self.context.report(evidence)
    }

    /// Answers a refresh with what is known, and has it found out anew.
    func refreshed() {
        let last = self.state.withLock { $0.hasSpoken ? $0.last ?? self.nothing : nil }
        // Before the first word no client waits for an answer.
        if let last { self.context.report(last) }
        // Only now: what is found out must not come before what was known.
        self.changes.send(.asked)
    }

    /// Says that nothing is known, unless something was said.
    func speakFirst() {
        let isFirst = self.state.withLock { state in
            defer { state.hasSpoken = true }
            return !state.hasSpoken
        }
        if isFirst { self.context.report(self.nothing) }
    }

    private var nothing: Evidence {
        var evidence = Evidence(at: self.context.clock.now())
        evidence.probes = ProbeRound(outcomes: [], isComplete: false)
        return evidence
    }
}

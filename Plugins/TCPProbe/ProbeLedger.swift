// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// What this process asked of the network, and what came of it last.
///
/// It outlives the monitors, so that one that is started anew, after a failure or because its configuration changed,
/// neither asks more often than allowed nor has forgotten what was known. Thread-safe.
final class ProbeLedger: Sendable {
    /// The one that all monitors of the process share.
    static let shared = ProbeLedger()

    /// Whom an attempt concerns.
    enum Subject: Hashable, Sendable {
        /// A lookup of a name.
        case lookup(name: String)
        /// A connection to one of the addresses of a host.
        case connection(NetworkHost, port: UInt16)
    }

    /// What tells one result from another.
    struct Question: Hashable, Sendable {
        var targets: [ProbeTarget]
        var interface: String?
        var mark: UInt32?
    }

    /// The last finished round.
    struct Finding: Sendable {
        var round: ProbeRound
        var endedAt: MonotonicTime
        /// When it counts no more, unless another one has replaced it.
        var until: MonotonicTime
        var winner: ProbeWinner?
    }

    private struct State: Sendable {
        /// When attempts were made, in order.
        var attempts: [Subject: [MonotonicTime]] = [:]
        var findings: [Question: Finding] = [:]
    }
    private let state = Mutex(State())

    /// When attempts were made that concern any of the subjects, as far as they still count; in order.
    func attempts(_ subjects: Set<Subject>, now: MonotonicTime) -> [MonotonicTime] {
        self.state.withLock { Self.recent($0, subjects, now: now) }
    }

    /// Notes an attempt, unless as many as the limit were made already that concern any of the subjects.
    ///
    /// - Returns: Whether the attempt may be made.
    func take(_ subject: Subject, among subjects: Set<Subject>, limit: Int, now: MonotonicTime) -> Bool {
        self.state.withLock { state in
            guard Self.recent(state, subjects, now: now).count < limit else { return false }
            for known in state.attempts.keys {
                state.attempts[known]?.removeAll { now - $0 > AttemptBudget.window }
            }
            state.attempts = state.attempts.filter { !$0.value.isEmpty }
            state.attempts[subject, default: []].append(now)
            return true
        }
    }

    /// The last result, if it still counts.
    func finding(_ question: Question, now: MonotonicTime) -> Finding? {
        self.state.withLock { state in state.findings[question].flatMap { $0.until > now ? $0 : nil } }
    }

    /// Keeps a result, for as long as it counts.
    func keep(_ finding: Finding, of question: Question) {
        self.state.withLock { state in
            state.findings = state.findings.filter { $0.value.until > finding.endedAt }
            state.findings[question] = finding
        }
    }

    private static func recent(_ state: State, _ subjects: Set<Subject>, now: MonotonicTime) -> [MonotonicTime] {
        let times = subjects.flatMap { subject in
            (state.attempts[subject] ?? []).drop { now - $0 > AttemptBudget.window }
        }
        return subjects.count == 1 ? times : times.sorted()
    }
}

/// Who answered.
struct ProbeWinner: Hashable, Sendable {
    var target: ProbeTarget
    var endpoint: ProbeEndpoint
}

extension ProbeTarget {
    /// The name to be resolved; nil for an address.
    var name: String? { if case .name(let name) = self.host { name } else { nil } }

    /// The lookup of the name; nil for an address.
    var lookup: ProbeLedger.Subject? { self.name.map { .lookup(name: $0.lowercased()) } }

    /// A connection to the target.
    var connection: ProbeLedger.Subject {
        .connection(self.name.map { .name($0.lowercased()) } ?? self.host, port: self.port)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The life of one backend as its supervisor sees it: runs, silence, cancellation, and when to start it again.
struct Supervision: Sendable, Codable {
    private enum CodingKeys: String, CodingKey { case phase, attempt, generation }

    /// No first report within this time is a failure.
    static let firstReportLimit: Duration = .seconds(2)
    /// No answer to a refresh within this time is a failure.
    static let answerLimit: Duration = .seconds(1)
    /// A run that stays silent this much longer is cancelled; until then a late report is welcome.
    static let wedgedLimit: Duration = .seconds(5)
    /// A cancelled run that has not ended by then is said to ignore it.
    static let endLimit: Duration = .seconds(2)

    /// What the supervisor found out, or wants done.
    enum Finding: Hashable, Sendable {
        /// The backend does not report when it should.
        case silent(String)
        /// The run is to be cancelled.
        case cancel
        /// The cancelled run does not end.
        case ignoresCancellation
    }

    /// What the end of a run means.
    enum End: Hashable, Sendable {
        /// Not the current run.
        case ofAnotherRun
        /// It ended without being cancelled; it is started again later.
        case failed
        /// It was cancelled; it is started again later, or not at all.
        case asRequested
        /// It has said all that was asked for.
        case done
        /// It was cancelled and is needed again already.
        case startAgain
    }

    private struct Run: Sendable, Codable {
        private enum CodingKeys: String, CodingKey {
            case since, hasSpoken, awaitedSince, silentSince, heldCalls, takesRefreshRequests
        }

        let since: MonotonicTime
        var hasSpoken = false
        /// Since when a report is due; nil when none is.
        var awaitedSince: MonotonicTime?
        var silentSince: MonotonicTime?
        /// How many of the backend's calls are held up by subscribers.
        var heldCalls = 0
        var takesRefreshRequests = true
    }

    /// What follows when a cancelled run has ended.
    private enum Afterwards: Sendable, Codable {
        case nothing
        case start
        case backoff
    }

    private enum Phase: Sendable, Codable {
        case idle
        case running(Run)
        case ending(Run, since: MonotonicTime, isOverdue: Bool, then: Afterwards)
        case waiting(until: MonotonicTime)
        case done
    }

    private var phase = Phase.idle
    private var attempt = 0
    /// The number of the current or last run; late reports of earlier runs are told apart by it.
    private(set) var generation = 0

    /// Whether a run is under way that has not been cancelled.
    var isRunning: Bool { if case .running = self.phase { true } else { false } }
    /// Whether a run is under way that answers refreshes.
    var canBeAsked: Bool { if case .running(let run) = self.phase { run.takesRefreshRequests } else { false } }
    /// Whether nothing runs, ends or is going to be started.
    var isIdle: Bool { if case .idle = self.phase { true } else { false } }
    /// Whether the last run has said all that was asked for.
    var isDone: Bool { if case .done = self.phase { true } else { false } }
    /// Whether a run, cancelled or not, has yet to end.
    var hasRun: Bool {
        switch self.phase {
        case .running, .ending: true
        case .idle, .waiting, .done: false
        }
    }

    /// When the next run is due.
    var restartDeadline: MonotonicTime? { if case .waiting(let until) = self.phase { until } else { nil } }

    /// When the run began that is under way; nil without one.
    var runningSince: MonotonicTime? { if case .running(let run) = self.phase { run.since } else { nil } }

    /// When silence has lasted too long; nil while the backend cannot report, because a subscriber blocks its thread.
    var silenceDeadline: MonotonicTime? {
        switch self.phase {
        case .idle, .waiting, .done: nil
        case .running(let run) where run.heldCalls > 0: nil
        case .running(let run):
            if let silentSince = run.silentSince {
                silentSince + Self.wedgedLimit
            } else {
                run.awaitedSince.map { $0 + (run.hasSpoken ? Self.answerLimit : Self.firstReportLimit) }
            }
        case .ending(let run, let since, let isOverdue, _):
            isOverdue || run.heldCalls > 0 ? nil : since + Self.endLimit
        }
    }

    /// Starts a run and returns its generation; nil when one is under way, or has to end first.
    mutating func start(now: MonotonicTime) -> Int? {
        switch self.phase {
        case .running: return nil
        case .ending(let run, let since, let isOverdue, _):
            self.phase = .ending(run, since: since, isOverdue: isOverdue, then: .start)
            return nil
        case .idle, .waiting, .done:
            self.generation += 1
            self.phase = .running(Run(since: now, awaitedSince: now))
            return self.generation
        }
    }

    /// Gives the backend up; returns whether a run has to be cancelled.
    mutating func stop(now: MonotonicTime) -> Bool {
        self.attempt = 0
        switch self.phase {
        case .idle: return false
        case .waiting, .done:
            self.phase = .idle
            return false
        case .running(let run):
            self.phase = .ending(run, since: now, isOverdue: false, then: .nothing)
            return true
        case .ending(let run, let since, let isOverdue, _):
            self.phase = .ending(run, since: since, isOverdue: isOverdue, then: .nothing)
            return false
        }
    }

    /// Takes a report; false when it is not one of the current run.
    mutating func spoke(generation: Int) -> Bool {
        // A run that ended or was cancelled may still have had a report on its way.
        guard generation == self.generation, case .running(var run) = self.phase else { return false }
        run.hasSpoken = true
        run.awaitedSince = nil
        run.silentSince = nil
        self.phase = .running(run)
        return true
    }

    /// Notes that the backend was asked for a report; an older request stays the one that counts.
    mutating func asked(now: MonotonicTime) {
        guard case .running(var run) = self.phase, run.awaitedSince == nil else { return }
        run.awaitedSince = now
        self.phase = .running(run)
    }

    /// Notes that the backend answers no refresh; one that was asked before owes an answer no more.
    mutating func takesNoRefreshRequests(generation: Int) {
        guard generation == self.generation, case .running(var run) = self.phase else { return }
        run.takesRefreshRequests = false
        if run.hasSpoken { run.awaitedSince = nil }
        self.phase = .running(run)
    }

    /// Notes that subscribers are called on the backend's thread, which can say nothing until they return.
    mutating func held(generation: Int) {
        guard generation == self.generation else { return }
        switch self.phase {
        case .idle, .waiting, .done: return
        case .running(var run):
            run.heldCalls += 1
            self.phase = .running(run)
        case .ending(var run, let since, let isOverdue, let then):
            run.heldCalls += 1
            self.phase = .ending(run, since: since, isOverdue: isOverdue, then: then)
        }
    }

    /// Notes that the subscribers have returned; the backend gets the whole time for what is asked of it.
    mutating func released(generation: Int, now: MonotonicTime) {
        guard generation == self.generation else { return }
        switch self.phase {
        case .idle, .waiting, .done: return
        case .running(var run):
            run.heldCalls -= 1
            if run.awaitedSince != nil { run.awaitedSince = now }
            if run.silentSince != nil { run.silentSince = now }
            self.phase = .running(run)
        case .ending(var run, _, let isOverdue, let then):
            run.heldCalls -= 1
            self.phase = .ending(run, since: now, isOverdue: isOverdue, then: then)
        }
    }

    /// Takes the end of a run.
    ///
    /// - Parameters:
    ///   - generation: The run.
    ///   - mayEnd: Whether it may end when it has reported.
    ///   - jitter: A random number in 0..<1.
    ///   - now: The present moment.
    /// - Returns: What it means.
    mutating func ended(generation: Int, mayEnd: Bool = false, jitter: Double, now: MonotonicTime) -> End {
        guard generation == self.generation else { return .ofAnotherRun }
        switch self.phase {
        case .idle, .waiting, .done: return .ofAnotherRun
        case .running(let run) where mayEnd && run.hasSpoken:
            self.phase = .done
            return .done
        case .running(let run):
            self.wait(after: run, jitter: jitter, now: now)
            return .failed
        case .ending(_, _, _, .nothing):
            self.phase = .idle
            return .asRequested
        case .ending(_, _, _, .start):
            self.phase = .idle
            return .startAgain
        case .ending(let run, _, _, .backoff):
            self.wait(after: run, jitter: jitter, now: now)
            return .asRequested
        }
    }

    /// Judges the silence; nil when it may last longer.
    mutating func judge(now: MonotonicTime) -> Finding? {
        guard let deadline = self.silenceDeadline, deadline <= now else { return nil }
        switch self.phase {
        case .idle, .waiting, .done: return nil
        case .running(var run):
            if run.silentSince != nil {
                self.phase = .ending(run, since: now, isOverdue: false, then: .backoff)
                return .cancel
            }
            run.silentSince = now
            self.phase = .running(run)
            return .silent(run.hasSpoken ? "did not answer a refresh within 1 s" : BackendReport.silence)
        case .ending(let run, let since, _, let then):
            self.phase = .ending(run, since: since, isOverdue: true, then: then)
            return .ignoresCancellation
        }
    }

    private mutating func wait(after run: Run, jitter: Double, now: MonotonicTime) {
        if now - run.since >= RestartBackoff.settledAfter { self.attempt = 0 }
        self.phase = .waiting(until: now + RestartBackoff.delay(attempt: self.attempt, jitter: jitter))
        self.attempt += 1
    }
}

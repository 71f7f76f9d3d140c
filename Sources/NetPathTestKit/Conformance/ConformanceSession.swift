// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The checks of one backend, and what they have found so far.
actor ConformanceSession {
    /// A rule is broken; why.
    struct Broken: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// A rule cannot be checked; why.
    struct Unchecked: Error {
        let reason: String
    }

    nonisolated let suite: BackendConformance
    private var findings: [ConformanceFinding] = []
    private var messages: [String] = []
    /// Why further runs would prove nothing, or would pile up.
    private var obstacle: String?

    init(_ suite: BackendConformance) {
        self.suite = suite
    }

    /// How much time the backend has.
    var limits: BackendConformance.Limits { self.suite.limits }

    /// What was found so far.
    var report: ConformanceReport {
        ConformanceReport(name: self.suite.name, findings: self.findings, messages: self.messages)
    }

    /// Checks one rule.
    func check(_ rule: ConformanceRule) async {
        let outcome: ConformanceFinding.Outcome
        if let obstacle {
            outcome = .unchecked(obstacle)
        } else if Task.isCancelled {
            outcome = .unchecked("cancelled")
        } else if let check = self.suite.program?.checks[rule] {
            outcome = await check()
        } else {
            do {
                outcome = .kept(try await self.measure(rule))
            } catch let unchecked as Unchecked {
                outcome = .unchecked(unchecked.reason)
            } catch {
                outcome = .broken(
                    (error as? Broken)?.reason ?? self.says("it threw: \(error)", program: "\(error)")
                )
                if rule == .firstReport { self.obstacle = "there is no first report" }
            }
        }
        self.findings.append(ConformanceFinding(rule: rule, outcome: outcome))
    }

    private func measure(_ rule: ConformanceRule) async throws -> String {
        switch rule {
        case .firstReport: try await self.checkFirstReport()
        case .completeSnapshots: try await self.checkSnapshots(Snapshots.defects, "fit together")
        case .unknownIsNotNo: try await self.checkSnapshots(Snapshots.inventions, "invent nothing")
        case .realInterfaces: try await self.checkSnapshots(Snapshots.ghosts, "name interfaces of this machine")
        case .refresh: try await self.checkRefresh()
        case .watchedAddresses: try await self.checkWatchedAddresses()
        case .asksOnce: try await self.checkAskedOnce()
        case .rest: try await self.checkRest()
        case .cancellation: try await self.checkCancellation()
        case .shutdown, .holdings: throw Unchecked(reason: "only for external programs")
        case .silence: try await self.checkSilence()
        case .restart: try await self.checkRestart()
        case .missingSource: try await self.checkMissingSource()
        case .leaks: try await self.checkLeaks()
        }
    }

    // MARK: What the checks are made of

    /// Whether the backend is a program of its own.
    var isProgram: Bool { self.suite.program != nil }

    /// The words for the author of a backend in Swift, or of a program.
    nonisolated func says(_ text: String, program: String) -> String { self.suite.program == nil ? text : program }

    /// How many runs have left a daemon behind.
    var daemons: Int { self.suite.program?.daemons() ?? 0 }

    func makeMonitor() throws -> any PathMonitor { try self.suite.make() }

    /// Starts a backend, does something with it, and ends it.
    func withRun<Value: Sendable>(
        of monitor: any PathMonitor,
        asksOnce: Bool = false,
        _ body: (BackendRun) async throws -> Value
    ) async throws -> Value {
        let run = BackendRun(monitor, clock: ThreadClock.shared, asksOnce: asksOnce)
        let result: Result<Value, any Error>
        do { result = .success(try await body(run)) } catch { result = .failure(error) }
        // What went wrong first is worth telling.
        do {
            try await self.end(run)
        } catch {
            _ = try result.get()
            throw error
        }
        return try result.get()
    }

    /// What the check of a rule about requests leads to where the backend takes none; nil where it takes some.
    func refusal(of run: BackendRun) -> Unchecked? {
        run.takesRefreshRequests ? nil : Unchecked(reason: "it says that it takes no refresh requests")
    }

    /// Ends a backend in time.
    @discardableResult
    func end(_ run: BackendRun) async throws -> Duration {
        defer {
            let said = run.messages + run.unavailabilities.map { "unavailable: \($0)" }
            for message in said where !self.messages.contains(message) { self.messages.append(message) }
        }
        // What it threw by itself is no answer to a cancellation.
        if run.hasEnded { return .zero }
        let start = ContinuousClock.now
        let isInTime: Bool
        do {
            isInTime = try await within(self.limits.cancellation) { try await run.stop() } != nil
        } catch {
            throw Broken(
                self.says(
                    "cancelled, run(_:) threw \(error); return, or throw CancellationError",
                    program: "told to end, it failed: \(error)"
                )
            )
        }
        guard isInTime else {
            self.obstacle = "it does not end when it is cancelled, so that it cannot be run again"
            throw Broken(
                self.says(
                    """
                    run(_:) had not returned \(self.limits.cancellation) after its task was cancelled; wait in ways that \
                    end with the task, and start nothing that outlives it
                    """,
                    program: "it still ran \(self.limits.cancellation) after it was told to end; exit 0 after shutdown"
                )
            )
        }
        return .now - start
    }

    /// Waits for the first report, in time.
    @discardableResult
    func first(of run: BackendRun) async throws -> Evidence {
        let limit = self.limits.firstReport
        do {
            if let evidence = try await within(limit, { try await run.waitForEvidence() }) { return evidence }
        } catch is CancellationError {
            throw Broken("run(_:) returned without a report; watch until the task is cancelled")
        } catch {
            throw Broken(self.says("run(_:) threw before its first report: \(error)", program: "\(error)"))
        }
        if let sentence = run.unavailabilities.last {
            throw Broken(
                "it says that it has nothing to go by (\(sentence)); make the watched source available and check again"
            )
        }
        throw Broken(
            self.says(
                "nothing was reported within \(limit); report what is known at the start, before waiting",
                program: """
                    it said nothing of the network within \(limit) of its start; write a conclusion, evidence or \
                    unavailable before it waits, and flush after each line
                    """
            )
        )
    }

    /// Asks a backend to look again, and waits for evidence that began after the question.
    func refresh(_ run: BackendRun) async throws {
        let count = run.reports.count
        let asked = SystemMonotonicClock().now()
        run.refresh()
        let isAnswer: @Sendable (Evidence) -> Bool = { $0.observedAt >= asked || $0.probes != nil }
        let limit = self.limits.refresh
        let answer = try await within(limit) {
            var number = count + 1
            // Until one of them is new.
            while let evidence = try await run.waitForReports(number).dropFirst(number - 1).first {
                if isAnswer(evidence) { return true }
                number += 1
            }
            return false
        }
        if answer == true { return }
        let isOld = run.reports.count > count
        throw Broken(
            isOld
                ? self.says(
                    "what it reported after a refresh request was read before it (observedAt); read everything again",
                    program: """
                        what it said after a refresh request is older than that (ageMilliseconds); look again, then answer
                        """
                )
                : self.says(
                    "a refresh request was not answered within \(limit); take refreshRequests, also when nothing changed",
                    program: """
                        a refresh request was not answered within \(limit); read input while waiting, and answer with a \
                        report or {"heartbeat":true}, flushed, also when nothing changed
                        """
                )
        )
    }
}

/// Runs an operation that ends when its task is cancelled, and cancels it when the time is over.
///
/// - Returns: What it returned; nil when the time was over.
package func within<Value: Sendable>(
    _ limit: Duration,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await ThreadClock.shared.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

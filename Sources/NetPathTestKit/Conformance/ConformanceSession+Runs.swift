// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

// What can be told from single runs.
extension ConformanceSession {
    func checkFirstReport() async throws -> String {
        let start = ContinuousClock.now
        return try await self.withRun(of: self.makeMonitor()) { run in
            try await self.first(of: run)
            return "after \((ContinuousClock.now - start).rounded)"
        }
    }

    /// Looks at all evidence of a run that is asked to look again three times.
    func checkSnapshots(_ defects: ([Evidence]) -> [String], _ praise: String) async throws -> String {
        try await self.withRun(of: self.makeMonitor()) { run in
            try await self.first(of: run)
            for _ in 0..<(run.takesRefreshRequests ? 3 : 0) {
                run.refresh()
                let count = run.reports.count
                // Whether it answers is another rule.
                _ = try await within(self.limits.refresh) { try await run.waitForReports(count + 1) }
            }
            let reports = run.reports
            var found: [String] = []
            for defect in defects(reports) where !found.contains(defect) { found.append(defect) }
            guard found.isEmpty else { throw Broken(found.joined(separator: "; ")) }
            return "\(reports.count) reports \(praise)"
        }
    }

    func checkRefresh() async throws -> String {
        try await self.withRun(of: self.makeMonitor()) { run in
            try await self.first(of: run)
            if let refusal = self.refusal(of: run) { throw refusal }
            let start = ContinuousClock.now
            for _ in 0..<3 { try await self.refresh(run) }
            let time = (ContinuousClock.now - start) / 3
            // They may merge into one; what must not happen is that the last is lost.
            for _ in 0..<1_000 { run.refresh() }
            try await self.refresh(run)
            return "answered after \(time.rounded)"
        }
    }

    func checkWatchedAddresses() async throws -> String {
        try await self.withRun(of: self.makeMonitor()) { run in
            try await self.first(of: run)
            if let refusal = self.refusal(of: run) { throw refusal }
            // Addresses for documentation (RFC 5737 and 3849): no host has them.
            run.watch([InternetAddress(ipv4: 0xCB00_7109), InternetAddress(ipv6: 0x2001_0DB8 << 96 | 9)])
            try await self.refresh(run)
            run.watch([])
            try await self.refresh(run)
            return "taken"
        }
    }

    func checkAskedOnce() async throws -> String {
        try await self.withRun(of: self.makeMonitor(), asksOnce: true) { run in
            try await self.first(of: run)
            return "one report"
        }
    }

    /// Watches it while nothing happens.
    func checkRest() async throws -> String {
        let limit = self.limits.rest
        return try await self.withRun(of: self.makeMonitor()) { run in
            try await self.first(of: run)
            let hasEnded: Bool
            do {
                hasEnded = try await within(limit) { try await run.waitForEnd() } != nil
            } catch {
                throw Broken("run(_:) threw though nothing had happened: \(error)")
            }
            if hasEnded {
                throw Broken("run(_:) returned though it was not cancelled; watch until the task is cancelled")
            }
            if let alternation = Snapshots.alternation(run.reports) { throw Broken(alternation) }
            let count = run.reports.count
            guard count <= Int(limit / .milliseconds(10)) else {
                throw Broken("it reported \(count) times in \(limit.rounded), and nothing changed; report what is news")
            }
            return "\(count) reports in \(limit.rounded)"
        }
    }

    /// Cancels at the worst moments: before the first report, between two, and in the middle of many.
    func checkCancellation() async throws -> String {
        var longest: Duration = .zero
        for moment in 0..<4 {
            let run = BackendRun(try self.makeMonitor(), clock: ThreadClock.shared)
            if moment > 1 { try await self.first(of: run) }
            // Whatever it does at once is under way.
            if moment == 1 { await Task.yield() }
            if moment == 3 { for _ in 0..<100 { run.refresh() } }
            longest = max(longest, try await self.end(run))
        }
        return "ended after at most \(longest.rounded)"
    }

    func checkSilence() async throws -> String {
        let run = BackendRun(try self.makeMonitor(), clock: ThreadClock.shared)
        try await self.first(of: run)
        for _ in 0..<100 { run.refresh() }
        try await self.end(run)
        let count = run.reports.count
        run.refresh()
        run.watch([InternetAddress(ipv4: 0xCB00_7109)])
        // Nothing to wait for: what must not come may still be on its way.
        try await ThreadClock.shared.sleep(for: self.limits.silence)
        guard run.reports.count == count else {
            throw Broken(
                self.says(
                    "it reported after run(_:) had ended; wait for what was started before returning",
                    program: "it reported after its end; end what it starts before it exits"
                )
            )
        }
        return "nothing for \(self.limits.silence.rounded)"
    }

    func checkRestart() async throws -> String {
        let monitor = try self.makeMonitor()
        for _ in 0..<3 { _ = try await self.withRun(of: monitor) { try await self.first(of: $0) } }
        return "run three times"
    }

    func checkMissingSource() async throws -> String {
        guard let make = self.suite.makeWithoutSource else {
            throw Unchecked(
                reason: self.says(
                    "no function makes the backend without its source; pass one as withoutSource",
                    program: "keep it from reading its source, and run it with --once: it has to report unavailable"
                )
            )
        }
        let monitor: any PathMonitor
        do { monitor = try make() } catch { return "cannot be made: \(error)" }
        return try await self.withRun(of: monitor) { run in
            let hasStatus: @Sendable (Evidence) -> Bool = { Snapshots.status(of: $0) != nil }
            let limit = self.limits.missingSource
            let evidence: Evidence?
            do {
                evidence = try await within(limit) { try await run.waitForEvidence(where: hasStatus) }
            } catch is CancellationError {
                throw Broken("without its source run(_:) returned as if all was well; throw a sentence for people")
            } catch {
                return "throws: \(error)"
            }
            guard let evidence else { return run.unavailabilities.last.map { "says: \($0)" } ?? "no verdict" }
            let status = Snapshots.status(of: evidence)?.rawValue ?? "something"
            throw Broken("without its source it says \(status); throw, or call reportUnavailable")
        }
    }
}

extension Duration {
    /// In a unit that suits it, for people.
    package var rounded: String {
        let microseconds = self / .microseconds(1)
        return microseconds < 10_000 ? "\(Int(microseconds)) µs" : "\(Int(microseconds / 1_000)) ms"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit

/// The checks of a program that are made by those who start it and read what it writes.
///
/// One run is watched for as long as the heartbeat says, and then asked to look many times.
actor ProgramCheck {
    typealias Outcome = ConformanceFinding.Outcome

    /// How long a run is watched at least, and at most.
    private static let watch = (least: Duration.seconds(5), most: Duration.seconds(61))
    /// What is compared: the growth over this many batches, of looks or of time; the one before fills caches.
    private static let batches = 4
    /// How often a program is asked to look, in a batch.
    private static let looks = 30
    /// Lines and messages a second that are no flood.
    private static let calm = 15

    private let entry: String
    private let firstReport: Duration
    private let patienceFactor: Int
    private var live: Live?

    /// What one run that is watched tells.
    private typealias Live = (rest: Outcome, holdings: Outcome, interfaces: Outcome)

    init(_ entry: String, firstReport: Duration, patienceFactor: Int) {
        self.entry = entry
        self.firstReport = firstReport
        self.patienceFactor = patienceFactor
    }

    /// The checks by rule.
    nonisolated var checks: ProgramChecks {
        ProgramChecks([
            .realInterfaces: { await self.outcomes().interfaces },
            .rest: { await self.outcomes().rest },
            .holdings: { await self.outcomes().holdings },
            .shutdown: { await self.shutdown() },
        ])
    }

    // MARK: One run that is watched

    private func outcomes() async -> Live {
        if let live { return live }
        let outcomes = await self.watchRun()
        self.live = outcomes
        return outcomes
    }

    private func watchRun() async -> Live {
        let isUnknown = Outcome.unchecked("there is no first report")
        let unknown: Live = (isUnknown, isUnknown, isUnknown)
        guard let run = try? ProgramRun(self.entry, patienceFactor: self.patienceFactor) else { return unknown }
        guard await run.hasReported(within: self.firstReport) else {
            await run.stop()
            return unknown
        }
        let heartbeat = run.record.heartbeat
        let limit = min(max(heartbeat.map { $0 + .seconds(1) } ?? .zero, Self.watch.least), Self.watch.most)
        let lines = run.record.lines
        var samples: [ProgramHoldings] = []
        var rest: Outcome
        do {
            for _ in 0...Self.batches {
                try await run.rest(limit / (Self.batches + 1))
                samples.append(.now())
            }
            rest = self.judge(run, lines: run.record.lines - lines, limit)
            // One change may be the first of those that every heartbeat brings.
            if Snapshots.verdicts(run.backend.reports).count == 2 { try await run.rest(limit) }
        } catch {
            return (.broken("\(error)"), .unchecked("it does not run on"), self.judgeInterfaces(run))
        }
        let holdings: Outcome
        if run.backend.takesRefreshRequests {
            holdings = await self.ask(run)
        } else {
            holdings = self.judge(samples, isGrowth: 1, in: (limit / (Self.batches + 1)).rounded)
        }
        if case .kept = rest, let alternation = Snapshots.alternation(run.backend.reports) {
            rest = .broken(alternation)
        }
        await run.stop()
        return (rest, holdings, self.judgeInterfaces(run))
    }

    private func judgeInterfaces(_ run: ProgramRun) -> Outcome {
        let missing = run.record.missing.sorted().map { "'\($0)'" }.joined(separator: ", ")
        if !missing.isEmpty {
            return .broken(
                """
                it names \(missing), no interface of this machine, or one of another index; name what the kernel lists \
                (ip link), with its index
                """
            )
        }
        if let ghost = Snapshots.ghosts(run.backend.reports).first { return .broken(ghost) }
        return .kept("all that it names are this machine's")
    }

    private func judge(_ run: ProgramRun, lines: Int, _ limit: Duration) -> Outcome {
        let most = Self.calm * Int(limit / .seconds(1))
        if lines > most {
            return .broken(
                "it wrote \(lines) lines in \(limit.rounded), and nothing changed; write what is news, then wait"
            )
        }
        if run.backend.messages.count > most {
            return .broken(
                """
                it floods standard error with messages, and nothing changed; write there what an operator has to know
                """
            )
        }
        let heartbeat = run.record.heartbeat.map { DurationText.format($0) }
        return .kept(
            "\(lines) lines in \(limit.rounded)" + (heartbeat.map { ", with a heartbeat of \($0)" } ?? "")
                + (limit == Self.watch.most ? ", which is longer than is watched" : "")
        )
    }

    /// Asks it to look, often.
    private func ask(_ run: ProgramRun) async -> Outcome {
        var samples: [ProgramHoldings] = []
        let backend = run.backend
        for _ in 0...Self.batches {
            for _ in 0..<Self.looks {
                let count = backend.reports.count
                backend.refresh()
                let isAnswered = try? await within(self.firstReport) { try await backend.waitForReports(count + 1) }
                guard isAnswered != nil else { return .unchecked("it does not answer refresh requests") }
            }
            samples.append(.now())
        }
        return self.judge(samples, isGrowth: Self.looks / 10, in: "\(Self.looks) looks")
    }

    /// What is kept for good grows in every batch.
    private func judge(_ samples: [ProgramHoldings], isGrowth limit: Int, in batch: String) -> Outcome {
        let growths = zip(samples, samples.dropFirst()).map { $1 - $0 }
        guard let first = growths.first else { return .unchecked("nothing was counted") }
        let least = growths.reduce(first) { $0.minimum($1) }
        var found: [String] = []
        if least.descriptors >= limit { found.append("\(least.descriptors) open files") }
        if least.processes >= limit { found.append("\(least.processes) processes") }
        if least.bytes >= 65_536 { found.append("\(least.bytes / 1_024) KiB of memory") }
        guard found.isEmpty else {
            return .broken(
                """
                it holds \(found.joined(separator: " and ")) more after every \(batch); close what it opens, wait for what \
                it starts, and forget what it has said
                """
            )
        }
        return .kept("no more after \(batch), \(Self.batches) times")
    }

    // MARK: The end

    private func shutdown() async -> Outcome {
        // How fast it starts is another rule's: here it only has to.
        guard let run = try? ProgramRun(self.entry, patienceFactor: self.patienceFactor),
            await run.hasReported(within: self.firstReport * 5)
        else { return .unchecked("there is no first report") }
        let start = ContinuousClock.now
        await run.stop()
        let time = (ContinuousClock.now - start).rounded
        guard let end = run.record.end else { return .unchecked("it ended before it was asked to") }
        switch (end.method, end.ending) {
        case (.request, .exited(0)?): return .kept("\(time) after shutdown")
        case (.request, let ending?):
            return .broken("asked to shut down it \(ending); exit 0 after shutdown, also when the input ends")
        case (.termination, _) where !run.record.takesRequests: return .kept("\(time) after SIGTERM")
        case (.kill, _) where !run.record.takesRequests:
            return .broken("it does not end on SIGTERM, and had to be killed; end then, or read shutdown and exit 0")
        case (.termination, _), (.kill, _):
            return .broken(
                """
                it does not end within \(500 * self.patienceFactor) ms of {"request":"shutdown"}; read input while waiting, and \
                exit 0 after shutdown
                """
            )
        case (.nothing, _), (.request, nil): return .unchecked("it ended before it was asked to")
        }
    }
}

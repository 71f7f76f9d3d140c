// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathPluginKit
import NetPathTestKit
import Synchronization
import Testing

/// A backend that finds out by looking, as its author would write it.
private final class FlagMonitor: PathMonitor {
    enum Sight: Sendable {
        case there
        case missing
        case gone
    }

    let sight = Mutex(Sight.there)
    let looks = Mutex(0)
    private let isThreaded: Bool
    private let interval: Duration
    private let paths: [String]

    init(isThreaded: Bool, interval: Duration = .seconds(3_600), watching paths: [String] = []) {
        self.isThreaded = isThreaded
        self.interval = interval
        self.paths = paths
    }

    func run(_ context: MonitorContext) async throws {
        if self.isThreaded {
            try await context.poll(every: self.interval, watching: self.paths) {
                try await BackgroundThread.run { try self.look(context) }
            }
        } else {
            try await context.poll(every: self.interval, watching: self.paths) { try self.look(context) }
        }
    }

    private func look(_ context: MonitorContext) throws -> Evidence {
        self.looks.withLock { $0 += 1 }
        let sight = self.sight.withLock { $0 }
        if sight == .gone { throw SourceUnavailable("the flag is gone") }
        var evidence = Evidence(at: context.clock.now())
        let result = sight == .there ? ProbeOutcome.Result.connected : .timedOut
        evidence.probes = ProbeRound(outcomes: [ProbeOutcome(target: "flag", result: result)], isComplete: true)
        return evidence
    }
}

@Suite(.timeLimit(.minutes(5))) struct PollTests {
    @Test(arguments: [false, true])
    func looksAtOnceAndAnswersRefreshes(isThreaded: Bool) async throws {
        let run = BackendRun(FlagMonitor(isThreaded: isThreaded))
        try await run.waitForEvidence()
        run.refresh()
        try await run.waitForReports(2)
        try await run.stop()
    }

    @Test(arguments: [false, true])
    func reportsNewsOnly(isThreaded: Bool) async throws {
        let monitor = FlagMonitor(isThreaded: isThreaded, interval: .milliseconds(10))
        let run = BackendRun(monitor)
        while monitor.looks.withLock({ $0 }) < 3 { await Task.yield() }
        #expect(run.reports.count == 1)
        monitor.sight.withLock { $0 = .missing }
        try await run.waitForReports(2)
        try await run.stop()
    }

    @Test(arguments: [false, true])
    func aSourceThatIsGoneEndsNothing(isThreaded: Bool) async throws {
        let monitor = FlagMonitor(isThreaded: isThreaded)
        monitor.sight.withLock { $0 = .gone }
        let run = BackendRun(monitor)
        #expect(try await run.waitForUnavailability() == "the flag is gone")
        monitor.sight.withLock { $0 = .there }
        run.refresh()
        try await run.waitForEvidence()
        try await run.stop()
    }

    @Test(arguments: [false, true])
    func looksWhenAFileChanges(isThreaded: Bool) async throws {
        let directory = try TemporaryDirectory()
        let monitor = FlagMonitor(isThreaded: isThreaded, watching: [directory["flag"]])
        let run = BackendRun(monitor)
        try await run.waitForEvidence()
        monitor.sight.withLock { $0 = .missing }
        try directory.write("flag", "up")
        try await run.waitForReports(2)
        try await run.stop()
    }

    @Test(arguments: [false, true])
    func askedOnceLooksOnce(isThreaded: Bool) async throws {
        let run = BackendRun(FlagMonitor(isThreaded: isThreaded, watching: ["/nowhere"]), asksOnce: true)
        try await run.waitForEnd()
        #expect(run.reports.count == 1)
    }

    @Test func whatALookThrowsEndsTheRun() async throws {
        struct Broken: Error {}
        struct BrokenMonitor: PathMonitor {
            func run(_ context: MonitorContext) async throws {
                try await context.poll(every: .seconds(1)) { throw Broken() }
            }
        }
        let run = BackendRun(BrokenMonitor())
        await #expect(throws: Broken.self) { try await run.waitForEnd() }
    }

    @Test func aStormOfRequestsIsAnsweredWithPauses() async throws {
        let monitor = FlagMonitor(isThreaded: false)
        let run = BackendRun(monitor)
        try await run.waitForEvidence()
        let beganAt = ContinuousClock.now
        while run.reports.count < 5 {
            run.refresh()
            await Task.yield()
        }
        #expect(ContinuousClock.now - beganAt >= PollPause.shortest * 3)
        try await run.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

/// The conformance suite finds a backend that breaks a rule, and accuses none that keeps them.
@Suite(.timeLimit(.minutes(5)))
struct BrokenBackendTests {
    /// A backend made of a function.
    private struct Monitor: PathMonitor {
        let body: @Sendable (MonitorContext) async throws -> Void

        init(_ body: @escaping @Sendable (MonitorContext) async throws -> Void) { self.body = body }

        func run(_ context: MonitorContext) async throws { try await self.body(context) }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static func observe(_ context: MonitorContext) -> Evidence {
        var evidence = Evidence(at: context.clock.now())
        evidence.probes = ProbeRound(
            outcomes: [ProbeOutcome(target: "door", result: .connected)],
            isComplete: true
        )
        return evidence
    }

    /// Does as it should.
    @Sendable private static func good(_ context: MonitorContext) async throws {
        context.report(self.observe(context))
        for await _ in context.refreshRequests { context.report(self.observe(context)) }
    }

    private static let limits: BackendConformance.Limits = {
        var limits = BackendConformance.Limits().extended(by: 5)
        limits.cycles = 20
        // Other tests may hold the threads that would run it.
        limits.cancellation = .seconds(60)
        return limits
    }()

    private static func check(
        _ rules: Set<ConformanceRule> = Set(ConformanceRule.allCases),
        cycles: Int = 20,
        withoutSource: BackendConformance.Make? = nil,
        rest: Duration = .seconds(3),
        silence: Duration = .milliseconds(300),
        _ body: @escaping @Sendable (MonitorContext) async throws -> Void
    ) async -> ConformanceReport {
        var limits = Self.limits
        limits.cycles = cycles
        limits.rest = rest
        limits.silence = silence
        return await BackendConformance("mine", limits: limits, withoutSource: withoutSource) { Monitor(body) }
            .check(rules)
    }

    @Test func aGoodOneConforms() async {
        let report = await Self.check(Set(ConformanceRule.allCases).subtracting([.leaks]), Self.good)
        #expect(report.isConforming && report.description.hasSuffix("mine conforms"), "\(report)")
        #expect(report.findings.count == ConformanceRule.allCases.count - ConformanceRule.ofPrograms.count - 1)
        #expect(report.description.contains("unchecked  missing source"))
    }

    @Test func silence() async {
        var limits = Self.limits
        limits.firstReport = .milliseconds(50)
        let report = await BackendConformance("mute", limits: limits) {
            Monitor { context in for await _ in context.refreshRequests {} }
        }.check()
        #expect(report.failures.count == 1 && report.failures[0].contains("nothing was reported within"), "\(report)")
        #expect(report.description.hasSuffix("mute does not conform: 1 of 13 rules is broken"), "\(report)")
    }

    @Test func anErrorAtTheStartIsToldWithTheLog() async {
        let report = await Self.check { context in
            context.log(.warning, "the modem is asleep")
            throw Failure(description: "no modem")
        }
        #expect(report.failures == ["first report: run(_:) threw before its first report: no modem"])
        #expect(report.description.contains("it logged   warning: the modem is asleep"))
    }

    @Test func anEarlyReturn() async {
        let report = await Self.check([.firstReport]) { _ in }
        #expect(report.failures.first?.contains("returned without a report") == true, "\(report)")
    }

    @Test func refreshesThatAreNotAnswered() async {
        var limits = Self.limits
        limits.refresh = .milliseconds(50)
        let deaf = await BackendConformance("deaf", limits: limits) {
            Monitor { context in
                context.report(Self.observe(context))
                try await Task.sleep(for: .seconds(3_600))
            }
        }.check([.refresh])
        #expect(deaf.failures.first?.contains("was not answered within") == true, "\(deaf)")
        limits.refresh = .seconds(5)
        let lazy = await BackendConformance("lazy", limits: limits) {
            Monitor { context in
                let first = Evidence(at: context.clock.now())
                context.report(first)
                for await _ in context.refreshRequests { context.report(first) }
            }
        }.check([.refresh])
        #expect(lazy.failures.first?.contains("was read before it (observedAt)") == true, "\(lazy)")
    }

    /// A stream that speaks by itself, and says that it cannot be asked.
    @Test func refreshesThatAreRefused() async {
        let report = await Self.check([.firstReport, .refresh, .watchedAddresses]) { context in
            context.takesNoRefreshRequests()
            context.report(Self.observe(context))
            try await Task.sleep(for: .seconds(3_600))
        }
        #expect(report.isConforming, "\(report)")
        #expect(report.findings.map(\.outcome.isUnchecked) == [false, true, true], "\(report)")
    }

    @Test func changesInPlaceOfSnapshots() async {
        let report = await Self.check([.completeSnapshots]) { context in
            context.report(Self.observe(context))
            for await _ in context.refreshRequests { context.report(Evidence(at: context.clock.now())) }
        }
        #expect(report.failures.first?.contains("a later report lacks probes") == true, "\(report)")
    }

    @Test func partsThatDoNotFit() async {
        let wifi = NetworkInterface.wifi("wlan0", 7)
        let report = await Self.check([.completeSnapshots]) { context in
            var evidence = Evidence(at: context.clock.now() + .seconds(60))
            evidence.interfaces = [wifi, wifi, .wifi("wlan1", 2)]
            evidence.referenceRoutes = ReferenceRoute.defaultDestinations.map {
                ReferenceRoute(to: $0, .route(Route(nextHops: [NextHop(interfaceIndex: 9)])))
            }
            context.report(evidence)
            for await _ in context.refreshRequests { context.report(evidence) }
        }
        for word in ["sorted", "same index", "same name", "through interfaces [9]", "in the future"] {
            #expect(report.failures.first?.contains(word) == true, "\(word): \(report)")
        }
    }

    @Test func interfacesThatDoNotExist() async {
        let report = await Self.check([.realInterfaces]) { context in
            var evidence = Evidence(at: context.clock.now())
            evidence.interfaces = [.wifi("ghost0", 4_000_000)]
            evidence.conclusion = Conclusion(.satisfied, PathReason(.stated, "yes"))
            evidence.conclusion?.interface = "ghost1"
            context.report(evidence)
            for await _ in context.refreshRequests { context.report(evidence) }
        }
        for word in ["'ghost0' of index 4000000", "'ghost1'"] {
            #expect(report.failures.first?.contains(word) == true, "\(word): \(report)")
        }
    }

    @Test func unrest() async {
        let alternating = await Self.check([.rest], rest: .seconds(10)) { context in
            while true {
                for status in [PathStatus.satisfied, .unsatisfied] {
                    var evidence = Evidence(at: context.clock.now())
                    evidence.conclusion = Conclusion(status, PathReason(.stated, "maybe"))
                    context.report(evidence)
                    try await context.clock.sleep(until: context.clock.now() + .milliseconds(200))
                }
            }
        }
        #expect(alternating.failures.first?.contains("its verdict changed") == true, "\(alternating)")
        let flooding = await Self.check([.rest]) { context in
            while true {
                // So many that a few turns are a flood.
                for _ in 0..<100 { context.report(Self.observe(context)) }
                try await context.clock.sleep(until: context.clock.now() + .milliseconds(50))
            }
        }
        #expect(flooding.failures.first?.contains("and nothing changed; report what is news") == true, "\(flooding)")
        let ending = await Self.check([.rest]) { context in
            context.report(Self.observe(context))
            try await context.clock.sleep(until: context.clock.now() + .milliseconds(100))
            throw Failure(description: "the line was cut")
        }
        #expect(ending.failures.first?.contains("threw though nothing had happened: the line") == true, "\(ending)")
    }

    /// What it says instead of a report is shown.
    @Test func onlyUnavailable() async {
        var limits = Self.limits
        limits.firstReport = .seconds(5)
        let report = await BackendConformance("blind", limits: limits) {
            Monitor { context in
                context.reportUnavailable("no modem")
                for await _ in context.refreshRequests {}
            }
        }.check()
        #expect(report.failures.first?.contains("nothing to go by (no modem)") == true, "\(report)")
        #expect(report.messages == ["unavailable: no modem"])
    }

    @Test func unknownThatMeansNo() async {
        let report = await Self.check([.unknownIsNotNo]) { context in
            var evidence = Evidence(at: context.clock.now())
            evidence.probes = ProbeRound(outcomes: [], isComplete: true)
            context.report(evidence)
            for await _ in context.refreshRequests { context.report(evidence) }
        }
        #expect(report.failures.first?.contains("complete without an outcome") == true, "\(report)")
    }

    /// Whoever ignores cancellation is not started again and again.
    @Test func noEnd() async {
        var limits = Self.limits
        limits.cancellation = .milliseconds(50)
        let (gate, door) = AsyncStream.makeStream(of: Void.self)
        let report = await BackendConformance("stubborn", limits: limits) {
            Monitor { context in
                context.report(Self.observe(context))
                // A task of its own, which nobody cancels.
                await Task.detached { for await _ in gate {} }.value
            }
        }.check()
        door.finish()
        #expect(report.failures.first?.contains("after its task was cancelled") == true, "\(report)")
        #expect(report.failures.count == 1 && report.findings.last?.outcome.isUnchecked == true, "\(report)")
    }

    @Test func anErrorAtTheEnd() async {
        let report = await Self.check([.cancellation]) { context in
            context.report(Self.observe(context))
            for await _ in context.refreshRequests {}
            throw Failure(description: "the line was cut")
        }
        #expect(report.failures.first?.contains("threw the line was cut") == true, "\(report)")
    }

    @Test func wordsAfterTheEnd() async {
        let isOver = Mutex(false)
        let report = await Self.check([.silence], silence: .seconds(3)) { context in
            context.report(Self.observe(context))
            // A thread that is there, and that goes on: one that begins to speak then, or speaks once, may come when the
            // check is over, or before run(_:) has returned.
            let isEnding = Atomic(false)
            _ = BackgroundThread.start {
                while !isOver.withLock(\.self) {
                    usleep(5_000)
                    if isEnding.load(ordering: .relaxed) { context.report(Self.observe(context)) }
                }
            }
            for await _ in context.refreshRequests {}
            isEnding.store(true, ordering: .relaxed)
        }
        isOver.withLock { $0 = true }
        #expect(report.failures.first?.contains("reported after run(_:) had ended") == true, "\(report)")
    }

    @Test func onlyOneRun() async {
        let hasRun = Mutex(false)
        let monitor = Monitor { context in
            let isSecond = hasRun.withLock { hasRun in
                defer { hasRun = true }
                return hasRun
            }
            if isSecond { throw Failure(description: "the stream is used up") }
            try await Self.good(context)
        }
        let report = await BackendConformance("once", limits: Self.limits) { monitor }.check([.restart])
        #expect(report.failures.first?.contains("the stream is used up") == true, "\(report)")
    }

    @Test func withoutItsSource() async {
        let failing: BackendConformance.Make = { Monitor { _ in throw Failure(description: "no modem") } }
        let kept = await Self.check([.missingSource], withoutSource: failing, Self.good)
        #expect(kept.isConforming, "\(kept)")
        let broken = await Self.check([.missingSource], withoutSource: { Monitor(Self.good) }, Self.good)
        #expect(broken.failures.first?.contains("without its source it says satisfied") == true, "\(broken)")
        let idle = await Self.check([.missingSource], withoutSource: { Monitor { _ in } }, Self.good)
        #expect(idle.failures.first?.contains("returned as if all was well") == true, "\(idle)")
    }

    @Test func leaks() async {
        let kept = Mutex<[Int32]>([])
        let report = await Self.check([.leaks], cycles: 200) { context in
            // More than the suites beside this one may close meanwhile.
            kept.withLock { $0 += [dup(1), dup(1), dup(1)] }
            try await Self.good(context)
        }
        for descriptor in kept.withLock(\.self) { close(descriptor) }
        #expect(report.failures.first?.contains("descriptors: ") == true, "\(report)")
    }

    @Test func leakedMemory() async {
        let kept = Mutex<[[UInt8]]>([])
        let report = await Self.check([.leaks], cycles: 500) { context in
            kept.withLock { $0.append([UInt8](repeating: 1, count: 100_000)) }
            try await Self.good(context)
        }
        #expect(report.failures.first?.contains("memory: ") == true, "\(report)")
    }
}

extension ConformanceFinding.Outcome {
    fileprivate var isUnchecked: Bool { if case .unchecked = self { true } else { false } }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation
import Testing

@testable import NetPathCLI

@Suite struct OneShotCommandTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String { "denied" }
    }

    /// Says one thing, or nothing, or fails.
    private struct Speaker: PathMonitor {
        enum Manner: Sendable {
            case says(Evidence)
            case corrects(Evidence, after: Evidence)
            case fails
            case silent
        }

        var manner: Manner

        func run(_ context: MonitorContext) async throws {
            switch self.manner {
            case .says(let evidence): context.report(evidence)
            case .corrects(let evidence, let first):
                context.report(first)
                try await context.clock.sleep(until: context.clock.now() + .milliseconds(200))
                context.report(evidence)
            case .fails: throw Failure()
            case .silent: break
            }
            try await Task.sleep(for: .seconds(3_600))
        }
    }

    private func ask(_ manners: Speaker.Manner..., limit: Duration = .seconds(30)) throws -> OneShotCommand {
        let loop = try EventLoop()
        let backends = manners.enumerated().map { Backend("b\($0)", monitor: Speaker(manner: $1)) }
        return OneShotCommand.ask(
            PathCoordinator(backends: backends, clock: loop, executor: loop),
            on: loop,
            limit: limit
        )
    }

    /// Asks for a short time, and again where no backend of a busy machine spoke meanwhile.
    private func askAgain(_ first: Speaker.Manner, _ last: Speaker.Manner) throws -> OneShotCommand {
        let limit: Duration = .milliseconds(300)
        var answer = try self.ask(first, last, limit: limit)
        for _ in 0..<4 {
            let health = answer.snapshot.backends.map(\.health)
            if answer.snapshot.path != nil, health.last == .healthy { break }
            answer = try self.ask(first, last, limit: limit)
        }
        return answer
    }

    @Test func theFirstWordOfEachIsEnough() throws {
        let blind = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        let answer = try self.ask(.says(blind), .says(Fixtures.routed), .fails)
        #expect(answer.snapshot.path?.status == .unsatisfied)
        #expect(answer.snapshot.backends.map(\.health) == [.healthy, .healthy, .unhealthy])
        #expect(answer.snapshot.backends.last?.error == "denied")
        #expect(answer.explained.backend == "b0")
        #expect(answer.explained.explanation?.remedies.isEmpty == false)
    }

    @Test func theSilentOneDoesNotHideTheOthers() throws {
        let answer = try self.askAgain(.silent, .says(Fixtures.routed))
        #expect(answer.snapshot.path?.status == .satisfied)
        #expect(answer.snapshot.backends.map(\.health) == [.starting, .healthy])
        #expect(answer.explained.backend == "b1")
        #expect(answer.snapshot.backends.first?.error == "said nothing within 300ms")
        #expect(answer.snapshot.document.line.contains("said nothing within 300ms"))
    }

    private static func probing(_ outcomes: ProbeOutcome..., isComplete: Bool) -> Evidence {
        var evidence = Evidence(at: Fixtures.now)
        evidence.probes = ProbeRound(outcomes: outcomes, isComplete: isComplete)
        return evidence
    }

    @Test func aRoundUnderWayIsNoWordYet() throws {
        let answered = Self.probing(ProbeOutcome(target: "a:1", result: .refused), isComplete: false)
        let first = Self.probing(ProbeOutcome(target: "b:1", result: .timedOut), isComplete: false)
        let answer = try self.ask(.says(Fixtures.routed), .corrects(answered, after: first))
        #expect(answer.snapshot.path?.internet == .reachable)
        #expect(answer.snapshot.backends.last?.limitations == [])
        // Probes decide nothing here, and are told all the same.
        #expect(answer.explained.backend == "b0")
        let evidence = answer.explained.explanation?.evidence
        #expect(evidence?.last == "Probe of a:1: refused the connection (b1)")
    }

    @Test func aRoundThatDoesNotEndIsSaid() throws {
        let endless = Self.probing(isComplete: false)
        let answer = try self.askAgain(.says(Fixtures.routed), .says(endless))
        #expect(answer.snapshot.path?.status == .satisfied)
        let limitations = ["its probes did not end within 300ms"]
        #expect(answer.snapshot.backends.last?.limitations == limitations)
    }

    /// Evidence that allows no verdict publishes no path, and is a first report all the same.
    @Test func withoutOpinion() throws {
        let answer = try self.ask(.says(Fixtures.evidence([Fixtures.interface()], ipv4: .unknown)), .fails)
        #expect(answer.snapshot.path == nil)
        #expect(answer.snapshot.backends.map(\.health) == [.healthy, .unhealthy])
        #expect(ToolStatus(answer.snapshot.path) == .unavailable)
        #expect(answer.explained.explanation?.rule.hasPrefix("No rule applies") == true)
    }

    @Test func nobodyIsConfigured() throws {
        let answer = try self.ask()
        #expect(answer.snapshot.path == nil)
        #expect(answer.explained.document.line.contains(#""backend":null,"rule":null,"evidence":[]"#))
    }
}

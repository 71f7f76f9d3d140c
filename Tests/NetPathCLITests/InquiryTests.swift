// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathCLI

@Suite struct InquiryTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String { "denied" }
    }

    /// Says one thing, or nothing, or fails.
    private struct Speaker: PathMonitor {
        enum Manner: Sendable {
            case says(Observation)
            case corrects(Observation, after: Observation)
            case fails
            case silent
        }

        var manner: Manner

        func run(_ context: MonitorContext) async throws {
            switch self.manner {
            case .says(let observation): context.report(observation)
            case .corrects(let observation, let first):
                context.report(first)
                try await context.clock.sleep(until: context.clock.now() + .milliseconds(200))
                context.report(observation)
            case .fails: throw Failure()
            case .silent: break
            }
            try await Task.sleep(for: .seconds(3_600))
        }
    }

    private func ask(_ manners: Speaker.Manner..., limit: Duration = .seconds(30)) throws -> Inquiry {
        let loop = try EventLoop()
        let backends = manners.enumerated().map { Backend("b\($0)", monitor: Speaker(manner: $1)) }
        return Inquiry.ask(PathCoordinator(backends: backends, clock: loop, executor: loop), on: loop, limit: limit)
    }

    @Test func theFirstWordOfEachIsEnough() throws {
        let blind = Fixtures.observation([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        let inquiry = try self.ask(.says(blind), .says(Fixtures.routed), .fails)
        #expect(inquiry.snapshot.path?.status == .unsatisfied)
        #expect(inquiry.snapshot.backends.map(\.health) == [.healthy, .healthy, .unhealthy])
        #expect(inquiry.snapshot.backends.last?.error == "denied")
        #expect(inquiry.explained.backend == "b0")
        #expect(inquiry.explained.explanation?.remedies.isEmpty == false)
    }

    @Test func theSilentOneDoesNotHideTheOthers() throws {
        let inquiry = try self.ask(.silent, .says(Fixtures.routed), limit: .milliseconds(300))
        #expect(inquiry.snapshot.path?.status == .satisfied)
        #expect(inquiry.snapshot.backends.map(\.health) == [.starting, .healthy])
        #expect(inquiry.explained.backend == "b1")
        #expect(inquiry.snapshot.backends.first?.error == "said nothing within 300ms")
        #expect(inquiry.snapshot.document.line.contains("said nothing within 300ms"))
    }

    private static func probing(_ outcomes: ProbeOutcome..., isComplete: Bool) -> Observation {
        var observation = Observation(at: Fixtures.now)
        observation.probes = ProbeRound(outcomes: outcomes, isComplete: isComplete)
        return observation
    }

    @Test func aRoundUnderWayIsNoWordYet() throws {
        let answered = Self.probing(ProbeOutcome(target: "a:1", result: .refused), isComplete: false)
        let first = Self.probing(ProbeOutcome(target: "b:1", result: .timedOut), isComplete: false)
        let inquiry = try self.ask(.says(Fixtures.routed), .corrects(answered, after: first))
        #expect(inquiry.snapshot.path?.internet == .reachable)
        #expect(inquiry.snapshot.backends.last?.limitations == [])
        // Probes decide nothing here, and are told all the same.
        #expect(inquiry.explained.backend == "b0")
        let evidence = inquiry.explained.explanation?.evidence
        #expect(evidence?.last == "Probe of a:1: refused the connection, so the network works (b1)")
    }

    @Test func aRoundThatDoesNotEndIsSaid() throws {
        let endless = Self.probing(isComplete: false)
        let inquiry = try self.ask(.says(Fixtures.routed), .says(endless), limit: .milliseconds(300))
        #expect(inquiry.snapshot.path?.status == .satisfied)
        let limitations = ["an answer to its probes, which did not end within 300ms"]
        #expect(inquiry.snapshot.backends.last?.limitations == limitations)
    }

    /// Evidence that allows no verdict publishes no path, and is a first word all the same.
    @Test func withoutOpinion() throws {
        let inquiry = try self.ask(.says(Fixtures.observation([Fixtures.interface()], ipv4: .unknown)), .fails)
        #expect(inquiry.snapshot.path == nil)
        #expect(inquiry.snapshot.backends.map(\.health) == [.healthy, .unhealthy])
        #expect(ToolStatus(inquiry.snapshot.path) == .noOpinion)
        #expect(inquiry.explained.explanation?.rule.hasPrefix("No rule applies") == true)
    }

    @Test func nobodyIsConfigured() throws {
        let inquiry = try self.ask()
        #expect(inquiry.snapshot.path == nil)
        #expect(inquiry.explained.document.line.contains(#""backend":null,"rule":null,"evidence":[]"#))
    }
}

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
            case fails
            case silent
        }

        var manner: Manner

        func run(_ context: MonitorContext) async throws {
            switch self.manner {
            case .says(let observation): context.report(observation)
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

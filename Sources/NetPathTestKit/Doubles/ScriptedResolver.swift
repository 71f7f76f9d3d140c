// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A test double of the kernel: answers questions about routes as the test says, and records them.
///
/// Thread-safe. A backend offers it, for example `ScriptedMonitor(_:resolver:)`. Clients see changed answers when they
/// ask again; the backend has to report that routes changed (`MonitorContext.routesChanged()`), as a real one does.
public final class ScriptedResolver: RouteResolver {
    /// What can be asked.
    public struct Question: Hashable, Sendable {
        /// Where the packet goes.
        public var destination: InternetAddress
        /// The index of the interface that it has to leave through; nil to leave the choice to the kernel.
        public var interface: UInt32?

        /// Creates a question.
        public init(_ destination: InternetAddress, through interface: UInt32? = nil) {
            self.destination = destination
            self.interface = interface
        }
    }

    private struct State: Sendable {
        var answers: [Question: RouteLookupResult] = [:]
        var questions: [Question] = []
    }

    private let fallback: RouteLookupResult
    private let state = AwaitableState(State())

    /// Creates a resolver.
    ///
    /// - Parameter fallback: The answer to everything that has none of its own.
    public init(_ fallback: RouteLookupResult = .noRoute) {
        self.fallback = fallback
    }

    /// Sets the answer to a question; an address that is none stops the program.
    public func answer(_ destination: String, through interface: UInt32? = nil, with answer: RouteLookupResult) {
        let question = Question(.fixture(destination), through: interface)
        self.state.update { $0.answers[question] = answer }
    }

    /// The questions so far, in order.
    public var questions: [Question] { self.state.value.questions }

    /// Suspends until a question about an address has come.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForQuestion(about destination: InternetAddress) async throws {
        try await self.state.wait { $0.questions.contains { $0.destination == destination } }
    }

    /// Answers from the script.
    public func route(to destination: InternetAddress, through interface: UInt32?) -> RouteLookupResult {
        let question = Question(destination, through: interface)
        return self.state.update { state in
            state.questions.append(question)
            return state.answers[question] ?? self.fallback
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A backend that does what the test says, and records what was asked of it.
///
/// Thread-safe, and good for any number of runs, one at a time. What it sees is set with ``report(_:)`` and reported
/// again at the start of every run and for every refresh request, as the rules of `PathMonitor` ask; without
/// anything to see it stays silent.
public final class ScriptedMonitor: PathMonitor {
    /// A failure with a sentence for people.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The sentence.
        public let description: String

        /// Creates a failure.
        public init(_ description: String) {
            self.description = description
        }
    }

    private struct State: Sendable {
        var evidence: Evidence?
        var version = 0
        var answersRefreshes = true
        var context: MonitorContext?
        var runs = 0
        var endedRuns = 0
        var end: Result<Void, any Error>?
        var refreshRequests = 0
        var watchedAddresses: [Set<InternetAddress>] = []
    }

    private let state: AwaitableState<State>
    private let resolver: (any RouteResolver)?

    /// Creates a monitor that sees something from the start, or stays silent.
    ///
    /// - Parameters:
    ///   - evidence: What it sees.
    ///   - resolver: What it offers to answer questions about hosts with, such as a ``ScriptedResolver``; nil for nothing.
    public init(_ evidence: Evidence? = nil, resolver: (any RouteResolver)? = nil) {
        self.resolver = resolver
        self.state = AwaitableState(State(evidence: evidence))
    }

    // MARK: Driving

    /// Sets what the monitor sees, and reports it when a run is under way.
    public func report(_ evidence: Evidence) {
        let context = self.state.update { state in
            state.evidence = evidence
            state.version += 1
            return state.context
        }
        context?.report(evidence)
    }

    /// Makes the next runs silent until ``report(_:)`` is called.
    public func fallSilent() {
        self.state.update { state in
            state.evidence = nil
            state.version += 1
        }
    }

    /// Whether refresh requests are answered; a monitor that does not looks wedged.
    public var answersRefreshes: Bool {
        get { self.state.value.answersRefreshes }
        set { self.state.update { $0.answersRefreshes = newValue } }
    }

    /// Ends the current run with an error; without one, the next run as soon as it has started.
    public func fail(_ message: String) {
        self.state.update { $0.end = .failure(Failure(message)) }
    }

    /// Ends the current run without an error; without one, the next run as soon as it has started.
    public func finish() {
        self.state.update { $0.end = .success(()) }
    }

    // MARK: Records

    /// What the coordinator offers the current run, or offered the last one; nil before the first.
    public var context: MonitorContext? { self.state.value.context }

    /// How often the monitor was started.
    public var runs: Int { self.state.value.runs }

    /// How many runs have ended, by script or by cancellation.
    public var endedRuns: Int { self.state.value.endedRuns }

    /// How many refresh requests arrived, in all runs.
    public var refreshRequests: Int { self.state.value.refreshRequests }

    /// The sets of watched addresses that arrived, in all runs.
    public var watchedAddresses: [Set<InternetAddress>] { self.state.value.watchedAddresses }

    // MARK: Waiting

    /// Suspends until a run is under way and has reported what there is to see; runs count from 1.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForRun(_ number: Int = 1) async throws {
        try await self.state.wait { $0.runs >= number && $0.context != nil }
    }

    /// Suspends until a number of runs has ended.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForEnd(ofRun number: Int = 1) async throws {
        try await self.state.wait { $0.endedRuns >= number }
    }

    /// Suspends until a number of refresh requests has arrived.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForRefreshRequests(_ count: Int = 1) async throws {
        try await self.state.wait { $0.refreshRequests >= count }
    }

    /// Suspends until a set of watched addresses has arrived.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForWatchedAddresses(_ addresses: Set<InternetAddress>) async throws {
        try await self.state.wait { $0.watchedAddresses.last == addresses }
    }

    // MARK: Running

    /// Follows the script until it ends the run, or until cancelled.
    ///
    /// - Throws: What the script says.
    public func run(_ context: MonitorContext) async throws {
        self.state.update { state in
            state.runs += 1
            state.context = nil
        }
        defer { self.state.update { $0.endedRuns += 1 } }
        if let resolver { context.register(resolver) }
        self.reportFirst(context)
        let end = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.answerRefreshes(context) }
            group.addTask {
                for await addresses in context.watchedAddresses {
                    self.state.update { $0.watchedAddresses.append(addresses) }
                }
            }
            group.addTask { try await self.state.wait { $0.end != nil } }
            defer { group.cancelAll() }
            // The streams end with the coordinator, the run by script or by cancellation.
            while true {
                if let end = self.state.update({ $0.end.take() }) { return end }
                _ = try await group.next()
            }
        }
        try end.get()
    }

    /// Reports until nothing newer came in meanwhile; only then does `report` go through the context.
    private func reportFirst(_ context: MonitorContext) {
        var reported: Int?
        while true {
            let newer: Evidence?? = self.state.update { state in
                guard state.version != reported else {
                    state.context = context
                    return nil
                }
                reported = state.version
                return .some(state.evidence)
            }
            guard let newer else { return }
            if let newer { context.report(newer) }
        }
    }

    private func answerRefreshes(_ context: MonitorContext) async {
        for await _ in context.refreshRequests {
            let answer = self.state.update { state in
                state.refreshRequests += 1
                return state.answersRefreshes ? state.evidence : nil
            }
            if let answer { context.report(answer) }
        }
    }
}

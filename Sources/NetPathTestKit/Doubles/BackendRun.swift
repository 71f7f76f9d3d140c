// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// One backend that runs without a coordinator, and everything it says.
///
/// ```swift
/// let run = BackendRun(ModemMonitor(port))
/// let observation = try await run.waitForObservation { $0.interfaces?.isEmpty == false }
/// ```
///
/// Thread-safe. It ends with ``stop()``, or when nobody holds it any more.
public final class BackendRun: Sendable {
    private struct State: Sendable {
        var observations: [Observation] = []
        var resolver: (any RouteResolver)?
        var routeChanges = 0
        var messages: [String] = []
        var end: Result<Void, any Error>?
    }

    private let state = AwaitableState(State())
    private let refreshRequests: AsyncStream<Void>.Continuation
    private let watchedAddresses: AsyncStream<Set<IPAddress>>.Continuation
    private let task: Task<Void, Never>

    /// Starts a backend.
    ///
    /// - Parameters:
    ///   - monitor: The backend.
    ///   - clock: The clock of observations and deadlines.
    ///   - asksOnce: Whether it is asked for the present state only.
    ///   - interfaceRules: What the configuration says of interfaces.
    public init(
        _ monitor: any PathMonitor,
        clock: any MonotonicClock = SystemMonotonicClock(),
        asksOnce: Bool = false,
        interfaceRules: [InterfaceRule] = []
    ) {
        let refreshes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let addresses = AsyncStream.makeStream(of: Set<IPAddress>.self, bufferingPolicy: .bufferingNewest(1))
        addresses.continuation.yield([])
        self.refreshRequests = refreshes.continuation
        self.watchedAddresses = addresses.continuation
        let state = self.state
        let context = MonitorContext(
            clock: clock,
            refreshRequests: refreshes.stream,
            watchedAddresses: addresses.stream,
            asksOnce: asksOnce,
            report: { observation in state.update { $0.observations.append(observation) } },
            offer: { resolver in state.update { $0.resolver = resolver } },
            routesChanged: { state.update { $0.routeChanges += 1 } },
            interfaceRules: { interfaceRules },
            log: { level, message in state.update { $0.messages.append("\(level): \(message)") } }
        )
        self.task = Task {
            let end: Result<Void, any Error>
            do { end = .success(try await monitor.run(context)) } catch { end = .failure(error) }
            state.update { $0.end = end }
        }
    }

    deinit {
        self.task.cancel()
    }

    /// Ends the backend, and waits until it has ended.
    ///
    /// - Throws: What it threw, other than `CancellationError`.
    public func stop() async throws {
        self.task.cancel()
        try await self.waitForEnd()
    }

    /// Asks the backend to read everything again.
    public func refresh() { self.refreshRequests.yield() }

    /// Tells the backend which hosts somebody asks about.
    public func watch(_ addresses: Set<IPAddress>) { self.watchedAddresses.yield(addresses) }

    // MARK: Records

    /// What it reported so far, in order.
    public var observations: [Observation] { self.state.value.observations }

    /// What it offers to answer questions about hosts with; nil when it offers nothing, or not yet.
    public var resolver: (any RouteResolver)? { self.state.value.resolver }

    /// How often it said that routes may have changed without reporting anything.
    public var routeChanges: Int { self.state.value.routeChanges }

    /// What it said to the operator, as `warning: text`.
    public var messages: [String] { self.state.value.messages }

    // MARK: Waiting

    /// Suspends until something is reported that meets a condition, or was before, and returns it.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForObservation(
        where condition: @escaping @Sendable (Observation) -> Bool = { _ in true }
    ) async throws -> Observation {
        try await self.state.wait { $0.end != nil || $0.observations.contains(where: condition) }
        let state = self.state.value
        if let observation = state.observations.first(where: condition) { return observation }
        try state.end?.get()
        throw CancellationError()
    }

    /// Suspends until a number of observations was reported, and returns all so far.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForObservations(_ count: Int) async throws -> [Observation] {
        try await self.state.wait { $0.end != nil || $0.observations.count >= count }
        let state = self.state.value
        guard state.observations.count < count else { return state.observations }
        try state.end?.get()
        throw CancellationError()
    }

    /// Suspends until the backend has ended.
    ///
    /// - Throws: What it threw, other than `CancellationError`; that one when the waiting task is cancelled first.
    public func waitForEnd() async throws {
        try await self.state.wait { $0.end != nil }
        do { try self.state.value.end?.get() } catch is CancellationError {}
    }
}

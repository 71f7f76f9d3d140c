// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// One backend that runs without a coordinator, and everything it says.
///
/// ```swift
/// let run = BackendRun(ModemMonitor(port))
/// let evidence = try await run.waitForReport { $0.interfaces?.isEmpty == false }
/// ```
///
/// Thread-safe. It ends with ``stop()``, or when it is released.
public final class BackendRun: Sendable {
    private struct State: Sendable {
        var reports: [Evidence] = []
        var unavailabilities: [String] = []
        var metrics: [BackendMetric] = []
        var resolver: (any RouteResolver)?
        var routeChanges = 0
        var takesRefreshRequests = true
        var messages: [String] = []
        var end: Result<Void, any Error>?
    }

    private let state = AwaitableState(State())
    private let refreshRequests: AsyncStream<Void>.Continuation
    private let watchedAddresses: AsyncStream<Set<InternetAddress>>.Continuation
    private let task: Task<Void, Never>

    /// Starts a backend.
    ///
    /// - Parameters:
    ///   - monitor: The backend.
    ///   - clock: The clock of evidence and deadlines.
    ///   - asksOnce: Whether it is asked for the present state only.
    ///   - interfaceRules: What the configuration says of interfaces.
    ///   - isMetered: Whether the path is expensive or constrained.
    public init(
        _ monitor: any PathMonitor,
        clock: any MonotonicClock = SystemMonotonicClock(),
        asksOnce: Bool = false,
        interfaceRules: [InterfaceRule] = [],
        isMetered: Bool = false
    ) {
        let refreshes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let addresses = AsyncStream.makeStream(of: Set<InternetAddress>.self, bufferingPolicy: .bufferingNewest(1))
        addresses.continuation.yield([])
        self.refreshRequests = refreshes.continuation
        self.watchedAddresses = addresses.continuation
        let state = self.state
        let context = MonitorContext(
            clock: clock,
            refreshRequests: refreshes.stream,
            watchedAddresses: addresses.stream,
            asksOnce: asksOnce,
            report: { evidence in state.update { $0.reports.append(evidence) } },
            reportUnavailable: { sentence in state.update { $0.unavailabilities.append(sentence) } },
            reportMetrics: { metrics in state.update { $0.metrics = metrics } },
            register: { resolver in state.update { $0.resolver = resolver } },
            routesChanged: { state.update { $0.routeChanges += 1 } },
            takesNoRefreshRequests: { state.update { $0.takesRefreshRequests = false } },
            interfaceRules: { interfaceRules },
            isMetered: { _ in isMetered },
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

    /// Tells the backend which hosts clients watch.
    public func watch(_ addresses: Set<InternetAddress>) { self.watchedAddresses.yield(addresses) }

    // MARK: Records

    /// What it reported so far, in order.
    public var reports: [Evidence] { self.state.value.reports }

    /// Why it could say nothing, as often as it said so (`MonitorContext.reportUnavailable`), in order.
    public var unavailabilities: [String] { self.state.value.unavailabilities }

    /// The numbers that it gives (`MonitorContext.reportMetrics`).
    public var metrics: [BackendMetric] { self.state.value.metrics }

    /// Whether it has ended, by itself or because it was told to.
    public var hasEnded: Bool { self.state.value.end != nil }

    /// What it offers to answer questions about hosts with; nil when it offers nothing, or not yet.
    public var resolver: (any RouteResolver)? { self.state.value.resolver }

    /// How often it said that routes may have changed without reporting anything.
    public var routeChanges: Int { self.state.value.routeChanges }

    /// Whether it answers refresh requests: unless it says that it does not (`MonitorContext.takesNoRefreshRequests`).
    public var takesRefreshRequests: Bool { self.state.value.takesRefreshRequests }

    /// What it said to the operator, as `warning: text`.
    public var messages: [String] { self.state.value.messages }

    // MARK: Waiting

    /// Suspends until something is reported that meets a condition, or was before, and returns it.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForEvidence(
        where condition: @escaping @Sendable (Evidence) -> Bool = { _ in true }
    ) async throws -> Evidence {
        try await self.first { $0.reports.first(where: condition) }
    }

    /// Suspends until a number of evidence was reported, and returns all so far.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForReports(_ count: Int) async throws -> [Evidence] {
        try await self.first { $0.reports.count >= count ? $0.reports : nil }
    }

    /// Suspends until the backend says that its source is gone, or returns at once when it did, and returns the sentence.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForUnavailability() async throws -> String {
        try await self.first { $0.unavailabilities.last }
    }

    /// Suspends until the backend gives numbers that meet a condition, and returns them.
    ///
    /// - Throws: What the backend threw, or `CancellationError`, when it ends or the task is cancelled first.
    @discardableResult
    public func waitForMetrics(
        where condition: @escaping @Sendable ([BackendMetric]) -> Bool
    ) async throws -> [BackendMetric] {
        try await self.first { condition($0.metrics) ? $0.metrics : nil }
    }

    /// Suspends until the backend has ended.
    ///
    /// - Throws: What it threw, other than `CancellationError`; that one when the waiting task is cancelled first.
    public func waitForEnd() async throws {
        try await self.state.wait { $0.end != nil }
        do { try self.state.value.end?.get() } catch is CancellationError {}
    }

    /// Suspends until something is found in what the backend said, which may be when it ends.
    private func first<Value: Sendable>(_ find: @escaping @Sendable (State) -> Value?) async throws -> Value {
        try await self.state.wait { $0.end != nil || find($0) != nil }
        let state = self.state.value
        if let value = find(state) { return value }
        try state.end?.get()
        throw CancellationError()
    }
}

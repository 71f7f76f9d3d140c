// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a coordinator offers a running backend.
public struct MonitorContext: Sendable {
    /// The clock of observations and deadlines.
    public let clock: any MonotonicClock

    /// Requests to read everything again and report, even when nothing changed.
    ///
    /// Sent when the machine resumed, another backend saw a change, or the user asked. Requests that are not taken in
    /// time merge into one. For one consumer.
    public let refreshRequests: AsyncStream<Void>

    /// The hosts somebody asks about, besides the backend's own representative addresses.
    ///
    /// The current set first; sets that are not taken in time are replaced by the newest. A backend that notices changes
    /// of routes to them says ``routesChanged()``, or reports, once it does so for a new set. For one consumer.
    public let watchedAddresses: AsyncStream<Set<IPAddress>>

    /// What the configuration says of interfaces at this moment, the first rule that matches first.
    ///
    /// What the rules mean is for the evaluation to say; a backend needs them to know which interfaces it must not leave
    /// out (``InterfaceRelevance``). New ones come with a refresh request. Callable from any thread.
    public var interfaceRules: [InterfaceRule] { self.rules() }

    /// Whether somebody asks for the present state only, and not for its changes.
    ///
    /// A backend may return once it has reported in full, which is no failure then, and should open nothing that tells of
    /// changes: to close it may take the kernel longer than the whole answer. What it offered must go on answering.
    public let asksOnce: Bool

    private let reporter: @Sendable (Observation) -> Void
    private let acceptor: @Sendable (any RouteResolver) -> Void
    private let routeNotice: @Sendable () -> Void
    private let rules: @Sendable () -> [InterfaceRule]
    private let logger: @Sendable (LogLevel, String) -> Void

    /// Creates a context from its parts; coordinators and test kits do, backends do not.
    public init(
        clock: any MonotonicClock,
        refreshRequests: AsyncStream<Void>,
        watchedAddresses: AsyncStream<Set<IPAddress>>,
        asksOnce: Bool = false,
        report: @escaping @Sendable (Observation) -> Void,
        offer: @escaping @Sendable (any RouteResolver) -> Void,
        routesChanged: @escaping @Sendable () -> Void = {},
        interfaceRules: @escaping @Sendable () -> [InterfaceRule] = { [] },
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        self.clock = clock
        self.refreshRequests = refreshRequests
        self.watchedAddresses = watchedAddresses
        self.asksOnce = asksOnce
        self.reporter = report
        self.acceptor = offer
        self.routeNotice = routesChanged
        self.rules = interfaceRules
        self.logger = log
    }

    /// Reports what the backend sees; callable from any thread, never blocks on consumers' queues.
    ///
    /// The path is merged before the call returns, and callbacks run on this thread, unless another one is delivering.
    /// Nobody takes the backend for silent meanwhile, however long they take.
    public func report(_ observation: Observation) {
        self.reporter(observation)
    }

    /// Offers to answer what the kernel would do with a packet to any address, for as long as the backend runs; where it
    /// is asked once, also afterwards.
    public func offer(_ resolver: any RouteResolver) {
        self.acceptor(resolver)
    }

    /// Says that routes to ``watchedAddresses`` may have changed though there is nothing new to report.
    ///
    /// Whoever asks about such a host asks again; no path is made. Callable from any thread.
    public func routesChanged() {
        self.routeNotice()
    }

    /// Says something to the operator; callable from any thread.
    public func log(_ level: LogLevel, _ message: String) {
        self.logger(level, message)
    }
}

/// How much a message matters to an operator.
public enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
    /// For those who look for a fault.
    case debug
    /// Worth knowing.
    case info
    /// Something is missing, and the program goes on without it.
    case warning
    /// Something failed.
    case error

    /// Whether the left level matters less than the right one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

/// Answers what the kernel would do with a packet, at the moment of asking.
public protocol RouteResolver: Sendable {
    /// Asks about one destination; synchronous, callable from any thread.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The kernel's index of the interface that it has to leave through, as with the zone of a link-local
    ///     address or a socket that is bound to a device; nil to leave the choice to the kernel. Then a route through
    ///     another interface is no answer: without one through this, it is ``RouteAnswer/noRoute``.
    /// - Returns: The answer; ``RouteAnswer/unknown`` from a resolver that cannot ask about one interface only.
    func route(to destination: IPAddress, through interface: UInt32?) -> RouteAnswer
}

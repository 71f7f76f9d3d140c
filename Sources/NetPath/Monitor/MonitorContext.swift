// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a coordinator offers a running backend.
public struct MonitorContext: Sendable {
    /// The clock of evidence and deadlines.
    public let clock: any MonotonicClock

    /// Requests to read everything again and report, even when nothing changed.
    ///
    /// Sent when the machine resumed, another backend saw a change, or the user asked. Requests that are not taken in
    /// time merge into one. For one consumer.
    public let refreshRequests: AsyncStream<Void>

    /// The hosts that clients watch, besides the backend's own reference addresses.
    ///
    /// The current set first; sets that are not taken in time are replaced by the newest. A backend that notices changes
    /// of routes to them says ``routesChanged()``, or reports, once it does so for a new set. For one consumer.
    public let watchedAddresses: AsyncStream<Set<InternetAddress>>

    /// What the configuration says of interfaces at this moment, the first rule that matches first.
    ///
    /// What the rules mean is for the evaluation to say; a backend needs them to know which interfaces it must not leave
    /// out (``InterfaceRelevance``). New ones come with a refresh request. Callable from any thread.
    public var interfaceRules: [InterfaceRule] { self.rules() }

    /// Whether the present state is all that is asked for, without its changes.
    ///
    /// A backend may return once it has reported in full, which is no failure then, and should open nothing that tells of
    /// changes: to close it may take the kernel longer than the whole answer. What it offered must go on answering.
    public let asksOnce: Bool

    /// Whether changes of files are of interest, such as those of the resolver's configuration.
    ///
    /// Where they are not, a backend that also hears of changes otherwise opens no watcher of files: a
    /// program that ends with the next change would wait until the kernel has closed it (`inotify(7)`: 8 ms and more).
    public let watchesFiles: Bool

    private let reporter: @Sendable (Evidence) -> Void
    private let unavailability: @Sendable (String) -> Void
    private let metricReporter: @Sendable ([BackendMetric]) -> Void
    private let acceptor: @Sendable (any RouteResolver) -> Void
    private let routeNotice: @Sendable () -> Void
    private let refreshNotice: @Sendable () -> Void
    private let rules: @Sendable () -> [InterfaceRule]
    private let metering: @Sendable (String?) -> Bool
    private let logger: @Sendable (LogLevel, String) -> Void

    /// Creates a context from its parts; coordinators and test kits do, backends do not.
    public init(
        clock: any MonotonicClock,
        refreshRequests: AsyncStream<Void>,
        watchedAddresses: AsyncStream<Set<InternetAddress>>,
        asksOnce: Bool = false,
        watchesFiles: Bool = true,
        report: @escaping @Sendable (Evidence) -> Void,
        reportUnavailable: @escaping @Sendable (String) -> Void = { _ in },
        reportMetrics: @escaping @Sendable ([BackendMetric]) -> Void = { _ in },
        register: @escaping @Sendable (any RouteResolver) -> Void,
        routesChanged: @escaping @Sendable () -> Void = {},
        takesNoRefreshRequests: @escaping @Sendable () -> Void = {},
        interfaceRules: @escaping @Sendable () -> [InterfaceRule] = { [] },
        isMetered: @escaping @Sendable (String?) -> Bool = { _ in false },
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        self.clock = clock
        self.refreshRequests = refreshRequests
        self.watchedAddresses = watchedAddresses
        self.asksOnce = asksOnce
        self.watchesFiles = watchesFiles && !asksOnce
        self.reporter = report
        self.unavailability = reportUnavailable
        self.metricReporter = reportMetrics
        self.acceptor = register
        self.routeNotice = routesChanged
        self.refreshNotice = takesNoRefreshRequests
        self.rules = interfaceRules
        self.metering = isMetered
        self.logger = log
    }

    /// Reports what the backend sees; callable from any thread, never blocks on consumers' queues.
    ///
    /// The path is merged before the call returns, and callbacks run on this thread, unless another one is delivering.
    /// Their time does not count as the backend's silence, however long they take.
    public func report(_ evidence: Evidence) {
        self.reporter(evidence)
    }

    /// Says that the source is gone for a while: what the backend said stops counting, and it goes on running.
    ///
    /// It is unhealthy with this sentence until it reports again, which counts at once; to throw would cost a restart
    /// after up to 30 s. It counts as a report: it answers a refresh, and may be the first. Callable from any thread.
    ///
    /// - Parameter sentence: What is missing, for people, such as `modem0 does not answer`.
    public func reportUnavailable(_ sentence: String) {
        self.unavailability(sentence)
    }

    /// Gives numbers for metrics, in place of all that it gave before; callable from any thread.
    ///
    /// They make no path. Of more than ``BackendMetric/familyLimit`` families or ``BackendMetric/sampleLimit`` numbers the
    /// first ones are kept, which is logged.
    public func reportMetrics(_ metrics: [BackendMetric]) {
        self.metricReporter(metrics)
    }

    /// Says that this run answers no ``refreshRequests``: the source reports by itself, and cannot be asked.
    ///
    /// None are sent then, and silence is no failure. What the backend said stays as old as it is, so that it takes over
    /// from another one only with what it says after that. To be called before the first report, from any thread.
    public func takesNoRefreshRequests() {
        self.refreshNotice()
    }

    /// Whether packets cost money at this moment, or should be few, so that a backend that sends some sends fewer.
    ///
    /// It changes with a refresh request. Callable from any thread.
    ///
    /// - Parameter interface: The name of the interface that they leave through; nil for the way that the path takes.
    /// - Returns: Whether that is expensive or constrained; false where it is not known.
    public func isMetered(through interface: String? = nil) -> Bool {
        self.metering(interface)
    }

    /// Registers what answers where the kernel would send a packet to any address, for as long as the backend runs; where
    /// it is asked once, also afterwards.
    public func register(_ resolver: any RouteResolver) {
        self.acceptor(resolver)
    }

    /// Says that routes to ``watchedAddresses`` may have changed though there is nothing new to report.
    ///
    /// The clients that watch these hosts ask again; no path is published. Callable from any thread.
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

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Answers what the kernel would do with a packet, at the moment of asking.
public protocol RouteResolver: Sendable {
    /// Asks about one destination; synchronous, callable from any thread.
    ///
    /// - Parameters:
    ///   - destination: Where the packet goes.
    ///   - interface: The kernel's index of the interface that it has to leave through, as with the zone of a link-local
    ///     address or a socket that is bound to a device; nil to leave the choice to the kernel. Then a route through
    ///     another interface is no answer: without one through this, it is ``RouteLookupResult/noRoute``.
    /// - Returns: The answer; ``RouteLookupResult/unknown`` from a resolver that cannot ask about one interface only.
    func route(to destination: InternetAddress, through interface: UInt32?) -> RouteLookupResult
}

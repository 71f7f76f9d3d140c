// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathStandard

extension NetworkMonitor {
    /// Creates a monitor of a backend of your own instead of this machine's network, such as a preview or a test double.
    ///
    /// - Parameters:
    ///   - monitor: What is watched.
    ///   - settings: What becomes of what it says, such as rules about interfaces.
    ///   - delivery: Where the handler and observers are called.
    public convenience init(
        monitor: any PathMonitor,
        settings: CoordinatorSettings = CoordinatorSettings(),
        deliverOn delivery: ConnectivityDelivery = .main
    ) {
        self.init(deliverOn: delivery) { clock, executor in
            PathCoordinator(
                backends: [Backend("injected", monitor: monitor)],
                settings: settings,
                clock: clock,
                executor: executor
            )
        }
    }

    /// Creates a monitor of the paths of a coordinator: of rules or a configuration file, or of backends of one's own.
    ///
    /// It says what the coordinator says, also of what is expensive, to everything that uses it, such as a queue of
    /// requests. `HostReachability(host:on:)` takes the same coordinator.
    ///
    /// - Parameters:
    ///   - coordinator: Runs the backends. It is started with the first use of this monitor, unless it runs already, and
    ///     stopped by its owner, or when it is released: ``stop()`` stops this monitor only.
    ///   - delivery: Where the handler and observers are called.
    public convenience init(
        coordinator: PathCoordinator,
        deliverOn delivery: ConnectivityDelivery = .main
    ) {
        self.init(source: SharedCoordinator(coordinator), deliverOn: delivery)
    }

    /// Creates a monitor of this machine's network with settings of its own, such as rules about interfaces.
    ///
    /// It has a coordinator of its own: other monitors of the process use the default settings. No file is read.
    ///
    /// - Parameters:
    ///   - settings: What becomes of what the backends say, as a configuration file has it.
    ///   - delivery: Where the handler and observers are called.
    public convenience init(
        settings: CoordinatorSettings,
        deliverOn delivery: ConnectivityDelivery = .main
    ) {
        let source = SharedCoordinator(clock: BackgroundExecutor()) { .standard(settings: settings, on: $0) }
        self.init(source: source, deliverOn: delivery)
    }

    /// Creates a monitor on coordinators of its own: a new one each time that it is started.
    package convenience init(
        deliverOn delivery: ConnectivityDelivery = .main,
        makeCoordinator: @escaping @Sendable (any MonotonicClock, any TaskExecutor) -> PathCoordinator
    ) {
        let source = SharedCoordinator(clock: BackgroundExecutor()) { makeCoordinator($0, $0) }
        self.init(source: source, deliverOn: delivery)
    }

    /// The path with all details; nil when no backend had a verdict.
    public var path: NetworkPath? { self.observed(\.path) { $0.path } }

    /// What probes say of the internet behind the path; `unknown` unless probes are configured.
    ///
    /// Behind a captive portal ``isConnected`` is true, since there is a path, and this is `portal`.
    public var internet: InternetReachability { self.observed(\.internet) { $0.internet } }
}

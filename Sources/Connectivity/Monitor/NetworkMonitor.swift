// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
package import NetPathStandard
public import Observation
package import Synchronization

/// Says whether the machine is connected to the network, and says it again whenever that changes.
///
/// Every member may be used on any thread. All monitors of a process share one source, which stops when none of them
/// runs; it reads no configuration file and sends nothing to the network. The properties are always up to date, and
/// observable; calls are made where the ``ConnectivityDelivery`` says, one at a time, while no lock is held.
///
/// It starts with its first handler, observer or sequence, or with ``start()``, and stops when it is released.
@Observable
public final class NetworkMonitor: Sendable {
    /// The one that runs for the whole life of the process, from the first use on.
    ///
    /// Before that, ``configureShared(deliverOn:coordinator:)`` says where it makes its calls.
    public static let shared: NetworkMonitor = {
        let monitor = NetworkMonitor(deliverOn: SharedConfiguration.take())
        monitor.start()
        return monitor
    }()

    /// Runs the tasks that prefer it on one thread, which sleeps while there is nothing to do.
    ///
    /// Swift resumes what was suspended on the global pool, also on the way to the main actor, and once that pool was used
    /// libdispatch wakes the process every second. To let the process sleep, a loop prefers this executor:
    ///
    /// ```swift
    /// Task(executorPreference: NetworkMonitor.executor) { await show(NetworkMonitor.shared.updates) }
    /// ```
    ///
    /// What is isolated to an actor, such as a `show` on the main actor, still runs there.
    ///
    /// The thread is that of such tasks alone: what blocks there holds up no monitor.
    public static let executor: any TaskExecutor = BackgroundExecutor()

    /// How long a property waits at most for the first path there is.
    private static let patience: Duration = .milliseconds(250)

    /// Where its paths come from.
    @ObservationIgnored package let source: SharedCoordinator
    @ObservationIgnored let delivery: ConnectivityDelivery
    @ObservationIgnored let state = Mutex(MonitorState())
    /// What another module keeps with it: the queue that offline requests attach.
    @ObservationIgnored package let attachment = Mutex<(any Sendable)?>(nil)

    package init(source: SharedCoordinator, deliverOn delivery: ConnectivityDelivery) {
        self.source = source
        self.delivery = delivery
    }

    /// Creates a monitor of this machine's network.
    ///
    /// - Parameter delivery: Where the handler and observers are called.
    public convenience init(deliverOn delivery: ConnectivityDelivery = .main) {
        self.init(source: .process, deliverOn: delivery)
    }

    deinit {
        self.stop()
        for stream in self.state.withLock({ $0.removeStreams() }) { stream.finish() }
    }

    // MARK: Lifetime

    /// Starts, or starts again; nothing when it runs already.
    ///
    /// The first handler, observer or sequence does so too. Observing its properties (`@Observable`) does not.
    public func start() {
        let relay = PathRelay(self)
        guard self.state.withLock({ $0.start(relay) }) else { return }
        self.source.update(relay)
    }

    /// Starts, unless it was started or stopped before: an observer of a new monitor expects calls.
    func begin() {
        let relay = PathRelay(self)
        guard self.state.withLock({ !$0.hasBegun && $0.start(relay) }) else { return }
        self.source.update(relay)
    }

    /// Stops until the next ``start()``; properties stay what they were, and observers and sequences wait.
    ///
    /// Called where calls are made, no call follows; elsewhere, one that is under way finishes.
    public func stop() {
        let (relay, waits) = self.state.withLock { ($0.stop(), $0.removeWaits()) }
        for wait in waits { wait.finish() }
        guard let relay else { return }
        relay.end()
        self.source.update(relay)
    }

    /// Reads everything anew, for example when the application came back from the background; nothing while stopped.
    ///
    /// Changes are reported as always; no refresh is needed for that.
    public func refresh() {
        guard self.state.withLock({ $0.relay != nil }) else { return }
        self.source.refresh()
    }

    // MARK: Properties

    /// Whether there is a path to the network; until that is known a read blocks its thread for milliseconds, at most 250.
    ///
    /// What must not block asks ``updates``, an observer or ``wait(timeout:where:)``, which suspend or call back. The same
    /// holds for the other properties, and for every read of a monitor that was never started.
    ///
    /// While no backend can tell (``NetworkStatus/unknown``), it stays what it was last, and is true when nothing was ever
    /// known: a program that tries gets a real error, as with other monitors of its kind.
    public var isConnected: Bool { self.observed(\.isConnected) { $0.isConnected } }

    /// The same as ``isConnected``.
    public var connected: Bool { self.isConnected }

    /// How the network is.
    public var status: NetworkStatus { self.observed(\.status) { $0.status } }

    /// What the path leads over.
    public var connectionType: ConnectionType { self.observed(\.connectionType) { $0.connectionType } }

    /// Whether traffic is likely to cost money.
    public var isExpensive: Bool { self.observed(\.isExpensive) { $0.isExpensive } }

    /// Whether traffic should be kept low.
    public var isConstrained: Bool { self.observed(\.isConstrained) { $0.isConstrained } }

    /// The value of a property, whose reader is told when it changes.
    func observed<Value>(_ property: KeyPath<NetworkMonitor, Value>, _ value: (ConnectivityUpdate) -> Value) -> Value {
        self.access(keyPath: property)
        return value(self.update)
    }

    /// What is known now, without being observed.
    package var update: ConnectivityUpdate {
        if let latest = self.state.withLock({ $0.latest }) { return latest }
        let path = self.source.now(within: Self.patience)
        return self.state.withLock { $0.latest(or: path) }
    }

    // MARK: Observers

    /// What is called with ``isConnected`` when it is set, and whenever that changes.
    ///
    /// There is one; ``observe(_:)`` adds others. A stopped monitor calls it when it is started. What belongs to the main
    /// actor, such as a label, is changed in ``mainActorHandler``.
    public var handler: (@Sendable (_ isConnected: Bool) -> Void)? {
        get {
            guard case .delivered(let handler) = self.state.withLock({ $0.callback(in: .handler) }) else { return nil }
            return handler
        }
        set { self.replace(.handler, by: newValue.map { .delivered($0) }) }
    }

    /// Calls a function with ``isConnected``, now and whenever that changes, until the observation is cancelled.
    ///
    /// - Parameter handler: What to call, where the monitor's delivery says: on the main queue, unless it was made with
    ///   another.
    /// - Returns: What ends the calls; dropping it ends nothing.
    @discardableResult
    public func observe(_ handler: @escaping @Sendable (_ isConnected: Bool) -> Void) -> ObservationToken {
        self.observation(of: self.state.withLock { $0.add(.delivered(handler)) })
    }

    /// Calls a function with everything known, now and whenever any of it changes, until the observation is cancelled.
    ///
    /// What changed again before the call could be made is left out.
    ///
    /// - Parameter handler: What to call, where the calls of ``observe(_:)`` are made.
    /// - Returns: What ends the calls; dropping it ends nothing.
    @discardableResult
    public func observeUpdates(
        _ handler: @escaping @Sendable (ConnectivityUpdate) -> Void
    ) -> ObservationToken {
        self.observation(of: self.state.withLock { $0.add(update: handler) })
    }

    /// Everything known, now and whenever any of it changes; a slow consumer skips what it was too slow for.
    ///
    /// Ends with the monitor or with the consumer's task. A program that loops over it and does nothing else wakes every
    /// second, unless the task prefers ``executor``.
    public var updates: ConnectivityUpdates { ConnectivityUpdates(monitor: self) }

    func replace(_ slot: MonitorState.Slot, by callback: MonitorState.Callback?) {
        // The old one is released outside the lock: what it captured may end with it.
        let (old, delivers) = self.state.withLock { $0.replace(slot, by: callback) }
        if delivers { self.deliver() }
        withExtendedLifetime(old) {}
        if callback != nil { self.begin() }
    }

    private func observation(of observer: (id: UInt64, delivers: Bool)) -> ObservationToken {
        if observer.delivers { self.deliver() }
        self.begin()
        return ObservationToken { [weak self] in self?.remove(observer.id) }
    }

    func add(_ stream: AsyncStream<ConnectivityUpdate>.Continuation) -> UInt64 {
        let id = self.state.withLock { $0.add(stream) }
        self.begin()
        return id
    }

    func remove(_ id: UInt64) {
        let released = self.state.withLock { $0.remove(id) }
        withExtendedLifetime(released) {}
    }

    // MARK: Delivery

    func receive(_ update: ConnectivityUpdate, number: UInt64, from relay: PathRelay) {
        if self.state.withLock({ $0.receive(update, number: number, from: relay) }) { self.deliver() }
    }

    private func deliver() {
        self.delivery.run { [weak self] in
            guard let self else { return }
            while let call = self.state.withLock({ $0.nextCall() }) { self.perform(call) }
        }
    }

    private func perform(_ call: MonitorState.Call) {
        switch call {
        case .announce(let old, let new): self.announce(from: old, to: new)
        case .handler(let callback, let isConnected, let id): self.call(callback, with: isConnected, id: id)
        case .update(let callback, let update): callback(update)
        }
    }

    /// Tells those who observe the properties that differ.
    private func announce(from old: ConnectivityUpdate?, to new: ConnectivityUpdate) {
        if old?.path != new.path { self.withMutation(keyPath: \.path) {} }
        if old?.isConnected != new.isConnected { self.withMutation(keyPath: \.isConnected) {} }
        if old?.status != new.status { self.withMutation(keyPath: \.status) {} }
        if old?.connectionType != new.connectionType { self.withMutation(keyPath: \.connectionType) {} }
        if old?.isExpensive != new.isExpensive { self.withMutation(keyPath: \.isExpensive) {} }
        if old?.isConstrained != new.isConstrained { self.withMutation(keyPath: \.isConstrained) {} }
        if old?.internet != new.internet { self.withMutation(keyPath: \.internet) {} }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
public import NetPath
package import NetPathStandard
import NetPathSystem
import Synchronization

/// Tells whether a host can be reached, now and whenever that changes, without sending it anything.
///
/// The answer is what the kernel would do with a packet to the addresses of the host: it knows policy rules, VPNs and
/// blackholes, and knows nothing of whether the host is switched on. A name is looked up by the system's resolver when
/// this value is made, and again when the network, its name servers or a file of the resolver such as `/etc/hosts` changes.
///
/// ```swift
/// let host = try HostReachability(host: "example.net")
/// if await host.status().isReachable { send() }
/// host.reach { status in print(status) }
/// ```
///
/// The handler of ``reach(_:)`` is called on a queue of the host's own, ``mainActorHandler`` on the main queue. (A
/// `NetworkMonitor` makes its calls on the main queue, or where its delivery says.) The address `0.0.0.0`, or `::`, means
/// any network: the status is then that of the path.
///
/// Thread-safe. All hosts of a process share one monitor, which runs while there are any. With the last reference, or
/// ``cancel()``, everything ends.
public final class HostReachability: Sendable {
    /// How long the first question of a process may wait until the monitor has started; it takes a few milliseconds.
    private static let patience: Duration = .seconds(1)

    private let lease: CoordinatorLease?
    private let watch: HostWatch
    private let queue = DispatchQueue(label: "netpath.reachability")
    private let hasWaited = Atomic(false)
    private let installed = Mutex<[HandlerSlot: InstalledHandler]>([:])

    /// Watches a host, named or by address: `example.net`, `203.0.113.7`, `2001:db8::7`, `fe80::7%eth0`.
    ///
    /// The interface after the percent sign need not be there: then, and until it is, the host is unreachable.
    ///
    /// - Parameters:
    ///   - host: The host; a port after it is ignored.
    ///   - coordinator: A coordinator of one's own, which may know more of interfaces than the kernel does; nil for the one
    ///     that all hosts share. It is started here, unless it runs already, and its owner stops it.
    /// - Throws: ``HostReachabilityError`` when the text names no host.
    public convenience init(host: String, on coordinator: PathCoordinator? = nil) throws(HostReachabilityError) {
        self.init(try HostTarget(host).host, coordinator: coordinator)
    }

    /// Watches the host of a URL.
    ///
    /// - Parameters:
    ///   - url: The URL, such as `https://example.net/path`.
    ///   - coordinator: A coordinator of one's own; see ``init(host:on:)``.
    /// - Throws: ``HostReachabilityError`` when the URL names no host.
    public convenience init(url: String, on coordinator: PathCoordinator? = nil) throws(HostReachabilityError) {
        self.init(try HostTarget(url: url).host, coordinator: coordinator)
    }

    /// Watches an address.
    ///
    /// - Parameters:
    ///   - address: The address; a link-local one of IPv6 needs its interface, which ``init(host:on:)`` takes.
    ///   - coordinator: A coordinator of one's own; see ``init(host:on:)``.
    public convenience init(address: InternetAddress, on coordinator: PathCoordinator? = nil) {
        self.init(.address(address, zone: nil), coordinator: coordinator)
    }

    /// Watches the host of a URL on the coordinator that others share, and keeps that running.
    package convenience init(url: String, sharing source: SharedCoordinator) throws(HostReachabilityError) {
        self.init(try HostTarget(url: url).host, lease: CoordinatorLease(source), on: nil)
    }

    private convenience init(_ host: NetworkHost, coordinator: PathCoordinator?) {
        coordinator?.start()
        self.init(host, lease: coordinator == nil ? CoordinatorLease() : nil, on: coordinator)
    }

    init(
        _ host: NetworkHost,
        lease: CoordinatorLease?,
        on coordinator: PathCoordinator?,
        names: NameService = .shared
    ) {
        self.lease = lease
        // There is one while the lease is held; one that never starts answers "unknown".
        let coordinator = coordinator ?? lease?.coordinator ?? PathCoordinator(backends: [])
        self.watch = HostWatch(host, on: coordinator, names: names)
        self.watch.start()
    }

    deinit {
        self.cancel()
    }

    /// Tells whether the host can be reached, at once.
    ///
    /// Takes a few microseconds; only the first question of a process waits until the monitor has started. A name that
    /// is not looked up yet is `unknown` (``HostStatus/isPending``), and so is a host behind a tunnel, for some milliseconds,
    /// while it is not known what carries that: ``status()`` waits for either, this does not.
    public func reach() -> HostStatus {
        self.settle()
        return self.watch.ask()
    }

    /// Suspends until the name of the host was looked up, and what carries a tunnel to it, and tells whether the host can be
    /// reached.
    ///
    /// Takes as long as the resolver does, at most 5 s; no time for an address, and for a name that was looked up before.
    /// When the task, or this host, is cancelled, the present status is returned. Where no backend has a verdict yet, the
    /// first question waits for one, at most 1 s.
    public func status() async -> HostStatus {
        await self.settle()
        for await status in self.statuses where !status.isPending { return status }
        return self.watch.ask()
    }

    /// Suspends until the host is in a state, which may be the present one.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most; nil for no limit.
    ///   - condition: Whether it is the state; whether packets would be sent unless given.
    /// - Returns: The state.
    /// - Throws: `WaitError` when the time is over, or ``cancel()`` was called; `CancellationError` when the task is
    ///   cancelled.
    @discardableResult
    public func wait(
        timeout: Duration? = nil,
        where condition: (HostStatus) -> Bool = { $0.isReachable }
    ) async throws -> HostStatus {
        await self.settle()
        let (statuses, continuation) = HostStatuses.makeStream()
        self.subscribe(continuation)
        return try await statuses.first(
            within: timeout,
            endedBy: continuation,
            clock: self.watch.coordinator.clock,
            executor: self.watch.coordinator.executor,
            where: condition
        )
    }

    /// Calls a function with the present status, and again with every other one.
    ///
    /// One at a time, in order, on a queue of this host's own. The function replaces the one installed before.
    ///
    /// - Parameter handler: What to call.
    /// - Returns: Whether it could be installed: not after ``cancel()``.
    @discardableResult
    public func reach(_ handler: @escaping @Sendable (HostStatus) -> Void) -> Bool {
        self.install(InstalledHandler(handler), in: .ownQueue, on: self.queue)
    }

    /// What is called on the main actor with the present status when it is set, and with every other one.
    ///
    /// There is one, beside that of ``reach(_:)``. The calls are made on the main queue, which something has to serve. After
    /// ``cancel()`` none can be set.
    public var mainActorHandler: (@MainActor (HostStatus) -> Void)? {
        get { self.installed.withLock { $0[.mainQueue]?.onMainActor } }
        set {
            guard let newValue else {
                return self.remove(self.installed.withLock { $0.removeValue(forKey: .mainQueue) })
            }
            self.install(InstalledHandler(onMainActor: newValue), in: .mainQueue, on: .main)
        }
    }

    @discardableResult
    private func install(_ new: InstalledHandler, in slot: HandlerSlot, on queue: DispatchQueue) -> Bool {
        self.settle()
        self.remove(self.installed.withLock { $0.updateValue(new, forKey: slot) })
        let id = self.watch.subscribe { status in
            // Asked on the queue, where the handler itself may have ended everything meanwhile.
            queue.async { if new.isInstalled.load(ordering: .relaxed) { new.handler(status) } }
        }
        new.id.store(id ?? 0, ordering: .relaxed)
        guard id == nil else { return true }
        self.installed.withLock { $0[slot] = nil }
        return false
    }

    /// The present status, and every other one; a slow consumer skips what it was too slow for.
    ///
    /// The first status of a name may say that it is being looked up (``HostStatus/isPending``); another one follows.
    public var statuses: HostStatuses { HostStatuses(host: self) }

    func subscribe(_ continuation: AsyncStream<HostStatus>.Continuation) {
        self.settle()
        let id = self.watch.subscribe({ continuation.yield($0) }, onStop: { continuation.finish() })
        guard let id else { return continuation.finish() }
        continuation.onTermination = { [self] _ in self.watch.unsubscribe(id) }
    }

    /// Looks the name up again; for those who know that an answer is outdated, such as after a failed connection.
    public func refresh() {
        self.watch.refresh()
    }

    /// Ends everything; no handler is called any more once the call that is under way has returned.
    public func cancel() {
        let handlers = self.installed.withLock { installed in
            defer { installed = [:] }
            return installed
        }
        for handler in handlers.values { self.remove(handler) }
        self.watch.end()
        self.lease?.release()
    }

    private func settle() {
        self.lease?.waitForPath(within: Self.patience)
    }

    /// Suspends until the coordinator has a path, once and at most for the patience.
    private func settle() async {
        let coordinator = self.watch.coordinator
        guard coordinator.path == nil, !self.hasWaited.exchange(true, ordering: .relaxed) else { return }
        let (paths, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = coordinator.subscribe { _ in continuation.yield(true) }
        defer { subscription.cancel() }
        _ = try? await paths.first(
            within: Self.patience,
            endedBy: continuation,
            clock: coordinator.clock,
            executor: coordinator.executor
        ) { $0 }
    }

    private func remove(_ handler: InstalledHandler?) {
        handler?.isInstalled.store(false, ordering: .relaxed)
        if let id = handler?.id.load(ordering: .relaxed) { self.watch.unsubscribe(id) }
    }
}

/// Where one function at a time is called.
private enum HandlerSlot: Hashable, Sendable { case ownQueue, mainQueue }

/// The function that is called with statuses.
private final class InstalledHandler: Sendable {
    let handler: @Sendable (HostStatus) -> Void
    /// The same, as it was given; nil for one that is called anywhere.
    let onMainActor: (@MainActor (HostStatus) -> Void)?
    let isInstalled = Atomic(true)
    /// The subscription; 0, which is none, while it is being made.
    let id = Atomic<UInt64>(0)

    init(_ handler: @escaping @Sendable (HostStatus) -> Void) {
        self.handler = handler
        self.onMainActor = nil
    }

    init(onMainActor handler: @escaping @MainActor (HostStatus) -> Void) {
        self.handler = { status in MainActor.assumeIsolated { handler(status) } }
        self.onMainActor = handler
    }
}

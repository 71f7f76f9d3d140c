// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
public import NetPath
package import NetPathStandard
import Synchronization

/// Tells whether a host can be reached, now and whenever that changes, without sending it anything.
///
/// The answer is what the kernel would do with a packet to the addresses of the host: it knows policy rules, VPNs and
/// blackholes, and knows nothing of whether the host is switched on. A name is looked up by the system's resolver when
/// this value is made, and again when the network, its name servers or a file of the resolver such as `/etc/hosts` changes.
///
/// ```swift
/// let host = try HostReachability(host: "example.net")
/// host.reach { status in print(status.reason.message) }
/// ```
///
/// Thread-safe. All hosts of a process share one monitor, which runs while there are any. With the last reference, or
/// ``cancel()``, everything ends.
public final class HostReachability: Sendable {
    /// How long the first question of a process may wait until the monitor has started; it takes a few milliseconds.
    private static let patience: Duration = .seconds(1)

    private let lease: CoordinatorLease?
    private let watch: HostWatch
    private let queue = DispatchQueue(label: "netpath.reachability")
    private let installed = Mutex<InstalledHandler?>(nil)

    /// Watches a host, named or by address: `example.net`, `203.0.113.7`, `2001:db8::7`, `fe80::7%eth0`.
    ///
    /// The interface after the percent sign need not be there: then, and until it is, the host is unreachable.
    ///
    /// - Parameter host: The host; a port after it is of no matter.
    /// - Throws: ``HostReachabilityError`` when the text names no host.
    public convenience init(host: String) throws(HostReachabilityError) {
        self.init(try HostTarget(host).host, coordinator: nil)
    }

    /// Watches the host of a URL.
    ///
    /// - Parameter url: The URL, such as `https://example.net/path`.
    /// - Throws: ``HostReachabilityError`` when the URL names no host.
    public convenience init(url: String) throws(HostReachabilityError) {
        self.init(try HostTarget(url: url).host, coordinator: nil)
    }

    /// Watches an address; a link-local one of IPv6 needs its interface, see ``init(host:)``.
    public convenience init(address: InternetAddress) {
        self.init(.address(address, zone: nil), coordinator: nil)
    }

    /// Watches a host on a coordinator of one's own, which may know more of interfaces than the kernel does.
    ///
    /// - Parameters:
    ///   - host: The host, named or by address.
    ///   - coordinator: Runs the backends. Started here, unless it runs already, and stopped by its owner.
    /// - Throws: ``HostReachabilityError`` when the text names no host.
    public convenience init(host: String, on coordinator: PathCoordinator) throws(HostReachabilityError) {
        self.init(try HostTarget(host).host, coordinator: coordinator)
    }

    /// Watches the host of a URL on a coordinator of one's own; see ``init(host:on:)``.
    ///
    /// - Parameters:
    ///   - url: The URL, such as `https://example.net/path`.
    ///   - coordinator: Runs the backends.
    /// - Throws: ``HostReachabilityError`` when the URL names no host.
    public convenience init(url: String, on coordinator: PathCoordinator) throws(HostReachabilityError) {
        self.init(try HostTarget(url: url).host, coordinator: coordinator)
    }

    /// Watches an address on a coordinator of one's own; see ``init(host:on:)``.
    public convenience init(address: InternetAddress, on coordinator: PathCoordinator) {
        self.init(.address(address, zone: nil), coordinator: coordinator)
    }

    /// Watches a host on the coordinator that others share, and keeps that running.
    package convenience init(host: String, sharing source: SharedCoordinator) throws(HostReachabilityError) {
        self.init(try HostTarget(host).host, lease: CoordinatorLease(source))
    }

    private convenience init(_ host: NetworkHost, coordinator: PathCoordinator?) {
        if let coordinator {
            coordinator.start()
            self.init(host, lease: nil, on: coordinator)
        } else {
            self.init(host, lease: CoordinatorLease())
        }
    }

    private convenience init(_ host: NetworkHost, lease: CoordinatorLease) {
        // There is one while the lease is held; one that never starts answers "unknown".
        self.init(host, lease: lease, on: lease.coordinator ?? PathCoordinator(backends: []))
    }

    private init(_ host: NetworkHost, lease: CoordinatorLease?, on coordinator: PathCoordinator) {
        self.lease = lease
        self.watch = HostWatch(host, on: coordinator)
        self.watch.start()
    }

    deinit {
        self.cancel()
    }

    /// Tells whether the host can be reached, at once.
    ///
    /// Takes a few microseconds; only the first question of a process waits until the monitor has started. A name that
    /// is not looked up yet is `unknown`: nobody waits for name servers here.
    public func reach() -> HostStatus {
        self.settle()
        return self.watch.ask()
    }

    /// Calls a function with the present status, and again with every other one.
    ///
    /// One at a time, in order, on a queue of this host's own. The function replaces the one installed before.
    ///
    /// - Parameter handler: What to call.
    /// - Returns: Whether it could be installed: not after ``cancel()``.
    @discardableResult
    public func reach(_ handler: @escaping @Sendable (HostStatus) -> Void) -> Bool {
        self.settle()
        let new = InstalledHandler(handler)
        let former = self.installed.withLock { installed in
            defer { installed = new }
            return installed
        }
        self.remove(former)
        let id = self.watch.subscribe { [queue = self.queue] status in
            // Asked on the queue, where the handler itself may have ended everything meanwhile.
            queue.async { if new.isInstalled.load(ordering: .relaxed) { new.handler(status) } }
        }
        new.id.store(id ?? 0, ordering: .relaxed)
        return id != nil
    }

    /// The present status, and every other one; a slow consumer skips what it was too slow for.
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
        self.remove(self.installed.withLock { $0.take() })
        self.watch.end()
        self.lease?.release()
    }

    private func settle() {
        self.lease?.waitForPath(within: Self.patience)
    }

    private func remove(_ handler: InstalledHandler?) {
        handler?.isInstalled.store(false, ordering: .relaxed)
        if let id = handler?.id.load(ordering: .relaxed) { self.watch.unsubscribe(id) }
    }
}

/// The function that is called with statuses.
private final class InstalledHandler: Sendable {
    let handler: @Sendable (HostStatus) -> Void
    let isInstalled = Atomic(true)
    /// The subscription; 0, which is none, while it is being made.
    let id = Atomic<UInt64>(0)

    init(_ handler: @escaping @Sendable (HostStatus) -> Void) {
        self.handler = handler
    }
}

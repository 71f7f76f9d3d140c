// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Dispatch
import NetPath
package import NetPathStandard
import Synchronization

/// Watches the network and tells of every change.
///
/// All monitors of a process share one source, which starts with the first of them and ends with the last. A monitor
/// that was started keeps itself alive until it is cancelled. Every member may be used on any thread.
public final class NWPathMonitor: Sendable {
    /// How long ``currentPath`` waits at most for the first path there is.
    private static let patience: Duration = .milliseconds(250)

    private let filter: InterfaceFilter
    private let shared: SharedCoordinator
    private let state = Mutex(PathMonitorState())

    init(filter: InterfaceFilter, shared: SharedCoordinator = .process) {
        self.filter = filter
        self.shared = shared
    }

    /// Creates a monitor of every type of interface.
    public convenience init() {
        self.init(filter: .everything)
    }

    /// Creates a monitor of paths over one type of interface.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(filter: .only(requiredInterfaceType))
    }

    /// Creates a monitor of paths that avoid some types of interfaces.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(filter: prohibitedInterfaceTypes.isEmpty ? .everything : .allBut(prohibitedInterfaceTypes))
    }

    /// A new monitor of paths over Ethernet.
    public static var ethernetChannel: NWPathMonitor { NWPathMonitor(requiredInterfaceType: .wiredEthernet) }

    /// The newest path, which the handler may not have been told of yet.
    ///
    /// Where nothing is known yet, because the monitor was not started or only just now, this finds out, which takes
    /// a few milliseconds and at most a quarter of a second. After ``cancel()`` it is the last path.
    public var currentPath: NWPath {
        get {
            let (latest, isCancelled) = self.state.withLock { ($0.latest, $0.isCancelled) }
            if let latest { return self.path(of: latest) }
            let path = isCancelled ? nil : self.shared.now(within: Self.patience)
            return NWPath(PathDetails(path, filter: self.filter))
        }
        @available(*, deprecated, message: "setting currentPath not supported")
        set {}
    }

    /// What is called with the current path after the start, and then with every other one.
    ///
    /// The calls are made on the monitor's queue, one at a time and in order, even if the queue is concurrent. A
    /// handler that is set late gets the newest path if no handler had it. Released by ``cancel()``.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { self.state.withLock { $0.handler } }
        set {
            // The old one is released outside the lock: what it captured may end with it.
            let (old, queue) = self.state.withLock { $0.replaceHandler(newValue) }
            if let queue { self.deliver(on: queue) }
            withExtendedLifetime(old) {}
        }
    }

    /// The queue of the handler; nil before ``start(queue:)``.
    public var queue: DispatchQueue? { self.state.withLock { $0.queue } }

    /// Starts; the handler is called on the queue.
    ///
    /// Only the first call does something, and only before ``cancel()``.
    public func start(queue: DispatchQueue) {
        let (isFirst, known) = self.state.withLock { $0.start(on: queue) }
        guard isFirst else { return }
        if known { self.deliver(on: queue) }
        self.shared.update(self)
    }

    /// Ends, for ever.
    ///
    /// Called by the handler, no other call of a handler follows; elsewhere, one that is under way finishes. A monitor
    /// that is not running stays as it is.
    public func cancel() {
        let released = self.state.withLock { $0.cancel() }
        guard let released else { return }
        self.shared.update(self)
        for inbox in released.inboxes { inbox.finish() }
    }

    // MARK: Iterations

    /// Adds an iteration, which starts the monitor if nothing else did.
    func add(_ inbox: PathInbox) -> UInt64? {
        guard let (number, latest) = self.state.withLock({ $0.add(inbox) }) else {
            inbox.finish()
            return nil
        }
        if let latest { inbox.offer(self.path(of: latest), number: latest.number) }
        self.shared.update(self)
        return number
    }

    func remove(iteration number: UInt64) {
        let released = self.state.withLock { $0.remove(iteration: number) }
        self.shared.update(self)
        withExtendedLifetime(released) {}
    }

    // MARK: Delivery

    private func deliver(on queue: DispatchQueue) {
        queue.async {
            while let snapshot = self.state.withLock({ $0.nextPath() }) {
                let path = self.path(of: snapshot)
                let handler = self.state.withLock { $0.handler(for: path, number: snapshot.number) }
                handler?(path)
            }
        }
    }

    private func path(of snapshot: PathSnapshot) -> NWPath {
        PathCache.process.path(of: snapshot, filter: self.filter)
    }
}

extension NWPathMonitor: SharedPathListener {
    package var wantsPaths: Bool { self.state.withLock { $0.isActive } }

    package func receive(_ snapshot: PathSnapshot) {
        let (queue, inboxes) = self.state.withLock { $0.receive(snapshot) }
        // First of all: a thread needs longer to wake up than all of this takes.
        if let queue { self.deliver(on: queue) }
        guard queue != nil || !inboxes.isEmpty else { return }
        let path = self.path(of: snapshot)
        for inbox in inboxes { inbox.offer(path, number: snapshot.number) }
    }
}

extension NWPathMonitor: CustomDebugStringConvertible {
    /// One line for logs.
    public var debugDescription: String {
        "NWPathMonitor (\(self.state.withLock { $0.latest }.map { "\(self.path(of: $0))" } ?? "no path yet"))"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#if OpenCombine

public import OpenCombine

/// A ``NetworkMonitor`` for code that observes with Combine: published properties that change on the main queue.
///
/// Needs the package trait `OpenCombine`.
@MainActor
public final class ObservableNetworkMonitor: ObservableObject {
    /// Whether there is a path to the network.
    @Published public private(set) var isConnected: Bool
    /// What the path leads over.
    @Published public private(set) var connectionType: ConnectionType

    private let monitor: NetworkMonitor
    private var subscriptions: Set<AnyCancellable> = []

    /// Creates one for a monitor, which starts; of its own unless given.
    public init(_ monitor: NetworkMonitor = NetworkMonitor()) {
        self.monitor = monitor
        self.isConnected = monitor.isConnected
        self.connectionType = monitor.connectionType
        monitor.isConnectedPublisher.sink { [weak self] isConnected in
            MainActor.assumeIsolated { self?.isConnected = isConnected }
        }.store(in: &self.subscriptions)
        monitor.connectionTypePublisher.sink { [weak self] connectionType in
            MainActor.assumeIsolated { self?.connectionType = connectionType }
        }.store(in: &self.subscriptions)
    }

    /// Starts the monitor again, for example when a view appears.
    public func start() { self.monitor.start() }

    /// Stops the monitor, for example when a view disappears; the properties stay what they were.
    public func stop() { self.monitor.stop() }

    /// Reads everything anew.
    public func refresh() { self.monitor.refresh() }
}

#endif

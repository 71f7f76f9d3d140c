// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#if OpenCombine

public import OpenCombine

/// A ``NetworkMonitor`` for code that observes with Combine: published properties that change on the main queue.
///
/// Needs the package trait `OpenCombine`. A value is published when it differs from the one before.
@MainActor
public final class ObservableNetworkMonitor: ObservableObject {
    /// Whether there is a path to the network.
    @Published public private(set) var isConnected: Bool
    /// What the path leads over.
    @Published public private(set) var connectionType: ConnectionType

    private let monitor: NetworkMonitor
    private var subscriptions: Set<AnyCancellable> = []

    /// Creates one of ``NetworkMonitor/shared``, or of another monitor, which starts unless it was stopped.
    public init(_ monitor: NetworkMonitor = .shared) {
        self.monitor = monitor
        self.isConnected = monitor.isConnected
        self.connectionType = monitor.connectionType
        self.start()
    }

    /// Follows the monitor again, for example when a view appears.
    public func start() {
        guard self.subscriptions.isEmpty else { return }
        // The first value is known already, and published already.
        self.monitor.isConnectedPublisher.sink { [weak self] isConnected in
            MainActor.assumeIsolated {
                if let self, self.isConnected != isConnected { self.isConnected = isConnected }
            }
        }.store(in: &self.subscriptions)
        self.monitor.connectionTypePublisher.sink { [weak self] type in
            MainActor.assumeIsolated {
                if let self, self.connectionType != type { self.connectionType = type }
            }
        }.store(in: &self.subscriptions)
    }

    /// Stops following the monitor, for example when a view disappears; the properties stay what they were.
    ///
    /// The monitor itself goes on.
    public func stop() { self.subscriptions = [] }

    /// Reads everything anew.
    public func refresh() { self.monitor.refresh() }
}

#endif

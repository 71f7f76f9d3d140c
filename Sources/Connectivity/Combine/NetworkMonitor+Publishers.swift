// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#if OpenCombine

import Dispatch
import NetPath
public import OpenCombine

extension NetworkMonitor {
    /// ``isConnected``, now and whenever it changes, on the main queue.
    ///
    /// Starts a monitor that was neither started nor stopped yet; it lives as long as the publisher and its subscriptions.
    @MainActor public var isConnectedPublisher: AnyPublisher<Bool, Never> {
        self.publisher { $0.isConnected }
    }

    /// ``connectionType``, now and whenever it changes, on the main queue.
    ///
    /// Starts a monitor that was neither started nor stopped yet; it lives as long as the publisher and its subscriptions.
    @MainActor public var connectionTypePublisher: AnyPublisher<ConnectionType, Never> {
        self.publisher { $0.connectionType }
    }

    @MainActor
    private func publisher<Value: Equatable>(
        of property: @escaping (ConnectivityUpdate) -> Value
    ) -> AnyPublisher<Value, Never> {
        let relay = UpdateRelay(self)
        // The relay lives as long as there may be a subscriber.
        return relay.subject.compactMap { update in withExtendedLifetime(relay) { update.map(property) } }
            .removeDuplicates().eraseToAnyPublisher()
    }
}

/// Carries updates to the main actor: what OpenCombine makes may not be shared between threads.
@MainActor
private final class UpdateRelay {
    let subject = CurrentValueSubject<ConnectivityUpdate?, Never>(nil)
    private let monitor: NetworkMonitor
    private var observation: ObservationToken?

    init(_ monitor: NetworkMonitor) {
        self.monitor = monitor
        self.observation = monitor.observeUpdates { [weak self] update in
            DispatchQueue.main.async {
                MainActor.assumeIsolated { self?.subject.send(update) }
            }
        }
    }

    deinit {
        self.observation?.cancel()
    }
}

#endif

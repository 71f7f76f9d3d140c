// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#if OpenCombine

import Dispatch
// Its types are not marked Sendable.
@preconcurrency public import OpenCombine
import OpenCombineDispatch
import Synchronization

extension NetworkMonitor {
    /// ``isConnected``, now and whenever it changes, on the main queue.
    ///
    /// Does not start the monitor, which lives as long as a subscription.
    public var isConnectedPublisher: AnyPublisher<Bool, Never> {
        UpdatePublisher(monitor: self).map(\.isConnected).removeDuplicates()
            .receive(on: DispatchQueue.main.ocombine).eraseToAnyPublisher()
    }

    /// ``connectionType``, now and whenever it changes, on the main queue.
    ///
    /// Does not start the monitor, which lives as long as a subscription.
    public var connectionTypePublisher: AnyPublisher<ConnectionType, Never> {
        UpdatePublisher(monitor: self).map(\.connectionType).removeDuplicates()
            .receive(on: DispatchQueue.main.ocombine).eraseToAnyPublisher()
    }
}

/// The updates of a monitor, where it makes its calls.
private struct UpdatePublisher: Publisher {
    typealias Output = ConnectivityUpdate
    typealias Failure = Never

    let monitor: NetworkMonitor

    func receive<Downstream: Subscriber<ConnectivityUpdate, Never>>(subscriber: Downstream) {
        let subscription = UpdateSubscription(AnySubscriber(subscriber))
        subscriber.receive(subscription: subscription)
        subscription.start(self.monitor)
    }
}

/// Hands on updates while there is demand; what comes without demand is replaced by what comes later.
private final class UpdateSubscription: Subscription, Sendable {
    private struct State {
        var subscriber: AnySubscriber<ConnectivityUpdate, Never>?
        var demand = Subscribers.Demand.none
        var waiting: ConnectivityUpdate?
        var observation: ConnectivityObservation?
        var monitor: NetworkMonitor?
    }

    private let state: Mutex<State>

    init(_ subscriber: sending AnySubscriber<ConnectivityUpdate, Never>) {
        self.state = Mutex(State(subscriber: subscriber))
    }

    func start(_ monitor: NetworkMonitor) {
        let observation = monitor.observeUpdates { [weak self] update in
            self?.change { $0.waiting = update }
        }
        let isCancelled = self.state.withLock { state in
            guard state.subscriber != nil else { return true }
            state.observation = observation
            state.monitor = monitor
            return false
        }
        if isCancelled { observation.cancel() }
    }

    func request(_ demand: Subscribers.Demand) {
        self.change { $0.demand += demand }
    }

    func cancel() {
        let released = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        released.observation?.cancel()
    }

    /// Changes the state, and hands on what can be handed on, outside the lock.
    private func change(_ body: (inout State) -> Void) {
        let call = self.state.withLock { state -> (AnySubscriber<ConnectivityUpdate, Never>, ConnectivityUpdate)? in
            body(&state)
            guard let subscriber = state.subscriber, state.demand > .none, let update = state.waiting.take()
            else { return nil }
            state.demand -= 1
            return (subscriber, update)
        }
        guard let (subscriber, update) = call else { return }
        let more = subscriber.receive(update)
        if more > .none { self.change { $0.demand += more } }
    }
}

#endif

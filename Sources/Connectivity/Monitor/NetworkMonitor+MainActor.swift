// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import NetPathSystem
import Synchronization

// For what belongs to the main actor, such as views: the compiler knows where these are called.
extension NetworkMonitor {
    /// What is called on the main actor with ``isConnected`` when it is set, and whenever that changes.
    ///
    /// There is one, beside ``handler``. A monitor that makes its calls elsewhere passes these on to the main queue, unless
    /// it calls on the main thread as it is, as the event loop of a toolkit does (``ConnectivityDelivery/custom(_:)``).
    public var mainActorHandler: (@MainActor (_ isConnected: Bool) -> Void)? {
        get {
            guard case .onMainActor(let handler) = self.state.withLock({ $0.callback(in: .mainActorHandler) })
            else { return nil }
            return handler
        }
        set { self.replace(.mainActorHandler, by: newValue.map { .onMainActor($0) }) }
    }

    func call(_ callback: MonitorState.Callback, with isConnected: Bool, id: UInt64) {
        switch callback {
        case .delivered(let handler): handler(isConnected)
        case .onMainActor(let handler):
            guard !self.delivery.isMainActor, !CurrentThread.isMain else {
                return MainActor.assumeIsolated { handler(isConnected) }
            }
            DispatchQueue.main.async { [weak self] in
                // The handler may have been replaced, or the monitor stopped, meanwhile.
                guard self?.state.withLock({ $0.mayStillCall(id) }) == true else { return }
                MainActor.assumeIsolated { handler(isConnected) }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathStandard
import Synchronization

/// What the shared monitor is made with.
enum SharedConfiguration {
    fileprivate struct State: Sendable {
        var delivery = ConnectivityDelivery.main
        var isTaken = false
    }

    fileprivate static let state = Mutex(State())

    /// Where calls are made; fixed from now on.
    static func take() -> ConnectivityDelivery {
        self.state.withLock { state in
            state.isTaken = true
            return state.delivery
        }
    }
}

extension NetworkMonitor {
    /// Sets where ``shared`` makes its calls, and which coordinator everything in this process uses for paths.
    ///
    /// To be called at the start of a program, before the first use of ``shared``; with a coordinator also before any other
    /// monitor runs.
    ///
    /// - Parameters:
    ///   - delivery: Where the handler, observers and notifications of ``shared`` are called.
    ///   - coordinator: What ``shared``, other monitors, hosts (`HostReachability`) and queues of requests use in place of
    ///     the standard coordinator, for example one with rules from a configuration file; nil for the standard one. It is
    ///     started with the first who needs it, and stopped by its owner, if at all.
    /// - Returns: Whether it is so from now on: false, and nothing is changed, when it is too late.
    public static func configureShared(
        deliverOn delivery: ConnectivityDelivery = .main,
        coordinator: PathCoordinator? = nil
    ) -> Bool {
        SharedConfiguration.state.withLock { state in
            guard !state.isTaken, coordinator.map({ SharedCoordinator.process.use($0) }) ?? true else { return false }
            state.delivery = delivery
            return true
        }
    }
}

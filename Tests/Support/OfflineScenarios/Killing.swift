// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import OfflineRequests
import Synchronization

/// The points of a delivery at which a process may die; the options name one with `--kill`.
enum KillPoint: String, Sendable {
    /// The request is marked as running, the transport has not got it.
    case beforeSend = "before-send"
    /// The transport has got it.
    case sending
    /// The response is there, nobody was told.
    case answered
    /// The handler of responses is called, the success is not recorded.
    case handling
}

/// Ends the process, as a crash does, when the point has been passed a number of times.
final class Killer: Sendable {
    private let point: KillPoint
    private let passes: Mutex<Int>

    /// - Returns: Nil when the options name no point.
    init?(_ options: Options) {
        guard let point = options["kill"].flatMap({ KillPoint(rawValue: $0) }) else { return nil }
        self.point = point
        self.passes = Mutex(options["kill-after", default: 3])
    }

    func pass(_ point: KillPoint) {
        guard point == self.point else { return }
        let left = self.passes.withLock { passes in
            passes -= 1
            return passes
        }
        if left <= 0 { kill(getpid(), SIGKILL) }
    }
}

/// A transport that dies on the way.
struct KillingTransport: HTTPTransport {
    let transport: any HTTPTransport
    let killer: Killer

    func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let killer = self.killer
        killer.pass(.beforeSend)
        let task = self.transport.start(request) { result in
            killer.pass(.answered)
            receive(result)
        }
        killer.pass(.sending)
        return task
    }
}

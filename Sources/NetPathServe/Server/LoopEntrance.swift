// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import Synchronization

/// What other threads give the server's loop to do, until the server stops.
///
/// SwiftNIO complains on standard error of what comes after the end of a loop, and wants to crash in future versions.
final class LoopEntrance: Sendable {
    let loop: any EventLoop
    private let isClosed = Mutex(false)

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs a function on the loop, or never once the entrance is closed.
    func execute(_ function: @escaping @Sendable () -> Void) {
        self.isClosed.withLock { isClosed in
            if !isClosed { self.loop.execute(function) }
        }
    }

    func close() {
        self.isClosed.withLock { $0 = true }
    }
}

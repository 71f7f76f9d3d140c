// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import Foundation

/// Where scenarios are played: on threads of their own, since all of the lab's calls block.
package enum ScenarioPlace {
    /// Most of a scenario is waiting for connections that are not answered: more of them than there are processors.
    private static let places = DispatchSemaphore(value: 8)

    /// Plays one when there is room.
    package static func run<Value: Sendable>(_ play: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread {
                Self.places.wait()
                defer { Self.places.signal() }
                continuation.resume(returning: play())
            }.start()
        }
    }
}

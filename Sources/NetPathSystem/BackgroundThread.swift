// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Threads for what blocks: neither Swift's pool nor libdispatch's may be held up.
package enum BackgroundThread {
    /// Runs a function on a thread of its own; the thread ends with the function.
    ///
    /// - Returns: Whether the system granted a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = unsafe Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let box = unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                box.body()
                return nil
            },
            box.toOpaque()
        )
        guard result == 0 else {
            unsafe box.release()
            return false
        }
        _ = pthread_detach(thread)
        return true
    }
}

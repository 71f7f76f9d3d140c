// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

@testable import NetPathCLI

/// Runs a function that blocks on a thread of its own, and suspends until it returns.
///
/// The pool of the Swift runtime has as many threads as the machine has processors: one that blocks there is missing
/// to the backends.
///
/// - Parameter body: The function.
/// - Returns: What the function returns.
/// - Throws: `SystemError` when there can be no more threads.
func onBlockingThread<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
        let work = ThreadWork { continuation.resume(returning: body()) }
        let argument = unsafe Unmanaged.passRetained(work)
        var thread = pthread_t()
        let error = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let work = unsafe Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue()
                work.body()
                return nil
            },
            argument.toOpaque()
        )
        guard error == 0 else {
            unsafe argument.release()
            continuation.resume(throwing: SystemError(action: "cannot start a thread", errno: error))
            return
        }
        _ = pthread_detach(thread)
    }
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

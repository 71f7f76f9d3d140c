// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

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
        guard BackgroundThread.start({ continuation.resume(returning: body()) }) else {
            continuation.resume(throwing: SystemError(action: "cannot start a thread", errno: 11))
            return
        }
    }
}

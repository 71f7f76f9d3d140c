// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Threads for what blocks: neither Swift's pool nor libdispatch's may be held up.
public enum BackgroundThread: Sendable {
    /// Runs a function on a thread of its own; the thread ends with the function.
    ///
    /// - Returns: Whether the system granted a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool { self.create(body) == 0 }

    /// Starts a thread; returns 0, or the error number.
    private static func create(_ body: @escaping @Sendable () -> Void) -> Int32 {
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
        if result == 0 { _ = pthread_detach(thread) } else { unsafe box.release() }
        return result
    }

    /// Runs a function on a thread of its own, and suspends until it returns.
    ///
    /// It knows nothing of the task: what blocks there has to end by itself when the task is cancelled.
    ///
    /// - Throws: What the function throws, or an error that says so when the system grants no thread.
    public static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let error = Self.create { continuation.resume(with: Result(catching: body)) }
            if error != 0 { continuation.resume(throwing: SystemError(action: "cannot start a thread", errno: error)) }
        }
    }
}

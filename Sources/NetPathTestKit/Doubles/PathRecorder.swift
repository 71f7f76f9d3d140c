// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// Keeps the paths a coordinator publishes: subscribe its ``record(_:)``.
public final class PathRecorder: Sendable {
    private let state = AwaitableState<[NetworkPath]>([])

    /// Creates an empty recorder.
    public init() {}

    /// Keeps a path; callable from any thread.
    @Sendable
    public func record(_ path: NetworkPath) {
        self.state.update { $0.append(path) }
    }

    /// The paths so far, in order.
    public var paths: [NetworkPath] { self.state.value }

    /// Suspends until a number of paths has been recorded, and returns all so far.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForPaths(_ count: Int) async throws -> [NetworkPath] {
        try await self.state.wait { $0.count >= count }
        return self.paths
    }

    /// Suspends until a recorded path meets a condition, and returns all so far.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForPath(where condition: @escaping @Sendable (NetworkPath) -> Bool) async throws -> [NetworkPath] {
        try await self.state.wait { $0.contains(where: condition) }
        return self.paths
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathCLI
import OfflineRequests
import Synchronization

/// What a command works with: the file, the queue in it, and a loop on the main thread to wait in.
struct QueueSession {
    /// The file that was named; nil for the usual one.
    let file: String?
    let loop: EventLoop

    init(file: String?) throws {
        self.file = file
        self.loop = try EventLoop()
    }

    /// Opens the queue; this process does not send.
    ///
    /// - Returns: The queue, which does nothing by itself yet.
    /// - Throws: `QueueError` when the file cannot be used.
    func open() throws(QueueError) -> OfflineRequestQueue {
        try OfflineRequestQueue(file: self.file, settings: QueueSettings(sends: false))
    }

    /// Opens the queue, to send once it is started, over the paths that the configuration describes.
    ///
    /// - Returns: The queue, which does nothing by itself yet.
    /// - Throws: `QueueError` when the file cannot be used, `ConfigurationError` when the configuration is bad.
    func openToSend(_ options: RequestOptions) throws -> OfflineRequestQueue {
        let monitor = NetworkMonitor(
            deliverOn: .queue(DispatchQueue(label: "netpath.monitor")),
            makeCoordinator: try options.configuredCoordinator()
        )
        return try OfflineRequestQueue(file: self.file, monitor: monitor)
    }

    /// Waits for something asynchronous on this thread; nothing here needs the pool of the runtime.
    ///
    /// - Parameter body: Runs on this thread.
    /// - Returns: What it returns.
    /// - Throws: What it throws.
    func wait<Value: Sendable>(
        for body: @escaping @Sendable () async throws(QueueError) -> Value
    ) throws(QueueError) -> Value {
        let work = self.begin(body)
        while true {
            if let result = work.result { return try result.get() }
            _ = self.loop.reasons()
        }
    }

    /// Begins something asynchronous, whose end wakes the loop.
    ///
    /// - Parameter body: Runs on the thread of the loop, while that turns.
    /// - Returns: What tells its end.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws(QueueError) -> Value) -> Work<Value> {
        let work = Work<Value>()
        let loop = self.loop
        Task(executorPreference: loop) {
            let result: Result<Value, QueueError>
            do throws(QueueError) { result = .success(try await body()) } catch { result = .failure(error) }
            work.end(result)
            loop.wakeUp.wake(.output)
        }
        return work
    }

    /// Something asynchronous that was begun.
    final class Work<Value: Sendable>: Sendable {
        private let state = Mutex<Result<Value, QueueError>?>(nil)

        /// What came of it; nil while it goes on.
        var result: Result<Value, QueueError>? { self.state.withLock { $0 } }

        fileprivate func end(_ result: Result<Value, QueueError>) {
            self.state.withLock { $0 = result }
        }
    }
}

extension ToolFailure {
    /// Says what the queue said: what the caller did wrong is wrong usage, the rest is not.
    init(_ error: QueueError) {
        let status: ToolStatus =
            switch error {
            case .invalidRequest, .bodyTooLarge, .bodyUnreadable: .usage
            case .unknownID: .unsatisfied
            default: .failure
            }
        self.init(status, error.description.safe)
    }
}

extension UUID {
    /// The identifier as it is written everywhere.
    var text: String { self.uuidString.lowercased() }

    /// Reads one that was typed.
    ///
    /// - Throws: `ToolFailure` when it is none.
    init(argument: String) throws(ToolFailure) {
        guard let id = UUID(uuidString: argument) else {
            throw ToolFailure(
                .usage,
                "'\(argument.safe)' is no identifier; 'send' prints them, and 'queue list' shows them"
            )
        }
        self = id
    }
}

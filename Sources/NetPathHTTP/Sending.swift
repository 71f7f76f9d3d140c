// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

extension HTTPTransport {
    /// Sends a request and waits for the response; cancelling the task cancels it.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``TransportError``: whether sending again is safe says its ``TransportError/progress``.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let canceller = Canceller()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
                guard !canceller.isCancelled else {
                    let message = "\(request.method) \(request.place): cancelled before it was sent"
                    let error = TransportError(.cancelled, progress: .notSent, message: message)
                    continuation.resume(returning: Result<TransportResponse, TransportError>.failure(error))
                    return
                }
                canceller.started(self.start(request) { continuation.resume(returning: $0) })
            }
        } onCancel: {
            canceller.cancel()
        }
        return try result.get()
    }
}

/// Brings a request together with its cancellation, which may come first.
private final class Canceller: Sendable {
    private enum State {
        case waiting
        case started(any TransportTask)
        case cancelled
    }

    private let state = Mutex(State.waiting)

    var isCancelled: Bool {
        self.state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    func started(_ task: any TransportTask) {
        let isLate = self.state.withLock { state in
            if case .cancelled = state { return true }
            state = .started(task)
            return false
        }
        if isLate { task.cancel() }
    }

    func cancel() {
        let task: (any TransportTask)? = self.state.withLock { state in
            defer { state = .cancelled }
            return if case .started(let task) = state { task } else { nil }
        }
        task?.cancel()
    }
}

extension TransportRequest {
    /// Where it goes, for messages: without the query and the fragment, which may hold secrets.
    public var place: String { String(self.url.prefix { $0 != "?" && $0 != "#" }) }
}

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
        let task = Mutex<(any TransportTask)?>(nil)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
                guard !Task.isCancelled else {
                    let message = "\(request.method) \(request.place): cancelled before it was sent"
                    let error = TransportError(.cancelled, progress: .notSent, message: message)
                    continuation.resume(returning: Result<TransportResponse, TransportError>.failure(error))
                    return
                }
                let started = self.start(request) { continuation.resume(returning: $0) }
                task.withLock { $0 = started }
                // A cancellation that came first found nothing to cancel.
                if Task.isCancelled { started.cancel() }
            }
        } onCancel: {
            task.withLock { $0 }?.cancel()
        }
        return try result.get()
    }
}

extension TransportRequest {
    /// Where it goes, for messages: without the query and the fragment, which may hold secrets.
    public var place: String { String(self.url.prefix { $0 != "?" && $0 != "#" }) }
}

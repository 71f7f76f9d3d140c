// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
public import NetPathHTTP

extension OfflineClient {
    /// Keeps a request that was made before, sends it, and waits for its answer, for those who need not know that.
    ///
    /// - Parameter request: The request; its address and headers are taken as they are.
    /// - Returns: The response.
    /// - Throws: ``OfflineClientError``; ``OfflineClientError/queuedForRetry(_:)`` when it will be sent by itself.
    @discardableResult
    public func fetchWithOfflineSupport(
        _ request: RetryableRequest
    ) async throws(OfflineClientError) -> TransportResponse {
        do { try request.validate(maxBodyBytes: self.queue.settings.limits.maxBodyBytes) } catch {
            throw OfflineClientError(error)
        }
        if Task.isCancelled { throw .cancelled(queuedAs: nil) }
        self.queue.start()
        let isRead = ["GET", "HEAD"].contains(request.method)
        switch await self.queue.core.fetch(request, isKept: self.keepsReads || !isRead) {
        case .answered(let response): return response
        case .failed(.success(let response)): throw .status(response.status, body: response.body)
        case .failed(.failure(let error)): throw .notRetryable(error)
        case .kept(let id): throw Task.isCancelled ? .cancelled(queuedAs: id) : .queuedForRetry(id)
        case .withoutPath(let reason): throw .noPath(reason)
        case .cancelled: throw .cancelled(queuedAs: nil)
        case .refused(let error): throw OfflineClientError(error)
        }
    }
}

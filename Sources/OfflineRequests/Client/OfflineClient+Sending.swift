// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
public import NetPathHTTP

extension OfflineClient {
    /// Sends a request that was made before, or keeps it for later, for those who need not know the answer.
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
        guard self.mayGoNow(request) else { throw await self.keep(request) }
        var http = request.httpRequest()
        if let prepare = self.queue.settings.prepare {
            do { try await prepare(&http, request) } catch { throw await self.keep(request) }
        }
        let result = await self.send(http)
        if Task.isCancelled, case .failure = result { throw .cancelled(queuedAs: nil) }
        guard let answer = self.answer(to: request, of: result) else { throw await self.keep(request, after: result) }
        return try answer.get()
    }

    /// Sends, and gives up when the connection is lost: what the network has forgotten would be waited for in vain.
    private func send(_ request: TransportRequest) async -> AttemptResult {
        let transport = self.queue.core.transport
        let sending = Task { () async -> AttemptResult in
            do throws(TransportError) { return .success(try await transport.send(request)) } catch {
                return .failure(error)
            }
        }
        // The sequence, because the calls of a monitor wait for a queue that nobody may serve.
        let watch = Task(executorPreference: self.queue.core.executor) { [monitor = self.queue.monitor] in
            for await update in monitor.updates where !update.isConnected { sending.cancel() }
        }
        defer { watch.cancel() }
        return await withTaskCancellationHandler {
            await sending.value
        } onCancel: {
            sending.cancel()
        }
    }

    /// What an attempt means for the caller, by the rules that the queue has too; nil when it is made again later.
    private func answer(
        to request: RetryableRequest,
        of result: AttemptResult
    ) -> Result<TransportResponse, OfflineClientError>? {
        let policy = self.queue.settings.responses
        let failure: OfflineClientError =
            switch result {
            case .success(let response): .status(response.status, body: response.body)
            case .failure(let error): .notRetryable(error)
            }
        switch (policy.outcome(of: result, for: request, at: Date()).outcome, result) {
        case (.succeeded, .success(let response)): return .success(response)
        case (.again, _), (.notSent, _): return nil
        case (.misled, _): return self.queue.monitor.path?.internet == .reachable ? .failure(failure) : nil
        default: return .failure(failure)
        }
    }

    /// Whether there is a path that suits the request, and nothing that has to go first.
    private func mayGoNow(_ request: RetryableRequest) -> Bool {
        // The queue watches hosts; and what may have to wait for another in the queue must meet it there.
        let facts = PathFacts(update: self.queue.monitor.update)
        guard facts.lacks(Gate(request)) == nil else { return false }
        // Where that cannot be read, to keep it says why.
        return (request.orderingKey == nil && request.uniqueKey == nil) || (try? self.queue.counts.pending) == 0
    }

    /// Keeps a request.
    ///
    /// - Returns: What to throw.
    private func keep(_ request: RetryableRequest, after failure: AttemptResult? = nil) async -> OfflineClientError {
        // What the caller gave up is not worth sending later.
        if Task.isCancelled { return .cancelled(queuedAs: nil) }
        do {
            let id = try await self.queue.core.enqueue(request, after: failure)
            return Task.isCancelled ? .cancelled(queuedAs: id) : .queuedForRetry(id)
        } catch {
            return OfflineClientError(error)
        }
    }
}

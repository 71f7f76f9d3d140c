// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// Why there is no answer now.
public enum OfflineClientError: Error, Hashable, Sendable {
    /// It is kept on disk and will be sent by itself; the handler of its type gets the response.
    case queuedForRetry(UUID)
    /// There is no path, for this reason; nothing was kept, since the request only reads: ``OfflineClient/keepsReads``.
    case noPath(String)
    /// The server answered with this status, which another attempt would not change.
    case status(Int, body: [UInt8])
    /// The server answered, but not with what was expected.
    case decoding(String)
    /// The request failed in a way that another attempt would not change, for example at the server's certificate.
    case notRetryable(TransportError)
    /// The request cannot be sent as it is; nothing was sent or kept.
    case invalidRequest(field: String, reason: String)
    /// It could neither be sent now nor be kept.
    case queue(QueueError)
    /// The task was cancelled. With an id the wait was over by then: the request goes out by itself, unless
    /// ``OfflineRequestQueue/cancelRequest(id:)`` takes it back; without one it is not in the queue, but the server may have
    /// received it.
    case cancelled(queuedAs: UUID?)
}

extension OfflineClientError {
    init(_ error: QueueError) {
        self =
            if case .invalidRequest(let field, let reason) = error {
                .invalidRequest(field: field, reason: reason)
            } else {
                .queue(error)
            }
    }
}

extension OfflineClientError: CustomStringConvertible, LocalizedError {
    /// The description.
    public var errorDescription: String? { self.description }

    /// What, why, and what to do.
    public var description: String {
        switch self {
        case .queuedForRetry(let id):
            "not sent yet: the request is kept as \(id.uuidString.lowercased()) and goes out by itself"
        case .noPath(let reason): "not sent, and not kept: there is no path: \(reason)"
        case .status(let status, _): "the server answered \(status); sending again would not change that"
        case .decoding(let reason): "the server's answer is not what was expected: \(reason)"
        case .notRetryable(let error): error.description
        case .invalidRequest(let field, let reason): "the request was not sent: its \(field) \(reason)"
        case .queue(let error): error.description
        case .cancelled(nil): "cancelled, and not kept; the server may have received the request all the same"
        case .cancelled(let id?):
            "cancelled, but the request was kept before as \(id.uuidString.lowercased()) and goes out by itself"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Sends requests.
///
/// Every function may be called on any thread and does not block.
public protocol HTTPTransport: Sendable {
    /// Begins to send a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - receive: Called exactly once, on some thread, possibly before this function returns; it must not block.
    /// - Returns: What cancels it.
    func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask

    /// Hears that connections which stood before may lead nowhere, because the path they were made over is another now.
    ///
    /// Requests that begin from then on must not have to find that out by waiting. The default does nothing, for
    /// transports that keep no connections.
    func pathChanged()

    /// Ends the requests, as if they were cancelled, whose connections were made from addresses that this host has no
    /// more, and those that have no connection yet; others go on.
    ///
    /// - Parameter addresses: The addresses as `inet_ntop(3)` writes them.
    /// - Returns: Whether the transport knows what its connections were made from; the caller cancels all requests if not.
    ///   The default is false.
    func cancelRequests(from addresses: Set<String>) -> Bool
}

extension HTTPTransport {
    /// Does nothing: no connection is kept.
    public func pathChanged() {}

    /// Does nothing: what connections were made from is not known.
    public func cancelRequests(from addresses: Set<String>) -> Bool { false }
}

/// A request that is under way.
public protocol TransportTask: Sendable {
    /// Ends it, at any instant and any number of times; it is then received as ``TransportError/Reason/cancelled``
    /// unless its end came first.
    func cancel()
}

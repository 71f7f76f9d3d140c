// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

/// Sends requests with libcurl, all on one background thread.
///
/// The thread starts with the first request, and sleeps without any timer while nothing is under way. Connections are
/// kept for further requests. Redirects are not followed, cookies are not kept. Proxies are taken from the environment
/// (`http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`), unless one is given.
///
/// A request whose connection breaks before an answer comes is sent once more by itself only where that is safe: when
/// nothing of it had left this host, or when its method is idempotent (RFC 9110, 9.2.2).
///
/// - Note: `TransportRequest.interface` needs Linux 5.7 or the capability CAP_NET_RAW; without, only the address of the
///   interface is used, and routes decide.
public final class CurlTransport: HTTPTransport {
    /// The one that a process usually shares.
    public static let shared = CurlTransport()

    private let engine: Engine

    /// Creates a transport, which has connections of its own.
    ///
    /// With a file or a folder of certificates nothing else is trusted: the system's are not.
    ///
    /// - Parameters:
    ///   - certificateAuthority: A file of certificates (PEM) to trust instead of the system's.
    ///   - certificateFolder: A folder of them (`openssl rehash`), instead or besides.
    ///   - proxy: The address of a proxy instead of those of the environment; empty for none.
    public init(certificateAuthority: String? = nil, certificateFolder: String? = nil, proxy: String? = nil) {
        self.engine = Engine(
            EasyHandle.Configuration(
                certificateAuthority: certificateAuthority,
                certificateFolder: certificateFolder,
                proxy: proxy
            )
        )
    }

    deinit {
        self.engine.post(.stop)
    }

    /// Begins to send a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - receive: Called once, on the thread of all requests, or on this one when the request is not valid; it must
    ///     not block.
    /// - Returns: What cancels it.
    public func start(
        _ request: TransportRequest,
        receive: @escaping @Sendable (Result<TransportResponse, TransportError>) -> Void
    ) -> any TransportTask {
        do throws(TransportError) {
            try request.validate()
        } catch {
            receive(.failure(error))
            return Task(engine: self.engine, number: 0)
        }
        return Task(engine: self.engine, number: self.engine.start(request, receive: receive))
    }

    /// Requests that begin from now on use no connection that was idle when this was called.
    public func pathChanged() {
        self.engine.post(.pathChanged)
    }

    /// Ends the requests whose connections were made from these addresses, and those that have none yet.
    ///
    /// - Parameter addresses: The addresses as `inet_ntop(3)` writes them.
    /// - Returns: True.
    public func cancelRequests(from addresses: Set<String>) -> Bool {
        self.engine.post(.cancelFrom(addresses))
        return true
    }

    private struct Task: TransportTask {
        let engine: Engine
        let number: UInt64

        func cancel() {
            if self.number > 0 { self.engine.post(.cancel(self.number)) }
        }
    }
}

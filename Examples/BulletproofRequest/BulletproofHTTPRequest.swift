// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP
import Reachability

/// The same over HTTP, for code that awaits: cancelling the task ends it at any instant.
struct BulletproofHTTPRequest: Sendable {
    let request: TransportRequest
    /// Whether it may go over a cellular link.
    let allowsCellularAccess: Bool
    let transport: any HTTPTransport
    /// Receives what each step of the request does.
    let log: @Sendable (String) -> Void

    /// Waits until the host can be reached, sends the request, and sends it again where that is safe.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: `CancellationError`; `TransportError` when sending again would not help, or might act twice;
    ///   `HostReachabilityError` when the address has no host.
    func response() async throws -> TransportResponse {
        let host = try HostReachability(url: self.request.url)
        defer { host.cancel() }
        while true {
            let status = try await self.usableStatus(of: host)
            self.log("requesting: \(status.reason.message)")
            do throws(TransportError) {
                return try await self.transport.send(self.request)
            } catch {
                try Task.checkCancellation()
                guard self.mayRepeat(after: error) else { throw error }
                self.log("lost: \(error)")
            }
            // A host that can be reached may still be restarting.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func usableStatus(of host: HostReachability) async throws -> HostStatus {
        for await status in host.statuses {
            if status.isReachable(allowingCellular: self.allowsCellularAccess) { return status }
            self.log("waiting: \(status.name)")
        }
        throw CancellationError()
    }

    /// Whether the server cannot have acted on it, or acting twice is the same as once (RFC 9110, 9.2.2).
    private func mayRepeat(after error: TransportError) -> Bool {
        let isIdempotent = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(self.request.method)
        guard error.progress == .notSent || isIdempotent else { return false }
        switch error.reason {
        case .nameNotResolved, .refused, .unreachable, .connectTimedOut, .timedOut, .connectionLost: return true
        case .invalidRequest, .file, .tls, .badResponse, .cancelled, .other: return false
        }
    }
}

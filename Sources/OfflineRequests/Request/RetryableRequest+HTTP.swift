// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

extension RetryableRequest {
    static let keyHeader = "Idempotency-Key"

    /// The host it goes to, in lower case, with the port where that is not the scheme's; of use only when the address
    /// is valid.
    public var host: String { (try? Endpoint(self.endpoint))?.authority ?? "" }

    /// Whether a server can tell a repeat of it from a new request.
    var carriesKey: Bool { self.idempotencyKey != nil || self.headers[Self.keyHeader] != nil }

    /// Makes what is sent at every attempt.
    ///
    /// - Parameter bodyFile: The queue's own copy of the body, where it has one.
    /// - Returns: The request, with the idempotency key among its headers.
    public func httpRequest(bodyFile: String? = nil) -> TransportRequest {
        var headers = self.headers
        if let key = self.idempotencyKey {
            // A string of structured fields (RFC 9651, 3.3.3). Searching for texts would take longer than all the rest.
            let isSpecial = { (byte: UInt8) in byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") }
            headers[Self.keyHeader] =
                key.utf8.contains(where: isSpecial)
                ? "\"\(key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"" : "\"\(key)\""
        }
        let body: TransportRequest.Body =
            if let file = bodyFile ?? self.bodyFile {
                .file(file)
            } else if let data = self.body {
                .bytes([UInt8](data))
            } else {
                .none
            }
        return TransportRequest(
            method: self.method,
            url: self.endpoint,
            headers: headers,
            body: body,
            timeouts: self.timeouts,
            responseLimit: self.responseLimit
        )
    }
}

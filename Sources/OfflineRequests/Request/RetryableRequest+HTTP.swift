// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
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
    /// - Returns: The request, with the idempotency key among its headers.
    public func httpRequest() -> TransportRequest {
        var headers = self.headers
        if let key = self.idempotencyKey {
            // A string of structured fields (RFC 9651, 3.3.3). Searching for texts would take longer than all the rest.
            let isSpecial = { (byte: UInt8) in byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") }
            headers[Self.keyHeader] =
                key.utf8.contains(where: isSpecial)
                ? "\"\(key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"" : "\"\(key)\""
        }
        let body: TransportRequest.Body =
            if let file = self.bodyFile {
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

extension RequestRecord {
    /// The record as it may be shown: ``RetryableRequest/redacted``, and the response without the values of headers
    /// that are not known to be harmless.
    ///
    /// The bodies stay; they are not for logs.
    public var redacted: RequestRecord {
        var copy = self
        copy.request = self.request.redacted
        copy.lastError = self.lastError.map(self.request.redact)
        copy.response?.headers =
            self.response?.headers.redacted { self.request.isSensitive(header: $0) } ?? HeaderFields()
        return copy
    }
}

extension RetryableRequest {
    /// Whether the value of that header must not be shown: of all that are not known to be harmless, such as
    /// `Content-Type`, and of ``sensitiveHeaders``.
    public func isSensitive(header name: String) -> Bool {
        Redaction.isSensitive(header: name)
            || self.sensitiveHeaders.contains { $0.lowercased() == name.lowercased() }
    }

    /// The request as it may be shown: without the values of headers that are not known to be harmless, and without
    /// the name of a user and the values of the query in its address.
    ///
    /// The body stays; it is not for logs.
    public var redacted: RetryableRequest {
        var copy = self
        copy.endpoint = Redaction.redact(endpoint: self.endpoint)
        copy.headers = self.headers.redacted { self.isSensitive(header: $0) }
        return copy
    }

    /// A text, such as the error of a transport, without the secrets of this request.
    public func redact(_ text: String) -> String {
        var secrets: Set<String> = []
        for secret in Redaction.secrets(of: self.endpoint) {
            secrets.insert(String(secret))
            // The password alone, and as it was meant.
            for part in secret.split(separator: ":") {
                secrets.insert(String(part))
                if let plain = String(part).removingPercentEncoding { secrets.insert(plain) }
            }
        }
        for field in self.headers.fields where self.isSensitive(header: field.name) {
            secrets.insert(field.value)
            for part in field.value.split(whereSeparator: { $0 == " " || $0 == ";" || $0 == "," }) {
                secrets.insert(String(part))
                if let equals = part.firstIndex(of: "=") { secrets.insert(String(part[equals...].dropFirst())) }
            }
        }
        // Shorter ones are no secrets but words, and would tear holes into every sentence.
        let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "token"]
        return secrets.filter { $0.utf8.count >= 4 && !schemes.contains($0.lowercased()) }
            .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
            .reduce(text) { $0.replacing($1, with: Redaction.mark) }
    }
}

extension RetryableRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, the address without its secrets, and the id.
    public var description: String {
        "\(self.method) \(Redaction.redact(endpoint: self.endpoint)) (\(self.id.text))"
    }

    /// The description, for debuggers: no more than may be shown.
    public var debugDescription: String { self.description }

    /// The description and the headers, for `dump`: no more than may be shown.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["request": self.description, "headers": self.redacted.headers.fields],
            displayStyle: .struct
        )
    }
}

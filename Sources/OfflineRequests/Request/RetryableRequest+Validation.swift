// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import Reachability

extension RetryableRequest {
    /// Checks everything that can be known before it is sent, without touching files or the network.
    ///
    /// - Parameter maxBodyBytes: How long ``body`` may be.
    /// - Throws: ``QueueError/invalidRequest(field:reason:)``, which never quotes a secret, or
    ///   ``QueueError/bodyTooLarge(bytes:limit:)``.
    public func validate(maxBodyBytes: Int = .max) throws(QueueError) {
        do {
            try Endpoint.validate(self.endpoint)
        } catch {
            throw .invalidRequest(field: "endpoint", reason: error.reason)
        }
        try self.validateMethod()
        for field in self.headers.fields { try Self.validate(field) }
        try self.validateKeysAndTexts()
        try self.validateNumbers()
        guard self.body == nil || self.bodyFile == nil else {
            throw .invalidRequest(field: "body", reason: "is given twice, as bytes and as a file; give one")
        }
        if let count = self.body?.count, count > maxBodyBytes {
            throw .bodyTooLarge(bytes: count, limit: maxBodyBytes)
        }
    }

    /// The methods of the IANA registry, QUERY and PURGE, but not CONNECT, PRI and TRACE, which no client may use so.
    static let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PURGE", "ACL", "BASELINE-CONTROL", "BIND",
        "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL",
        "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND", "PROPPATCH", "REBIND", "REPORT",
        "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    private func validateMethod() throws(QueueError) {
        guard !Self.methods.contains(self.method) else { return }
        var reason = "is unknown: \(self.method.printable(limit: 40))"
        if let near = nearestMatch(to: self.method, among: Self.methods) { reason += "; did you mean \(near)?" }
        throw .invalidRequest(field: "method", reason: reason)
    }

    /// What the transport makes itself: a second one would disagree, and let one request be read as two.
    private static let made: Set<String> = [
        "connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    private static func validate(_ field: HTTPHeaders.Field) throws(QueueError) {
        // RFC 9110, 5.6.2.
        let isToken = field.name.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(octet)
            }
        }
        guard isToken, !field.name.isEmpty else {
            throw .invalidRequest(
                field: "header \(field.name.printable(limit: 60))",
                reason: "has a name with other characters than letters, digits and hyphens"
            )
        }
        guard !self.made.contains(field.name.lowercased()) else {
            throw .invalidRequest(
                field: "header \(field.name.printable(limit: 60))",
                reason: "is made by the transport; leave it out"
            )
        }
        // RFC 9110, 5.5.
        guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .invalidRequest(
                field: "header \(field.name.printable(limit: 60))",
                reason: "has a line break or a control character in its value"
            )
        }
    }

    private func validateKeysAndTexts() throws(QueueError) {
        if let key = self.idempotencyKey {
            guard !key.isEmpty, key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .invalidRequest(field: "idempotency key", reason: "is not printable ASCII, or is empty")
            }
            guard self.headers[Self.keyHeader] == nil else {
                throw .invalidRequest(field: "idempotency key", reason: "is given twice, also as a header; give one")
            }
        }
        let texts = [
            ("type", self.requestType), ("ordering key", self.orderingKey), ("unique key", self.uniqueKey),
            ("body file", self.bodyFile),
        ]
        for (name, text) in texts {
            guard let text, text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { continue }
            throw .invalidRequest(field: name, reason: "has a line break or a control character")
        }
        for (name, text) in texts.dropFirst() where text?.isEmpty == true {
            throw .invalidRequest(field: name, reason: "is empty; leave it out")
        }
        if let host = self.requires.hostReachable {
            do {
                _ = try HostTarget(host)
            } catch {
                throw .invalidRequest(field: "required host", reason: "cannot be asked about: \(error)")
            }
        }
        guard self.requires.interfaceType != ConnectionType.none else {
            throw .invalidRequest(field: "required interface", reason: "is none, over which nothing goes")
        }
    }

    private func validateNumbers() throws(QueueError) {
        guard self.maxRetries >= 0 else {
            throw .invalidRequest(field: "limit of retries", reason: "is negative; 0 is one attempt")
        }
        for (name, date) in [("timestamp", self.timestamp), ("expiry", self.expiresAt)] {
            guard date?.timeIntervalSince1970.isFinite ?? true else {
                throw .invalidRequest(field: name, reason: "is no point in time")
            }
        }
        let limits = [
            ("connect timeout", self.timeouts.connect), ("total timeout", self.timeouts.total),
            ("stall timeout", self.timeouts.stall),
        ]
        for (name, limit) in limits where limit.map({ $0 <= .zero }) == true {
            throw .invalidRequest(field: name, reason: "is not longer than nothing")
        }
    }
}

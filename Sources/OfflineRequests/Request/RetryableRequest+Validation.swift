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
        _ = try self.validEndpoint(maxBodyBytes: maxBodyBytes)
    }

    /// The same; returns where it goes, which may be where the last one went.
    func validEndpoint(maxBodyBytes: Int, after last: Endpoint? = nil) throws(QueueError) -> Endpoint {
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(checking: self.endpoint, after: last)
        } catch {
            throw .invalidRequest(field: "endpoint", reason: error.reason)
        }
        try self.validateMethod()
        for field in self.headers.fields { try Self.validate(field) }
        try self.validateKeysAndTexts()
        try self.validateNumbers()
        try self.validateExpectations()
        guard self.body == nil || self.bodyFile == nil else {
            throw .invalidRequest(field: "body", reason: "is given twice, as bytes and as a file; give one")
        }
        if let count = self.body?.count, count > maxBodyBytes {
            throw .bodyTooLarge(bytes: count, limit: maxBodyBytes)
        }
        return endpoint
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

    private static func validate(_ field: HeaderFields.Field) throws(QueueError) {
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
        try Self.validate("type", self.requestType)
        try Self.validate("ordering key", self.orderingKey, mayBeEmpty: false)
        try Self.validate("unique key", self.uniqueKey, mayBeEmpty: false)
        try Self.validate("body file", self.bodyFile, mayBeEmpty: false)
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

    private static func validate(_ name: String, _ text: String?, mayBeEmpty: Bool = true) throws(QueueError) {
        guard let text else { return }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .invalidRequest(field: name, reason: "has a line break or a control character")
        }
        if text.isEmpty, !mayBeEmpty { throw .invalidRequest(field: name, reason: "is empty; leave it out") }
    }

    private func validateExpectations() throws(QueueError) {
        guard self.expects.statuses.allSatisfy({ (200...599).contains($0) }) else {
            throw .invalidRequest(field: "expected status", reason: "is none of a final answer; those are 200 to 599")
        }
        guard self.expects.headers.fields.allSatisfy({ !$0.name.isEmpty }) else {
            throw .invalidRequest(field: "expected header", reason: "has no name")
        }
    }

    private func validateNumbers() throws(QueueError) {
        guard self.maxRetries >= 0 else {
            throw .invalidRequest(field: "limit of retries", reason: "is negative; 0 is one attempt")
        }
        try Self.validate("timestamp", self.timestamp)
        try Self.validate("expiry", self.expiresAt)
        try Self.validate("connect timeout", self.timeouts.connect)
        try Self.validate("total timeout", self.timeouts.total)
        try Self.validate("stall timeout", self.timeouts.stall)
        guard self.timeouts.minimumRate >= 0 else {
            throw .invalidRequest(field: "minimum rate", reason: "is negative; 0 is any at all")
        }
    }

    private static func validate(_ name: String, _ date: Date?) throws(QueueError) {
        guard let date, !date.timeIntervalSince1970.isFinite else { return }
        throw .invalidRequest(field: name, reason: "is no point in time")
    }

    private static func validate(_ name: String, _ limit: Duration?) throws(QueueError) {
        guard let limit, limit <= .zero else { return }
        throw .invalidRequest(field: name, reason: "is not longer than nothing")
    }
}

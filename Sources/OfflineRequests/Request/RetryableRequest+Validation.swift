// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP

/// The one place that says whether a request can be sent as it is.
extension RetryableRequest {
    /// Checks everything that can be known before it is sent, without touching files or the network.
    ///
    /// - Parameter maxBodyBytes: How long ``body`` may be.
    /// - Throws: ``QueueError/invalidRequest(field:reason:)``, which never quotes a secret, or
    ///   ``QueueError/bodyTooLarge(bytes:limit:)``.
    public func validate(maxBodyBytes: Int = .max) throws(QueueError) {
        _ = try self.validEndpoint(maxBodyBytes: maxBodyBytes)
    }

    /// The same; returns where it goes.
    func validEndpoint(maxBodyBytes: Int) throws(QueueError) -> Endpoint {
        let endpoint: Endpoint
        do throws(Endpoint.Fault) { endpoint = try Endpoint(checking: self.endpoint) } catch {
            throw .invalidRequest(field: "endpoint", reason: error.reason)
        }
        do throws(NetworkHost.Fault) { _ = try NetworkHost(urlHost: endpoint.host) } catch {
            throw .invalidRequest(field: "endpoint", reason: error.description)
        }
        try self.validateMethod()
        for field in self.headers.fields { try Self.validate(field) }
        try self.validateTexts()
        try self.validateNeeds()
        try self.validateNumbers()
        let isSingle = self.body == nil || self.bodyFile == nil
        try Self.require(isSingle, "body", "is given twice, as bytes and as a file; give one")
        if let count = self.body?.count, count > maxBodyBytes {
            throw .bodyTooLarge(bytes: count, limit: maxBodyBytes)
        }
        return endpoint
    }

    private static func require(_ isValid: Bool, _ field: String, _ reason: String) throws(QueueError) {
        guard isValid else { throw .invalidRequest(field: field, reason: reason) }
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

    /// What is between this host and the next one only (RFC 9110, 7.6.1), which the transport makes.
    private static let hopByHop: Set<String> = ["connection", "keep-alive", "proxy-connection", "te"]

    private static func validate(_ field: HeaderFields.Field) throws(QueueError) {
        let isMade = self.hopByHop.contains(field.name.lowercased())
        guard let fault = isMade ? "is made by the transport; leave it out" : field.problem else { return }
        throw .invalidRequest(field: "header \(field.name.printable(limit: 60))", reason: fault)
    }

    private func validateTexts() throws(QueueError) {
        if let key = self.idempotencyKey {
            let isPrintable = !key.isEmpty && key.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            try Self.require(isPrintable, "idempotency key", "is not printable ASCII, or is empty")
            let isSingle = self.headers[Self.keyHeader] == nil
            try Self.require(isSingle, "idempotency key", "is given twice, also as a header; give one")
        }
        for (field, text) in [
            ("type", self.requestType), ("ordering key", self.orderingKey), ("unique key", self.uniqueKey),
            ("body file", self.bodyFile),
        ] {
            let isText = text?.utf8.contains { $0 < 0x20 || $0 == 0x7F } != true
            try Self.require(isText, field, "has a line break or a control character")
            try Self.require(text?.isEmpty != true || field == "type", field, "is empty; leave it out")
        }
    }

    private func validateNeeds() throws(QueueError) {
        let isSomewhere = self.requires.interfaceType != ConnectionType.none
        try Self.require(isSomewhere, "required interface", "is none, which carries nothing")
        let areFinal = self.expectedStatuses.allSatisfy { (200...599).contains($0) }
        try Self.require(areFinal, "expected status", "is not final; final ones are 200 to 599")
        let areNamed = self.expectedHeaders.fields.allSatisfy { !$0.name.isEmpty }
        try Self.require(areNamed, "expected header", "has no name")
    }

    private func validateNumbers() throws(QueueError) {
        let isShort = self.context.map { $0.count <= Self.longestContext } ?? true
        try Self.require(isShort, "context", "is longer than 64 KiB; keep what is long in a file, and its name here")
        try Self.require(self.maxRetries >= 0, "limit of retries", "is negative; 0 means one attempt")
        try Self.require(self.timeouts.minimumRate >= 0, "minimum rate", "is negative; 0 means no minimum")
        try Self.require(self.responseLimit >= 0, "limit of the response", "is negative; 0 keeps no body")
        for (field, date) in [("timestamp", self.timestamp), ("expiry", self.expiresAt)] {
            try Self.require(date?.timeIntervalSince1970.isFinite != false, field, "is not a point in time")
        }
        for (field, limit) in [
            ("connect timeout", self.timeouts.connect), ("total timeout", self.timeouts.total),
            ("stall timeout", self.timeouts.stall),
        ] {
            try Self.require(limit.map { $0 > .zero } != false, field, "must be more than 0")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What must not be shown, and how a text without it is made.
package enum Redaction {
    /// What stands for a secret.
    package static let mark = "<redacted>"

    /// The headers whose values are no secrets, in lower case: what is not known to be harmless may be one.
    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "alt-svc",
        "cache-control", "connection", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-range", "content-type", "date", "etag", "expect", "expires", "host", "idempotency-key", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "last-modified",
        "pragma", "prefer", "preference-applied", "range", "retry-after", "server", "strict-transport-security", "te",
        "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning", "x-content-type-options",
        "x-frame-options", "x-request-id",
    ]

    /// Whether the value of a header may be a secret.
    package static func isSensitive(header name: String) -> Bool { !self.harmless.contains(name.lowercased()) }

    /// What may be secret in an address: what precedes the @ sign, and every value of the query and the fragment.
    package static func secrets(of endpoint: String) -> [Substring] {
        var found: [Substring] = []
        // Also of an address that is not valid: that is when it is printed.
        let start = endpoint.firstRange(of: "://")?.upperBound ?? endpoint.startIndex
        let end = endpoint[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? endpoint.endIndex
        if let at = endpoint[start..<end].lastIndex(of: "@") { found.append(endpoint[start..<at]) }
        if let query = endpoint[end...].firstIndex(where: { $0 == "?" || $0 == "#" }) {
            let parts = endpoint[query...].split { $0 == "?" || $0 == "&" || $0 == ";" || $0 == "#" }
            for part in parts {
                // What has no name is a value.
                let value = part.firstIndex(of: "=").map { part[$0...].dropFirst() } ?? part
                found.append(value)
            }
        }
        return found.filter { !$0.isEmpty }
    }

    /// An address without its secrets.
    package static func redact(endpoint: String) -> String {
        var result = endpoint
        // From the end, so that the places of those before stay right.
        for secret in self.secrets(of: endpoint).reversed() {
            result.replaceSubrange(secret.startIndex..<secret.endIndex, with: self.mark)
        }
        return result
    }
}

extension HeaderFields {
    /// The fields without the values that must not be shown.
    package func redacted(_ isSensitive: (String) -> Bool) -> HeaderFields {
        var copy = self
        for index in copy.fields.indices where isSensitive(copy.fields[index].name) {
            copy.fields[index].value = Redaction.mark
        }
        return copy
    }
}

// What is printed has no secrets, whatever prints it.

extension HeaderFields.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and the value; `<redacted>` for a value that is not known to be harmless.
    public var description: String { "\(self.name): \(self.shown)" }

    /// The same.
    public var debugDescription: String { self.description }

    /// The same, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["name": self.name, "value": self.shown]) }

    private var shown: String { Redaction.isSensitive(header: self.name) ? Redaction.mark : self.value }
}

extension TransportRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, and the address without its secrets.
    public var description: String { "\(self.method) \(Redaction.redact(endpoint: self.url))" }

    /// The same.
    public var debugDescription: String { self.description }

    /// The fields for `dump`, without secrets and without the body.
    public var customMirror: Mirror {
        let body =
            switch self.body {
            case .none: "none"
            case .bytes(let bytes): "\(bytes.count) bytes"
            case .file(let path): path
            }
        return Mirror(
            self,
            children: [
                "method": self.method, "url": Redaction.redact(endpoint: self.url), "headers": self.headers.fields,
                "body": body, "timeouts": self.timeouts, "interface": self.interface as Any,
                "responseLimit": self.responseLimit, "responseFile": self.responseFile as Any,
            ],
            displayStyle: .struct
        )
    }
}

extension TransportResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The status, and how long the body is.
    public var description: String { "\(self.status), \(self.body.count) bytes\(self.isCut ? ", cut there" : "")" }

    /// The same.
    public var debugDescription: String { self.description }

    /// The fields for `dump`, without secrets and without the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": self.status, "headers": self.headers.fields, "bodyBytes": self.body.count,
                "isCut": self.isCut,
            ],
            displayStyle: .struct
        )
    }
}

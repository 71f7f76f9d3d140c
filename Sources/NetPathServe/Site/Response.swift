// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An answer that is complete.
package struct Response: Sendable {
    package var status: Int
    /// The fields besides those that every answer has.
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    package init(_ status: Int, _ type: String, _ body: [UInt8], fields: [(String, String)] = []) {
        self.status = status
        self.fields = [("Content-Type", type)] + fields
        self.body = body
    }

    /// A sentence for the client, as JSON.
    static func refusal(_ status: Int, _ sentence: StaticString, fields: [(String, String)] = []) -> Response {
        Response(status, MediaType.json, Array(#"{"error":"\#(sentence)"}"#.utf8) + [0x0A], fields: fields)
    }

    /// The first value of a field.
    package func field(_ name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// What is sent before the body (RFC 9112).
    ///
    /// - Parameter keepsOpen: Whether another request may follow.
    /// - Returns: The bytes.
    package func head(keepsOpen: Bool) -> [UInt8] {
        var length = self.body.isEmpty && self.status == 204 ? "" : "Content-Length: \(self.body.count)\r\n"
        if !keepsOpen { length += "Connection: close\r\n" }
        return Self.head(self.status, self.fields, length)
    }

    /// The beginning of an answer that goes on until the client leaves.
    package static func streamHead(_ fields: [(name: String, value: String)]) -> [UInt8] {
        self.head(200, [("Content-Type", MediaType.events)] + fields, "Connection: close\r\n")
    }

    private static func head(_ status: Int, _ fields: [(name: String, value: String)], _ framing: String) -> [UInt8] {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(status) \(self.phrase(status))\r\n\(framing)\(lines)\r\n".utf8)
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: status < 500 ? "Refused" : "Service Unavailable"
        }
    }
}

/// What answers are made of.
enum MediaType: Sendable {
    static let html = "text/html; charset=utf-8"
    static let css = "text/css; charset=utf-8"
    static let script = "text/javascript; charset=utf-8"
    static let text = "text/plain; charset=utf-8"
    static let json = "application/json"
    static let events = "text/event-stream"
    static let prometheus = "text/plain; version=0.0.4; charset=utf-8"
    static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
}

/// What becomes of a request.
package enum Outcome: Sendable {
    /// It is answered.
    case response(Response)
    /// The client gets every state from now on.
    case events(lastEvent: String?, fields: [(name: String, value: String)])
    /// Another program has to be asked, which may take time; the fields belong to the answer.
    case work(Work, type: String, fields: [(name: String, value: String)])
}

/// What is asked of the program that watches the network.
package enum Work: Hashable, Sendable {
    /// The families of metrics, in one of two formats.
    case metrics(isOpenMetrics: Bool)
    /// What explains the path, and the last round trips of probes: an object of JSON.
    case details
    /// What is recorded of so many hours: an object of JSON, with the sentences of reasons or without.
    case history(hours: Int, withMessages: Bool)

    /// What is made one after another; different lanes do not wait for each other.
    var lane: String {
        switch self {
        case .metrics: "metrics"
        case .details: "details"
        case .history: "history"
        }
    }
}

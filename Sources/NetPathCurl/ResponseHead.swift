// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP

/// The head of a response, which libcurl hands over line by line.
struct ResponseHead {
    /// Longer heads are refused: some server would otherwise decide how much memory we use.
    static let limit = 256 << 10

    /// The final status; nil as long as none came, informational ones (1xx) aside.
    private(set) var status: Int?
    /// Whether the empty line that ends it came.
    private(set) var isComplete = false
    private(set) var headers = HeaderFields()
    /// Whether its body comes in chunks.
    private(set) var isChunked = false
    /// Whether its Content-Length is not one number; libcurl takes what it can read of it (RFC 9112, 6.3).
    private(set) var isLengthInvalid = false
    private var length: Int64?
    private var size = 0
    /// Whether its first line came, and the empty one did not.
    private var isWithin = false
    /// Whether an answer with its status may have a body (RFC 9110, 6.4.1).
    private var mayHaveBody: Bool { self.status != 204 && self.status != 304 }

    /// Takes a line with its end, and says whether the head is still short enough.
    mutating func take(_ line: [UInt8]) -> Bool {
        self.size += line.count
        guard self.size <= Self.limit else { return false }
        // What follows the body is trailers, whatever they begin with.
        guard !self.isComplete else { return true }
        let end = line.lastIndex { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") } ?? -1
        let text = String(decoding: line[...end], as: UTF8.self)
        if !self.isWithin {
            guard text.hasPrefix("HTTP/") else { return true }
            let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }
            let size = self.size
            self = Self()
            (self.status, self.size, self.isWithin) = (status.flatMap { $0 >= 200 ? $0 : nil }, size, true)
        } else if text.isEmpty {
            (self.isWithin, self.isComplete) = (false, self.status != nil)
        } else if self.status != nil, let colon = text.firstIndex(of: ":") {
            let value = text[colon...].dropFirst()
            let field = HeaderFields.Field(name: String(text[..<colon]), value: String(value.trimmed))
            self.headers.fields.append(field)
            switch field.name.lowercased() {
            // libcurl takes chunks apart wherever that stands in the list.
            case "transfer-encoding": self.isChunked = self.isChunked || field.value.lowercased().contains("chunked")
            case "content-length":
                for text in field.value.split(separator: ",", omittingEmptySubsequences: false) {
                    let length = text.utf8.contains(UInt8(ascii: "+")) ? nil : Int64(String(text.trimmed))
                    let isAnother = self.length != nil && self.length != length
                    if self.mayHaveBody, length.map({ $0 < 0 }) ?? true || isAnother { self.isLengthInvalid = true }
                    self.length = length
                }
            default: break
            }
        }
        return true
    }
}

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
    /// Whether it promises a body of more bytes than there are numbers for, which libcurl takes for one without a length.
    private(set) var isLengthImpossible = false
    private var size = 0
    /// Whether an answer with its status may have a body (RFC 9110, 6.4.1).
    private var mayHaveBody: Bool { self.status != 204 && self.status != 304 }

    /// Takes a line with its end, and says whether the head is still short enough.
    mutating func take(_ line: [UInt8]) -> Bool {
        self.size += line.count
        guard self.size <= Self.limit else { return false }
        // What follows the body is trailers.
        guard !self.isComplete || line.starts(with: Array("HTTP/".utf8)) else { return true }
        let end = line.lastIndex { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") } ?? -1
        let text = String(decoding: line[...end], as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }
            let size = self.size
            self = Self()
            (self.status, self.size) = (status.flatMap { $0 >= 200 ? $0 : nil }, size)
        } else if text.isEmpty {
            self.isComplete = self.status != nil
        } else if self.status != nil, let colon = text.firstIndex(of: ":") {
            let value = text[colon...].dropFirst()
            let field = HeaderFields.Field(name: String(text[..<colon]), value: String(value.trimmed))
            self.headers.fields.append(field)
            switch field.name.lowercased() {
            // libcurl takes chunks apart wherever that stands in the list.
            case "transfer-encoding": self.isChunked = self.isChunked || field.value.lowercased().contains("chunked")
            case "content-length":
                // libcurl reads a sign, and digits, and no further.
                let sign = field.value.prefix { "+-".contains($0) }.prefix(1)
                let digits = field.value.dropFirst(sign.count).prefix { ("0"..."9").contains($0) }
                self.isLengthImpossible = self.mayHaveBody && !digits.isEmpty && Int64(digits) == nil
            default: break
            }
        }
        return true
    }
}

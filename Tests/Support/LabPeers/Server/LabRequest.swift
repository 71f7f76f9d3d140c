// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The head of a request, and what came of its body.
struct LabRequest {
    var method = ""
    var path = ""
    var query: [String: String] = [:]
    var headers: [(name: String, value: String)] = []
    var length = 0
    /// The body as far as it is kept: the first MiB.
    var body: [UInt8] = []
    /// How many bytes of the body came.
    var received = 0

    /// Reads a head; nil when it is none.
    init?(_ head: ArraySlice<UInt8>) {
        let lines = head.split(separator: UInt8(ascii: "\n"))
        guard let words = lines.first?.split(separator: UInt8(ascii: " ")), words.count == 3 else { return nil }
        self.method = String(decoding: words[0], as: UTF8.self)
        let target = words[1].split(separator: UInt8(ascii: "?"), maxSplits: 1)
        guard let path = target.first else { return nil }
        self.path = String(decoding: path, as: UTF8.self)
        if target.count > 1 {
            for pair in target[1].split(separator: UInt8(ascii: "&")) {
                let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1)
                guard let name = parts.first else { continue }
                let value = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
                self.query[String(decoding: name, as: UTF8.self)] = value
            }
        }
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: "\r") }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            self.headers.append((name, String(decoding: value, as: UTF8.self)))
        }
        self.length = self["content-length"].flatMap { Int($0) } ?? 0
    }

    /// The first value of a field, whose name is given in small letters.
    subscript(name: String) -> String? { self.headers.first { $0.name == name }?.value }

    /// A number of the query.
    func number(_ name: String, default value: Int = 0) -> Int { self.query[name].flatMap { Int($0) } ?? value }

    /// The key of the client, without the quotes of a structured field.
    var idempotencyKey: String? {
        self["idempotency-key"].map { $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : $0 }
    }
}

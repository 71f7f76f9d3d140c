// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathSystem
import OfflineRequests

/// What `-d` and `--data-urlencode` name, put together as curl does with `--data-binary`: nothing is taken out of files.
struct SendBody {
    private(set) var data: Data?
    /// A file alone, which is copied as it is and need not fit into memory.
    private(set) var file: String?

    /// Whether nothing was named; an empty body is one.
    var isEmpty: Bool { self.data == nil && self.file == nil }

    private let limit: Int

    init(data: [String], encoded: [String], limit: Int) throws(QueueError) {
        self.limit = limit
        if encoded.isEmpty, data.count == 1, data[0].hasPrefix("@"), !SendCommand.isStandardInput(data[0]) {
            self.file = String(data[0].dropFirst())
            return
        }
        for text in data { try self.append(self.content(text)) }
        for text in encoded { try self.append(self.encoded(text)) }
    }

    private mutating func append(_ part: Data) throws(QueueError) {
        let whole = self.data.map { $0 + Data("&".utf8) + part } ?? part
        guard whole.count <= self.limit else { throw .bodyTooLarge(bytes: whole.count, limit: self.limit) }
        self.data = whole
    }

    private func content(_ text: String) throws(QueueError) -> Data {
        if SendCommand.isStandardInput(text) { return try self.read(.standardInput, "of standard input") }
        return text.hasPrefix("@") ? try self.read(String(text.dropFirst())) : Data(text.utf8)
    }

    /// A part that is percent-encoded, but for its name.
    private func encoded(_ text: String) throws(QueueError) -> Data {
        guard let mark = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else { return Self.encode(Data(text.utf8)) }
        let (name, rest) = (text[..<mark], String(text[mark...].dropFirst()))
        let content = text[mark] == "=" ? Data(rest.utf8) : try self.read(rest)
        return Data((name.isEmpty ? "" : "\(name)=").utf8) + Self.encode(content)
    }

    /// All but the unreserved characters of RFC 3986, 2.3.
    private static func encode(_ content: Data) -> Data {
        var result = Data()
        for byte in content {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += Data("%\(byte < 16 ? "0" : "")\(digits)".utf8)
            }
        }
        return result
    }

    private func read(_ path: String) throws(QueueError) -> Data {
        if path == "-" { return try self.read(.standardInput, "of standard input") }
        return try self.read(FileHandle(forReadingFrom: URL(fileURLWithPath: path)), path)
    }

    private func read(_ file: @autoclosure () throws -> FileHandle, _ name: String) throws(QueueError) -> Data {
        do {
            // One more than may be: more need not be read to refuse it.
            return try file().read(upToCount: self.limit &+ 1) ?? Data()
        } catch {
            throw .bodyUnreadable(path: name, reason: fileReason(error))
        }
    }
}

/// Why a file cannot be read: what the system says, which Foundation's own words do not.
func fileReason(_ error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying.map { $0 as NSError }
    let number = cause.flatMap { $0.domain == NSPOSIXErrorDomain ? Int32($0.code) : nil }
    return number.map { SystemReason.text($0) } ?? error.localizedDescription
}

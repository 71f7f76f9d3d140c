// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

/// What the documentation shows in Swift is in files beside this one, which the compiler has taken.
struct DocumentedFormsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

    /// The lines of a file as they compare: without indentation.
    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: self.root.appending(path: path), encoding: .utf8).components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: [
        ("Sources/OfflineRequests/OfflineRequests.docc/OfflineRequests.md", 6),
        ("Sources/OfflineRequests/OfflineRequests.docc/Transports.md", 1),
    ])
    func everyFormCompiles(_ path: String, count: Int) throws {
        let program = try Self.lines("Tests/RequestTests/Documentation/Forms.swift")
        var shown: [[String]] = []
        var lines = try Self.lines(path)[...]
        while let start = lines.firstIndex(of: "```swift") {
            let block = Array(lines[(start + 1)...].prefix { $0 != "```" })
            lines = lines[(start + 1 + block.count)...]
            shown.append(block)
        }
        #expect(shown.count == count)
        for block in shown {
            // The imports of a file come first in it.
            let body = block.drop { $0.isEmpty || $0.hasPrefix("import ") || $0.hasPrefix("// Package.swift") }
            #expect(program.ranges(of: body).count == 1, "\(block.joined(separator: "\n"))")
        }
    }
}

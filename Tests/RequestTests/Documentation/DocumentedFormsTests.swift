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
        ("Sources/OfflineRequests/OfflineRequests.docc/OfflineRequests.md", 7),
        ("Sources/OfflineRequests/OfflineRequests.docc/Transports.md", 1),
    ])
    func everyFormCompiles(_ path: String, count: Int) throws {
        let programs = try ["Forms", "FirstForm", "MonitorForm"].map {
            try Self.lines("Tests/RequestTests/Documentation/\($0).swift")
        }
        var shown: [[String]] = []
        var lines = try Self.lines(path)[...]
        while let start = lines.firstIndex(of: "```swift") {
            let block = Array(lines[(start + 1)...].prefix { $0 != "```" })
            lines = lines[(start + 1 + block.count)...]
            shown.append(block)
        }
        #expect(shown.count == count)
        for block in shown {
            let imports = block.prefix { $0.hasPrefix("import ") }
            let body = block.dropFirst(imports.count).drop(while: \.isEmpty)
            let places = programs.filter { $0.ranges(of: body).count == 1 }
            #expect(places.count == 1, "\(block.joined(separator: "\n"))")
            // As they stand there they are enough.
            let compiled = places.joined().filter { $0.hasPrefix("import ") }
            #expect(imports.isEmpty || compiled == Array(imports), "\(imports)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The demonstration, as a newcomer runs it: it makes its network itself.
@Suite(.needsCommandLab)
struct OfflineDemoTests {
    @Test func everythingIsDeliveredOnceThePathIsBack() throws {
        let lab = try NetworkNamespace()
        let products = URL(filePath: try MonitorProcess.builtProduct("ExampleOfflineDemo")).deletingLastPathComponent()
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Examples/OfflineDemo/run").standardizedFileURL
        let demo = try lab.start(script.path, ["12"], environment: ["NETPATH_PRODUCTS": products.path])
        var lines: [String] = []
        while lines.last?.hasPrefix("The server saw") != true {
            lines.append(try demo.nextText(timeout: .seconds(40)))
        }
        #expect(try demo.waitForEnd() == 0)
        let text = lines.joined(separator: "\n")
        func position(_ word: String) throws -> Int {
            try #require(lines.firstIndex { $0.contains(word) }, "'\(word)' is missing:\n\(text)")
        }
        #expect(try position("answered   reading 1") < position("∆ No Network"), "\(text)")
        #expect(try position("∆ No Network") < position("Network is back"), "\(text)")
        #expect(try position("3 wait") < position("delivered  reading"), "\(text)")
        #expect(lines.contains("12 of 12 readings were delivered, 0 wait"), "\(text)")
        // What was repeated had the same key.
        #expect(lines.last?.hasSuffix("with 12 different keys.") == true, "\(text)")
    }
}

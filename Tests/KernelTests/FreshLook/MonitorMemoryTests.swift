// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The table "Where a fresh look knows less" of Evaluation.md is what the checks accept.
@Suite struct MonitorMemoryTests {
    @Test func everyKindIsDocumented() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/NetPath/NetPath.docc/Evaluation.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let rest = lines.drop { $0 != "## Where a fresh look knows less" }.dropFirst()
        let kinds = rest.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }.dropFirst().map {
            $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
        }
        #expect(kinds == MonitorMemory.allCases.map(\.rawValue))
    }

    @Test func everyKindIsPlayed() {
        #expect(RememberedSteps.unused == [])
        #expect(RememberedSteps.misnamed == [])
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The committed page is the table's; with NETPATH_UPDATE_SCENARIOS (`make scenarios`) it becomes it.
@Suite struct ComparisonPageTests {
    private static let committed = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../../Sources/NetPath/NetPath.docc/Scenarios.md")
        .standardizedFileURL

    @Test func theRenderedTableIsUpToDate() throws {
        if ProcessInfo.processInfo.environment["NETPATH_UPDATE_SCENARIOS"] != nil {
            try ComparisonPage.text.write(to: Self.committed, atomically: true, encoding: .utf8)
        }
        let isUpToDate = try ComparisonPage.text == String(contentsOf: Self.committed, encoding: .utf8)
        #expect(isUpToDate, "Scenarios.md does not show the table as it is now; run `make scenarios`")
    }

    @Test func everyRowAndReasonIsThere() {
        for row in ScenarioTable.rows {
            #expect(ComparisonPage.text.contains("| \(row.title)"), "\(row.title)")
            if !row.why.isEmpty { #expect(ComparisonPage.text.contains("Why: \(row.why).")) }
            #expect(!"\(row.title)\(row.why)".contains("|"), "\(row.title) would break the table")
        }
    }
}
